import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { runCommandLine } from '../../src/cli/command-line.js';
import type { TrainerAnswer } from '../../src/trainer/calls.js';
import { frontUnderTest } from '../front/running-front.js';

const run = async (argv: readonly string[], env: Record<string, string> = {}) => {
  let out = '';
  let err = '';
  const host = {
    env,
    in: Readable.from([]),
    out: (text: string) => {
      out += text;
    },
    err: (text: string) => {
      err += text;
    },
    colour: false,
    stopped: () => Promise.resolve('test'),
  };
  return { code: await runCommandLine(['inspect', ...argv], host), out, err };
};

const turn = { turn_id: 't0', start: 2, end: 4, trained_here: true, parent_row: null, finish_reason: 'stop' };
const row = {
  row_index: 0,
  row_count: 1,
  role: 'main',
  token_ids: [11, 12, 13, 14],
  loss_mask: [1, 1],
  logprobs: [-0.5, null],
  prompt_length: 2,
  response_length: 2,
  turns: [turn],
};
const text = (value: object): TrainerAnswer => ({ kind: 'text', status: 200, text: JSON.stringify(value) });

test('prints the tree that the gateway draws, with the id encoded and the token sent', async () => {
  const { link, url } = await frontUnderTest({}, 'secret');
  link.onTrainer = () => ({ kind: 'text', status: 200, text: 'a tree\n' });
  expect(await run(['a/b', '--url', url], { ROLLOUT_GATEWAY_ADMIN_TOKEN: 'secret' })).toEqual({ code: 0, out: 'a tree\n', err: '' });
  expect(link.trainerCalls[0]!.call).toEqual({ kind: 'tree', sessionId: 'a/b', format: 'text', colour: false });
  expect(await run(['a', '--url', url])).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^rollout-gateway: [^{]*Set ROLLOUT_GATEWAY_ADMIN_TOKEN or give --admin-token-file\.\n$/),
  });
});

test('draws a row of a finished session as ids without a tokenizer', async () => {
  const { link, url } = await frontUnderTest();
  link.onTrainer = (_shard, call) =>
    call.kind === 'finish'
      ? { kind: 'traces', status: 200, sessions: [new TextEncoder().encode(JSON.stringify({ traces: [row] }))] }
      : text({ state: 'finished' });
  const { code, out } = await run(['s', '--url', url, '--row', '0']);
  expect(code).toBe(0);
  expect(out).toMatch(/4 tokens: 2 prompt, 2 trained, 0 masked/);
  expect(out).toMatch(/11[\s\S]*12[\s\S]*t0 trained[\s\S]*13[\s\S]*14/);
  expect(await run(['s', '--url', url, '--row', '1'])).toMatchObject({ code: 2, err: expect.stringContaining('has 1 row,') });
});

test('shows no row of an open session and does not end it', async () => {
  const { link, url } = await frontUnderTest();
  link.onTrainer = () => text({ state: 'open' });
  expect(await run(['s', '--url', url, '--row', '0'])).toMatchObject({ code: 2, err: expect.stringContaining('session s is open') });
  expect(link.trainerCalls.map(({ call }) => call.kind)).toEqual(['get']);
});

test('a session that nobody knows is a failure with the gateway’s sentence', async () => {
  const { link, url } = await frontUnderTest();
  link.onTrainer = () => ({ kind: 'error', error: { code: 'session_not_found', message: 'No session has this id' } });
  expect(await run(['s', '--url', url])).toMatchObject({ code: 1, err: 'rollout-gateway: No session has this id\n' });
});
