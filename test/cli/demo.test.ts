import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

/** Runs the demo where stdout is no terminal. */
function demo(agents: number): Promise<{ readonly code: number | null; readonly out: string; readonly err: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [main, 'demo', '--agents', String(agents)], { stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '';
    let err = '';
    child.stdout.on('data', (bytes) => {
      out += bytes;
    });
    child.stderr.on('data', (bytes) => {
      err += bytes;
    });
    child.on('close', (code) => resolve({ code, out, err }));
  });
}

describe('the demo', () => {
  it('captures every token of every kind of agent, and says so plainly', async () => {
    const { code, out, err } = await demo(10);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const lines = out.trimEnd().split('\n');
    expect(lines.at(-1)).toBe('capture yield 100 %');
    expect(out).not.toContain('\x1b');
    expect(out).toContain('Differences: 0');
    expect(out).toMatch(/\nsub-agents +Messages +1 +6 +3 /);
    expect(out).toMatch(/\ncompaction +Chat +1 +\d+ +2 /);
    expect(out).toMatch(/── t0 trained, tool_calls/);
  });
});
