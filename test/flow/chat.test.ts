import type OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectRowsMatchLedger, type Flow, plan, startFlow } from '../support/flow.js';

type Messages = OpenAI.Chat.ChatCompletionMessageParam[];

const TOOLS: OpenAI.Chat.ChatCompletionTool[] = ['search', 'read'].map((name) => ({
  type: 'function',
  function: {
    name,
    description: `${name} it`,
    parameters: { type: 'object', properties: { q: { type: 'string' }, n: { type: 'number' } } },
  },
}));

describe('Chat Completions with the official SDK', () => {
  let flow: Flow;
  beforeAll(async () => {
    flow = await startFlow();
  });
  afterAll(() => flow.close());

  const lastSerial = (): number => flow.sim.ledger().at(-1)?.serial ?? 0;

  for (const stream of [false, true]) {
    test(`a tool loop with parallel calls and reasoning is one row, ${stream ? 'streamed' : 'plain'}`, async () => {
      const serial = lastSerial();
      const key = `chat-tools-${stream}`;
      const client = flow.openai(key);
      const messages: Messages = [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: plan(
            {
              reasoning: 'two things',
              text: 'Looking.',
              calls: [
                { name: 'search', arguments: { q: 'é', n: 1.5 } },
                { name: 'read', arguments: '{"q":"a", "n": 1.0}' },
              ],
            },
            { reasoning: 'one more', calls: [{ name: 'read', arguments: {} }] },
            { reasoning: 'done', text: 'The answer is 4 🎉', spelling: 'mixed' },
          ),
        },
      ];
      const finishes: string[] = [];
      const calls: number[] = [];
      for (let turn = 0; turn < 3; turn += 1) {
        const body = { model: 'any-name', messages, tools: TOOLS };
        const completion = stream
          ? await client.chat.completions.stream(body).finalChatCompletion()
          : await client.chat.completions.create(body);
        const [choice] = completion.choices;
        expect(completion.model).toBe('any-name');
        finishes.push(choice!.finish_reason);
        calls.push(choice!.message.tool_calls?.length ?? 0);
        messages.push(choice!.message);
        for (const call of choice!.message.tool_calls ?? [])
          messages.push({ role: 'tool', tool_call_id: call.id, content: `result of ${call.id}` });
      }
      expect(finishes).toEqual(['tool_calls', 'tool_calls', 'stop']);
      expect(calls).toEqual([2, 1, 0]);
      expect(messages.at(-1)?.content).toBe('The answer is 4 🎉');
      const { traces, summary } = await flow.gateway.sessions.finish(key, { reward: 0.5, metadata: { task: 'x' } });
      expect(traces).toHaveLength(1);
      expect(traces[0]).toMatchObject({
        role: 'main',
        reward: 0.5,
        status: 'completed',
        is_last_row: true,
        metadata: new Map([['task', 'x']]),
      });
      expect(summary).toMatchObject({ turns: 3, rows: 1, capture_yield: 1, capture_error: null, forks: {} });
      expectRowsMatchLedger(flow.sim, traces, serial);
    });
  }

  test('reasoning comes as reasoning_content and its echo is not needed', async () => {
    const client = flow.openai('chat-reasoning');
    const messages: Messages = [{ role: 'user', content: plan({ reasoning: 'hm', text: 'yes' }, { text: 'again' }) }];
    const first = (await client.chat.completions.create({ model: 'm', messages })).choices[0]!.message;
    expect(first).toMatchObject({ content: 'yes', reasoning_content: 'hm' });
    messages.push({ role: 'assistant', content: ' yes \n' }, { role: 'user', content: 'more' });
    await client.chat.completions.create({ model: 'm', messages, max_tokens: 8 });
    const { summary } = await flow.gateway.sessions.finish('chat-reasoning');
    expect(summary).toMatchObject({ turns: 2, rows: 1 });
  });

  test('a stop string is cut from the text, kept in the row and reported', async () => {
    const serial = lastSerial();
    const client = flow.openai('chat-stop');
    const messages: Messages = [{ role: 'user', content: plan({ text: 'one </answer> two' }) }];
    const reply = await client.chat.completions.create({ model: 'm', messages, stop: ['</answer>'] });
    expect(reply.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'one ' } });
    const { traces } = await flow.gateway.sessions.finish('chat-stop');
    expect(traces[0]?.response.endsWith('</answer>')).toBe(true);
    expect(traces[0]?.turns[0]?.stop).toMatchObject({ kind: 'stop_string' });
    expectRowsMatchLedger(flow.sim, traces, serial);
  });

  test('a call that sampling was stopped at keeps its closing marker, however it was spelled', async () => {
    const serial = lastSerial();
    const client = flow.openai('chat-one-call');
    const calls = ['{"q":"a"}', '{"q":"b"}'].map((text) => ({ name: 'read', arguments: text }));
    const messages: Messages = [{ role: 'user', content: plan({ calls }, { text: 'done' }) }];
    const asked = await client.chat.completions.create({ model: 'm', messages, tools: TOOLS, parallel_tool_calls: false });
    const { message } = asked.choices[0]!;
    expect(message.tool_calls).toHaveLength(1);
    messages.push(message, { role: 'tool', tool_call_id: message.tool_calls![0]!.id, content: 'it' });
    await client.chat.completions.create({ model: 'm', messages, tools: TOOLS, parallel_tool_calls: false });
    const { traces, summary } = await flow.gateway.sessions.finish('chat-one-call');
    expect(summary).toMatchObject({ turns: 2, rows: 1, drift: { start: 1, raw: 1 } });
    expect(traces[0]?.response).toContain('{"q":"a"}}\n</tool_call><|im_end|>\n<|im_start|>tool\n');
    expectRowsMatchLedger(flow.sim, traces, serial);
  });

  test('a call that the model left open continues as it was sampled', async () => {
    const serial = lastSerial();
    const client = flow.openai('chat-open-call');
    const open = '<tool_call>\n{"name": "read", "arguments": {"q": "a"}}\n';
    const messages: Messages = [{ role: 'user', content: plan({ raw: open }, { text: 'done' }) }];
    const asked = await client.chat.completions.create({ model: 'm', messages, tools: TOOLS });
    const { message } = asked.choices[0]!;
    messages.push(message, { role: 'tool', tool_call_id: message.tool_calls![0]!.id, content: 'it' });
    await client.chat.completions.create({ model: 'm', messages, tools: TOOLS });
    const { traces, summary } = await flow.gateway.sessions.finish('chat-open-call');
    expect(summary).toMatchObject({ turns: 2, rows: 1, drift: { start: 1, raw: 1 } });
    expect(traces[0]?.quality.ill_formed_turns).toBe(1);
    expect(traces[0]?.response).toContain(`${open}<|im_end|>\n<|im_start|>tool\n`);
    expectRowsMatchLedger(flow.sim, traces, serial);
  });

  test('a reply cut by length continues in the same row', async () => {
    const serial = lastSerial();
    const client = flow.openai('chat-length');
    const messages: Messages = [{ role: 'user', content: 'Say much.' }];
    const cut = await client.chat.completions.create({ model: 'm', messages, max_tokens: 7, stop: null });
    expect(cut.usage?.completion_tokens).toBeLessThanOrEqual(7);
    messages.push(cut.choices[0]!.message, { role: 'user', content: 'go on' });
    await client.chat.completions.create({ model: 'm', messages, max_completion_tokens: 9 });
    const { traces, summary } = await flow.gateway.sessions.finish('chat-length');
    expect(summary).toMatchObject({ turns: 2, rows: 1, capture_yield: 1 });
    expectRowsMatchLedger(flow.sim, traces, serial);
  });

  test('token ids, logprobs and the usage chunk are answered from what was sampled', async () => {
    const client = flow.openai('chat-ids');
    const messages: Messages = [{ role: 'user', content: plan({ text: 'abc def' }) }];
    const body = {
      model: 'm',
      messages,
      logprobs: true,
      top_logprobs: 0,
      return_token_ids: true,
    } as OpenAI.Chat.ChatCompletionCreateParamsNonStreaming;
    const reply = (await client.chat.completions.create(body)) as OpenAI.Chat.ChatCompletion & { prompt_token_ids: number[] };
    const choice = reply.choices[0] as OpenAI.Chat.ChatCompletion.Choice & { token_ids: number[] };
    const entry = flow.sim.ledger().at(-1)!;
    expect(reply.prompt_token_ids).toEqual([...entry.promptIds]);
    expect(choice.token_ids).toEqual([...entry.outputIds]);
    expect(choice.logprobs?.content?.map(({ logprob }) => logprob)).toEqual([...entry.logprobs]);
    const chunks = await collect(
      await client.chat.completions.create({ model: 'm', messages, stream: true, stream_options: { include_usage: true } }),
    );
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: entry.promptIds.length } });
    const plain = await collect(await client.chat.completions.create({ model: 'm', messages, stream: true }));
    expect(plain.every((chunk) => chunk.usage == null)).toBe(true);
    const { summary } = await flow.gateway.sessions.finish('chat-ids');
    expect(summary.turns).toBe(3);
  });

  test('tool_choice none hides calls and keeps their tokens', async () => {
    const serial = lastSerial();
    const client = flow.openai('chat-none');
    const messages: Messages = [{ role: 'user', content: plan({ text: 'hm', calls: [{ name: 'search', arguments: {} }] }) }];
    const reply = await client.chat.completions.create({ model: 'm', messages, tools: TOOLS, tool_choice: 'none' });
    expect(reply.choices[0]?.message.tool_calls).toBeUndefined();
    const { traces, summary } = await flow.gateway.sessions.finish('chat-none');
    expect(summary.capture_yield).toBe(1);
    expectRowsMatchLedger(flow.sim, traces, serial);
  });

  test('malformed calls are text, flagged and trained', async () => {
    const client = flow.openai('chat-malformed');
    const messages: Messages = [
      { role: 'user', content: plan({ raw: 'x <tool_call>\n{"name": "search", "arguments": {oops}\n</tool_call>' }) },
    ];
    const reply = await client.chat.completions.create({ model: 'm', messages, tools: TOOLS });
    expect(reply.choices[0]?.finish_reason).toBe('stop');
    expect(reply.choices[0]?.message.content).toContain('{oops}');
    const { traces } = await flow.gateway.sessions.finish('chat-malformed');
    expect(traces[0]?.turns[0]?.ill_formed).toBe(true);
    expect(traces[0]?.quality.ill_formed_turns).toBe(1);
  });
});

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
