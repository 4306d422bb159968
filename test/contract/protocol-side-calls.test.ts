import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatTokenCount } from '../../src/protocols/anthropic-messages.js';
import { formatModel, formatModels } from '../../src/protocols/models.js';
import { richReply } from '../protocols/replies.js';
import { chat, chatHi, messages, messagesHi, options, protocols } from '../protocols/requests.js';
import { anthropicClient, JSON_HEADERS, openaiClient, type ProtocolServer, SSE_HEADERS, startProtocolServer } from './protocol-server.js';

const model = { name: 'org/policy', contextTokens: 4096 };
let server: ProtocolServer;
beforeAll(async () => {
  server = await startProtocolServer();
});
afterAll(() => server.close());

describe('models', () => {
  it('are read by the OpenAI SDK, with the context length', async () => {
    server.answer({ headers: JSON_HEADERS, body: formatModels([model], 'openai-chat') });
    const listed = [];
    for await (const item of openaiClient(server).models.list()) listed.push(item);
    expect(listed).toMatchObject([{ id: 'org/policy', object: 'model', max_model_len: 4096 }]);
    server.answer({ headers: JSON_HEADERS, body: formatModel(model, 'openai-chat') });
    expect(await openaiClient(server).models.retrieve('org/policy')).toMatchObject({ id: 'org/policy', context_length: 4096 });
    expect(server.requests[0]?.path).toBe('/v1/models/org%2Fpolicy');
  });

  it('are read by the Anthropic SDK, with the context length', async () => {
    server.answer({ headers: JSON_HEADERS, body: formatModels([model], 'anthropic-messages') });
    const listed = [];
    for await (const item of anthropicClient(server).models.list()) listed.push(item);
    expect(listed).toMatchObject([{ type: 'model', id: 'org/policy', display_name: 'org/policy', max_input_tokens: 4096 }]);
    server.answer({ headers: JSON_HEADERS, body: formatModel(model, 'anthropic-messages') });
    expect(await anthropicClient(server).models.retrieve('org/policy')).toMatchObject({ id: 'org/policy', max_input_tokens: 4096 });
    expect(JSON.parse(formatModels([], 'anthropic-messages'))).toMatchObject({ data: [], first_id: null, last_id: null });
  });
});

it('token counts are read by the Anthropic SDK, and its body is read here', async () => {
  server.answer({ headers: JSON_HEADERS, body: formatTokenCount(42) });
  const tools = [{ name: 'f', input_schema: { type: 'object' as const } }];
  const counted = await anthropicClient(server).messages.countTokens({
    model: 'm',
    system: 's',
    tools,
    messages: [{ role: 'user', content: 'hi' }],
  });
  expect(counted.input_tokens).toBe(42);
  expect(messages(server.requests[0]!.body)).toMatchObject({ messages: [{ role: 'system' }, { role: 'user' }], tools: [{ name: 'f' }] });
});

it('the OpenAI SDK reads usage, ids and logprobs of a stream', async () => {
  const request = chatHi({ stream: true, stream_options: { include_usage: true }, return_token_ids: true, logprobs: true });
  const { turnId, createdAtSeconds, promptTokens, promptIds } = richReply();
  const chatProtocol = protocols['openai-chat'];
  const body =
    chatProtocol.openStream(request, { turnId, createdAtSeconds, promptTokens, promptIds }) +
    chatProtocol.finishStream(request, richReply());
  server.answer({ headers: SSE_HEADERS, body });
  const completion = await openaiClient(server)
    .chat.completions.stream({
      model: 'm',
      messages: [{ role: 'user', content: 'hi' }],
      stream_options: { include_usage: true },
      logprobs: true,
    })
    .finalChatCompletion();
  expect(completion.usage).toMatchObject({ prompt_tokens: 4, completion_tokens: 3 });
  expect(completion.choices[0]?.logprobs?.content?.map(({ token }) => token)).toStrictEqual(['token_id:20', 'token_id:21', 'token_id:22']);
  expect(chat(server.requests[0]!.body)).toMatchObject({ stream: true, includeUsage: true, topLogprobs: 0 });
});

it('the Anthropic SDK hands the signature back, and it names the turn', async () => {
  const messagesProtocol = protocols['anthropic-messages'];
  server.answer({ headers: JSON_HEADERS, body: messagesProtocol.formatReply(messagesHi(), richReply()) });
  const client = anthropicClient(server);
  const first = await client.messages.create({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] });
  const results = first.content
    .filter((block) => block.type === 'tool_use')
    .map((block) => ({ type: 'tool_result' as const, tool_use_id: block.id, content: 'ok' }));
  await client.messages.create({
    model: 'm',
    max_tokens: 9,
    messages: [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: first.content },
      { role: 'user', content: results.reverse() },
    ],
  });
  const next = messages(server.requests[1]!.body);
  expect(next.messages[1]).toMatchObject({ turnHint: 'turn-1', reasoning: 'let me\n\nthink' });
  expect(next.messages.slice(2)).toMatchObject([{ toolCallId: 'call_aaaa1111' }, { toolCallId: 'call_bbbb2222' }]);
  expect(options.verifySignature('forged')).toBe(null);
});

it('the tool runner of the Anthropic SDK goes on without a thread after the refusal', async () => {
  const error = { code: 'thread_unsupported_request', message: 'no threads' } as const;
  const refused = protocols['anthropic-messages'].formatError(error, 'r');
  server.answer({ status: refused.status, headers: JSON_HEADERS, body: refused.body });
  const run = anthropicClient(server).beta.messages.toolRunner({
    model: 'm',
    max_tokens: 9,
    tools: [],
    messages: [{ role: 'user', content: 'hi' }],
  });
  await expect(run.runUntilDone()).rejects.toThrow('no threads');
  const bodies = server.requests.map(({ body }) => JSON.parse(body) as { thread?: unknown });
  expect(bodies[0]).toHaveProperty('thread');
  expect(bodies.at(-1)).not.toHaveProperty('thread');
});
