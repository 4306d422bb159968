import type Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectRowsMatchLedger, type Flow, plan, startFlow } from '../support/flow.js';

const TOOLS: Anthropic.Tool[] = [
  {
    name: 'search',
    description: 'search it',
    input_schema: { type: 'object', properties: { q: { type: 'string' }, n: { type: 'number' } } },
  },
];

describe('Anthropic Messages with the official SDK', () => {
  let flow: Flow;
  beforeAll(async () => {
    flow = await startFlow();
  });
  afterAll(() => flow.close());
  const lastSerial = (): number => flow.sim.ledger().at(-1)?.serial ?? 0;

  for (const stream of [false, true]) {
    test(`a tool loop with thinking is one row, ${stream ? 'streamed' : 'plain'}`, async () => {
      const serial = lastSerial();
      const key = `messages-tools-${stream}`;
      const client = flow.anthropic(key);
      const messages: Anthropic.MessageParam[] = [
        {
          role: 'user',
          content: plan(
            {
              reasoning: 'look',
              text: 'Looking.',
              calls: [
                { name: 'search', arguments: { q: 'a' } },
                { name: 'search', arguments: { q: 'b', n: 2 } },
              ],
            },
            { reasoning: 'so', text: 'Two things.' },
          ),
        },
      ];
      const stops: (string | null)[] = [];
      for (let turn = 0; turn < 2; turn += 1) {
        const body = { model: 'claude-x', max_tokens: 500, system: 'Be brief.', messages, tools: TOOLS };
        const reply = stream ? await client.messages.stream(body).finalMessage() : await client.messages.create(body);
        stops.push(reply.stop_reason);
        messages.push({ role: 'assistant', content: reply.content as Anthropic.ContentBlockParam[] });
        const calls = reply.content.filter((block) => block.type === 'tool_use');
        if (calls.length > 0) {
          messages.push({
            role: 'user',
            content: calls.reverse().map(({ id }) => ({ type: 'tool_result' as const, tool_use_id: id, content: `of ${id}` })),
          });
        }
        if (turn === 0) {
          expect(reply.content.map((block) => block.type)).toEqual(['thinking', 'text', 'tool_use', 'tool_use']);
          const [thinking] = reply.content;
          expect(thinking?.type === 'thinking' && thinking.signature.length > 10).toBe(true);
        }
      }
      expect(stops).toEqual(['tool_use', 'end_turn']);
      const { traces, summary } = await flow.gateway.sessions.finish(key, { reward: 1 });
      expect(summary).toMatchObject({ turns: 2, rows: 1, capture_yield: 1, forks: {} });
      expectRowsMatchLedger(flow.sim, traces, serial);
    });
  }

  test('count_tokens is the real number of prompt tokens and opens nothing', async () => {
    const client = flow.anthropic('messages-count');
    const body = { model: 'm', system: 'S', tools: TOOLS, messages: [{ role: 'user' as const, content: plan({ text: 'ok' }) }] };
    const counted = await client.messages.countTokens(body);
    expect(await (await fetch(`${flow.url}/sessions/messages-count`)).json()).toMatchObject({ error: { code: 'session_not_found' } });
    const reply = await client.messages.create({ ...body, max_tokens: 50 });
    expect(counted.input_tokens).toBe(reply.usage.input_tokens);
    expect(counted.input_tokens).toBe(flow.sim.ledger().at(-1)?.promptIds.length);
    await flow.gateway.sessions.finish('messages-count');
  });

  test('a stop sequence is reported', async () => {
    const client = flow.anthropic('messages-stop');
    const messages = [{ role: 'user' as const, content: plan({ text: 'one STOP two' }) }];
    const reply = await client.messages.create({ model: 'm', max_tokens: 50, messages, stop_sequences: ['STOP'] });
    expect(reply).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: 'STOP' });
    expect(reply.content).toMatchObject([{ type: 'text', text: 'one ' }]);
    await flow.gateway.sessions.finish('messages-stop');
  });

  test('system messages in the middle keep the prefix', async () => {
    const serial = lastSerial();
    const client = flow.anthropic('messages-system');
    const messages = [
      { role: 'user', content: plan({ text: 'a' }, { text: 'b' }) },
      { role: 'system', content: [{ type: 'text', text: 'environment', cache_control: { type: 'ephemeral' } }] },
    ] as unknown as Anthropic.MessageParam[];
    const first = await client.messages.create({ model: 'm', max_tokens: 50, messages });
    const next = [
      messages[0]!,
      { role: 'system', content: 'environment' },
      { role: 'assistant', content: first.content },
      { role: 'user', content: 'more' },
    ] as unknown as Anthropic.MessageParam[];
    await client.messages.create({ model: 'm', max_tokens: 50, messages: next });
    const { traces, summary } = await flow.gateway.sessions.finish('messages-system');
    expect(summary).toMatchObject({ turns: 2, rows: 1 });
    expectRowsMatchLedger(flow.sim, traces, serial);
  });

  test('Chat and Messages of one session land in one tree, and two helpers at once as branches', async () => {
    const serial = lastSerial();
    const anthropic = flow.anthropic('mixed');
    const openai = flow.openai('mixed');
    const question = { role: 'user' as const, content: plan({ reasoning: 'r', text: 'first' }, { text: 'second' }) };
    const first = await anthropic.messages.create({ model: 'm', max_tokens: 60, messages: [question] });
    const text = first.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
    await Promise.all([
      openai.chat.completions.create({
        model: 'm',
        messages: [question, { role: 'assistant', content: text }, { role: 'user', content: plan({ text: 'by chat' }) }],
      }),
      anthropic.messages.create({
        model: 'm',
        max_tokens: 60,
        system: 'helper 1',
        messages: [{ role: 'user', content: plan({ text: 'h1' }) }],
      }),
      anthropic.messages.create({
        model: 'm',
        max_tokens: 60,
        system: 'helper 2',
        messages: [{ role: 'user', content: plan({ text: 'h2' }) }],
      }),
    ]);
    const { traces, summary } = await flow.gateway.sessions.finish('mixed', { reward: 1 });
    expect(summary).toMatchObject({ turns: 4, rows: 3, capture_yield: 1 });
    expect(traces.at(-1)?.turns.map((turn) => turn.protocol)).toEqual(['anthropic-messages', 'openai-chat']);
    expectRowsMatchLedger(flow.sim, traces, serial);
  });
});
