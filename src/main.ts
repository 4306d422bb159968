#!/usr/bin/env node
import pc from 'picocolors';
import { runCommandLine } from './cli/command-line.js';
import { stopSignal } from './cli/stop-signal.js';

// A reader that has seen enough, such as `head`, is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

process.exitCode = await runCommandLine(process.argv.slice(2), {
  env: process.env,
  in: process.stdin,
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  colour: process.stdout.isTTY === true && pc.isColorSupported,
  stopped: stopSignal,
});
