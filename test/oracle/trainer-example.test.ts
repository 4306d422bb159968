/** The trainer's loop of the README, run by Python against a real gateway. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { startFlow, until } from '../support/flow.js';

const hasPython = spawnSync('python3', ['--version']).status === 0;

test.skipIf(!hasPython)('examples/trainer.py leases, converts and acknowledges (skipped where python3 is not there)', async () => {
  const flow = await startFlow();
  let trained = 0;
  const sessions = ['trainer-a', 'trainer-b', 'trainer-c'];
  for (const key of sessions) {
    await flow.openai(key).chat.completions.create({ model: 'm', max_tokens: 20, messages: [{ role: 'user', content: 'Name a river.' }] });
    const { summary } = await flow.gateway.sessions.finish(key, { reward: 1 });
    trained += summary.tokens.trained;
  }
  const trainer = spawn('python3', ['examples/trainer.py'], {
    env: { ...process.env, GATEWAY_URL: flow.url },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(trainer, 'exit');
  let output = '';
  let problems = '';
  trainer.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  trainer.stderr.on('data', (chunk: Buffer) => {
    problems += chunk.toString();
  });
  try {
    const remaining = async (): Promise<number> => {
      const reply = await fetch(`${flow.url}/sessions`);
      return ((await reply.json()) as { sessions: unknown[] }).sessions.length;
    };
    await until(async () => problems !== '' || (await remaining()) === 0, 'all rows are acknowledged');
    expect([problems, output]).toEqual(['', `3 rows, ${trained} tokens to train\n`]);
  } finally {
    trainer.kill();
    await ended;
    await flow.close();
  }
});
