import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SIM_MODEL_DIR } from '../../src/sim/model-dir.js';
import { expectRowsMatchLedger, type Flow, startFlow } from '../support/flow.js';

const CONTEXT = 300;

describe.each([
  { engine: 'vllm', promptMax: CONTEXT - 1, totalMax: CONTEXT },
  { engine: 'sglang', promptMax: CONTEXT - 7, totalMax: CONTEXT - 2 },
] as const)('the edge of the context of $engine', ({ engine, promptMax, totalMax }) => {
  let flow: Flow;
  const modelDir = mkdtempSync(join(tmpdir(), 'short-context-'));
  beforeAll(async () => {
    cpSync(SIM_MODEL_DIR, modelDir, { recursive: true });
    const path = join(modelDir, 'config.json');
    const config = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
    writeFileSync(path, JSON.stringify({ ...config, max_position_embeddings: CONTEXT }));
    flow = await startFlow({ sim: { engine, modelDir } });
  });
  afterAll(async () => {
    await flow.close();
    rmSync(modelDir, { recursive: true });
  });

  const question = (words: number) => ({
    model: 'm',
    max_tokens: 5000,
    min_tokens: 5000,
    messages: [{ role: 'user' as const, content: `a${' a'.repeat(words)}` }],
  });
  /** A question that makes a prompt of exactly so many tokens. */
  async function questionOf(tokens: number): Promise<ReturnType<typeof question>> {
    const count = async (words: number): Promise<number> => {
      const reply = await flow.post('/v1/messages/count_tokens', 'counts', question(words));
      return ((await reply.json()) as { input_tokens: number }).input_tokens;
    };
    const words = tokens - (await count(0));
    expect(await count(words)).toBe(tokens);
    return question(words);
  }

  test('takes the longest prompt and samples to the end', async () => {
    const reply = await flow.post('/v1/chat/completions', 'fits', await questionOf(promptMax));
    expect([reply.status, await reply.json()]).toMatchObject([
      200,
      { usage: { prompt_tokens: promptMax, completion_tokens: totalMax - promptMax }, choices: [{ finish_reason: 'length' }] },
    ]);
    const { traces } = await flow.gateway.sessions.finish('fits');
    expectRowsMatchLedger(flow.sim, traces);
    expect(traces[0]!.quality.flags).toEqual([]);
  });

  test('refuses one token more by the vendors’ sentences', async () => {
    const before = flow.sim.counters.requests;
    const body = await questionOf(promptMax + 1);
    const chat = await (await flow.post('/v1/chat/completions', 'over', body)).json();
    expect(chat).toMatchObject({ error: { code: 'context_length_exceeded' } });
    expect(JSON.stringify(chat)).toContain(
      `maximum context length is ${promptMax} tokens. However, your messages resulted in ${promptMax + 1}`,
    );
    const messages = await (await flow.post('/v1/messages', 'over', body)).json();
    expect(JSON.stringify(messages)).toContain(`prompt is too long: ${promptMax + 1} tokens > ${promptMax} maximum`);
    expect(flow.sim.counters.requests).toBe(before);
  });
});
