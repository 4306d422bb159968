import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { randomPolicy } from '../../src/sim/policy.js';
import { type Flow, startFlow } from '../support/flow.js';
import type { AgentEnd, AgentPlan } from './agent.js';
import { countEnds, expectQuiet, runFleet } from './fleet.js';
import { HASTY, report, SEEDS, SESSIONS, TURNS } from './options.js';

type Message = { readonly role: 'user' | 'assistant'; readonly content: string };

/** One question to a model with all that its vendor's SDK does about failures. */
type Ask = (messages: Message[], stream: boolean) => Promise<string>;

const openai = ({ url, key }: AgentPlan): Ask => {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 4 });
  return async (messages, stream) => {
    if (!stream) return (await client.chat.completions.create({ model: 'm', messages, max_tokens: 30 })).choices[0]!.message.content ?? '';
    const streamed = client.chat.completions.stream({ model: 'm', messages, max_tokens: 30 });
    return (await streamed.finalContent()) ?? '';
  };
};

const anthropic = ({ url, key }: AgentPlan): Ask => {
  const client = new Anthropic({ baseURL: url, apiKey: key, maxRetries: 4 });
  const textOf = ({ content }: Anthropic.Message): string =>
    content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
  return async (messages, stream) => {
    if (!stream) return textOf(await client.messages.create({ model: 'm', messages, max_tokens: 30 }));
    return textOf(await client.messages.stream({ model: 'm', messages, max_tokens: 30 }).finalMessage());
  };
};

async function lead(plan: AgentPlan): Promise<AgentEnd> {
  const { key, random } = plan;
  const ask = random() < 0.5 ? openai(plan) : anthropic(plan);
  const messages: Message[] = [];
  for (let turn = 0; turn < plan.turns; turn++) {
    messages.push({ role: 'user', content: `${key} asks, turn ${turn}` });
    let text: string | null = null;
    // What breaks in mid stream is thrown by the SDKs; a loop asks again.
    for (let attempt = 0; attempt < 6 && text === null; attempt++) text = await ask([...messages], random() < 0.4).catch(() => null);
    if (text === null) return { key, state: 'gave_up', turns: turn, last: { kind: 'broken', why: 'the SDK threw each time' } };
    messages.push({ role: 'assistant', content: text === '' ? ' ' : text });
  }
  return { key, state: 'done', turns: plan.turns, last: { kind: 'reply', text: messages.at(-1)!.content } };
}

describe.each(SEEDS)('the vendors’ SDKs, seed %i', (seed) => {
  let flow: Flow;
  beforeAll(async () => {
    // Without retries of the gateway's own, so that those of the clients are seen.
    flow = await startFlow({ sim: { seed, policy: randomPolicy(6) }, settings: { ...HASTY, backend: { ...HASTY.backend, retries: 0 } } });
  });
  afterAll(() => flow.close());

  test('their retries lose nothing and have nothing twice', async () => {
    flow.sim.setFaults([
      { kind: 'http_500', rate: 0.15 },
      { kind: 'reset_mid', rate: 0.1 },
      { kind: 'no_ids', rate: 0.1 },
      { kind: 'abort_partial', rate: 0.1 },
    ]);
    const { ends, balance, discarded, unheard } = await runFleet(flow, [flow.sim], {
      name: 'sdk',
      seed,
      sessions: SESSIONS,
      turns: TURNS,
      lead,
    });
    report({ sdks: true, seed, ...countEnds(ends), ...balance, unused: balance.unused.length, discarded, unheard });
    expect(ends.filter(({ state }) => state !== 'done')).toEqual([]);
    await expectQuiet(flow);
  });
});
