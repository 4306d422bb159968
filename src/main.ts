#!/usr/bin/env node
import pc from 'picocolors';
import { runCommandLine } from './cli/command-line.js';
import { stopSignal } from './cli/stop-signal.js';

process.exitCode = await runCommandLine(process.argv.slice(2), {
  env: process.env,
  in: process.stdin,
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  colour: process.stdout.isTTY === true && pc.isColorSupported,
  stopped: stopSignal,
});
