import Anthropic from '@anthropic-ai/sdk';
import fc from 'fast-check';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fromPlain } from '../../src/canonical/json-plain.js';
import type { JsonObject } from '../../src/canonical/json-value.js';
import type { AssistantMessage } from '../../src/canonical/message.js';
import type { ProtocolName, TurnReply, TurnRequest } from '../../src/canonical/turn.js';
import { ERRORS, type ErrorCode, type ErrorValue } from '../../src/errors.js';
import { errorHeaders } from '../../src/protocols/error-reply.js';
import { toolCall } from '../../src/protocols/tool-arguments.js';
import { richReply, turnReply } from '../protocols/replies.js';
import { options, protocols } from '../protocols/requests.js';
import { anthropicClient, JSON_HEADERS, openaiClient, type ProtocolServer, SSE_HEADERS, startProtocolServer } from './protocol-server.js';

/** The suite that every protocol passes: its official SDK reads what it writes, and what the SDK hands back is the turn that was sent. */
interface Subject {
  readonly name: ProtocolName;
  /** A minimal body. */
  readonly body: object;
  /** Runs the SDK and gives its assistant message in the form in which a client sends it back. */
  readonly create: (server: ProtocolServer) => Promise<object>;
  readonly stream: (server: ProtocolServer) => Promise<object>;
  /** The error that the SDK throws, with how often it asked. */
  readonly fail: (server: ProtocolServer, stream: boolean) => Promise<{ readonly error: unknown; readonly asked: number }>;
}

const chatBody = { model: 'policy', messages: [{ role: 'user' as const, content: 'hi' }] };
const messagesBody = { model: 'policy', max_tokens: 100, messages: [{ role: 'user' as const, content: 'hi' }] };

const failure = async (server: ProtocolServer, run: () => Promise<unknown>): Promise<{ error: unknown; asked: number }> => {
  const error = await run().then(
    () => {
      throw new Error('the SDK took an error for an answer');
    },
    (reason: unknown) => reason,
  );
  return { error, asked: server.requests.length };
};

const drain = async (events: AsyncIterable<unknown>): Promise<void> => {
  for await (const _ of events);
};

const subjects: readonly Subject[] = [
  {
    name: 'openai-chat',
    body: chatBody,
    create: async (server) => (await openaiClient(server).chat.completions.create(chatBody)).choices[0]!.message,
    stream: async (server) => (await openaiClient(server).chat.completions.stream(chatBody).finalChatCompletion()).choices[0]!.message,
    fail: (server, stream) =>
      failure(server, async () => {
        const answer = await openaiClient(server, 1).chat.completions.create({ ...chatBody, stream });
        if (Symbol.asyncIterator in answer) await drain(answer);
      }),
  },
  {
    name: 'anthropic-messages',
    body: messagesBody,
    create: (server) => anthropicClient(server).messages.create(messagesBody),
    stream: (server) => anthropicClient(server).messages.stream(messagesBody).finalMessage(),
    fail: (server, stream) =>
      failure(server, async () => {
        const answer = await anthropicClient(server, 1).messages.create({ ...messagesBody, stream });
        if (Symbol.asyncIterator in answer) await drain(answer);
      }),
  },
];

let server: ProtocolServer;
beforeAll(async () => {
  server = await startProtocolServer();
});
afterAll(() => server.close());

const replies: Readonly<Record<string, () => TurnReply>> = {
  text: () => turnReply(),
  'reasoning, text and two calls': richReply,
  'a call alone': () =>
    turnReply({ finishReason: 'tool_calls' }, { content: '', toolCalls: [toolCall('call_1', 'f', '{"a":[1,2.5e-7,"x"]}')] }),
  nothing: () => turnReply({ finishReason: 'length' }, { content: '' }),
  'reasoning alone, cut': () => turnReply({ finishReason: 'length' }, { content: null, reasoning: 'hm' }),
};

describe.each(subjects)('$name', ({ name, body, create, stream, fail }) => {
  const protocol = protocols[name];
  const request = (more: object = {}): TurnRequest => protocol.parseRequest(fromPlain({ ...body, ...more }) as JsonObject, options);
  const whole = (reply: TurnReply): string => protocol.formatReply(request(), reply);
  const events = (reply: TurnReply): string => {
    const { turnId, createdAtSeconds, promptTokens, promptIds } = reply;
    const open = protocol.openStream(request({ stream: true }), { turnId, createdAtSeconds, promptTokens, promptIds });
    return open + protocol.heartbeat + protocol.finishStream(request({ stream: true }), reply);
  };
  /** What our own reader makes of the SDK's message when the client sends it back. */
  const echo = (message: object): AssistantMessage => {
    const next = {
      ...body,
      messages: [{ role: 'user', content: 'hi' }, JSON.parse(JSON.stringify(message)), { role: 'user', content: 'go on' }],
    };
    return protocol.parseRequest(fromPlain(next) as JsonObject, options).messages[1] as AssistantMessage;
  };
  const same = (sent: TurnReply, back: AssistantMessage, reasoning: boolean): void => {
    expect(back.content ?? '').toBe(sent.message.content ?? '');
    if (reasoning) expect(back.reasoning).toBe(sent.message.reasoning);
    expect(back.toolCalls.map(({ id, name: called, arguments: args }) => [id, called, JSON.parse(args)])).toStrictEqual(
      sent.message.toolCalls.map(({ id, name: called, arguments: args }) => [id, called, JSON.parse(args)]),
    );
  };

  it.each(Object.keys(replies))('the SDK reads an answer: %s', async (which) => {
    const reply = replies[which]!();
    server.answer({ headers: JSON_HEADERS, body: whole(reply) });
    same(reply, echo(await create(server)), true);
  });

  it('the SDK reads an answer behind the whitespace of a heartbeat', async () => {
    server.answer({ headers: JSON_HEADERS, body: ` \n \n${whole(richReply())}` });
    same(richReply(), echo(await create(server)), true);
  });

  it.each(Object.keys(replies))('the SDK reads a stream: %s', async (which) => {
    const reply = replies[which]!();
    server.answer({ headers: SSE_HEADERS, body: events(reply) });
    same(reply, echo(await stream(server)), true);
  });

  it('the SDK reads a stream that is cut anywhere, with a heartbeat after every event', async () => {
    const body = events(richReply()).replaceAll('\n\n', `\n\n${protocol.heartbeat}`);
    for (const pieceBytes of [1, 7, 1000]) {
      server.answer({ headers: SSE_HEADERS, body, pieceBytes });
      same(richReply(), echo(await stream(server)), true);
    }
  });

  it('whatever was sampled comes through both forms', async () => {
    const text = fc.string({ unit: 'binary', maxLength: 40 });
    const calls = fc.array(
      fc.tuple(fc.stringMatching(/^[a-z_]{1,8}$/), fc.dictionary(fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 2 }))),
      { maxLength: 3 },
    );
    await fc.assert(
      fc.asyncProperty(text, fc.option(text), calls, async (content, reasoning, list) => {
        const toolCalls = list.map(([called, args], i) => toolCall(`call_${i}`, called, JSON.stringify(args)));
        const finishReason = toolCalls.length > 0 ? 'tool_calls' : 'stop';
        const reply = turnReply({ finishReason }, { content, reasoning: reasoning === '' ? null : reasoning, toolCalls });
        server.answer({ headers: JSON_HEADERS, body: whole(reply) });
        same(reply, echo(await create(server)), true);
        server.answer({ headers: SSE_HEADERS, body: events(reply), pieceBytes: 97 });
        same(reply, echo(await stream(server)), true);
      }),
      { numRuns: 40 },
    );
  });

  it('echoes any model name', () => {
    const odd = 'org/model:7b "x"';
    expect((JSON.parse(protocol.formatReply(request({ model: odd }), turnReply())) as { model: string }).model).toBe(odd);
  });

  const codes = (Object.keys(ERRORS) as ErrorCode[]).filter((code) => !/never (sent|on the wire)/i.test(ERRORS[code].meaning));

  it.each(codes)('the SDK takes %s as the table says', async (code) => {
    const value: ErrorValue = { code, message: `what is wrong: ${code}`, ...(ERRORS[code].shouldRetry ? { retryAfterMs: 1 } : {}) };
    const { status, body: text } = protocol.formatError(value, 'req_1');
    server.answer({ status, headers: errorHeaders(value, 'req_1'), body: text });
    const { error, asked } = await fail(server, false);
    expect(asked).toBe(ERRORS[code].shouldRetry ? 2 : 1);
    expect(error).toBeInstanceOf(name === 'openai-chat' ? OpenAI.APIError : Anthropic.APIError);
    expect(error).toMatchObject({ status, message: expect.stringContaining(value.message), requestID: 'req_1' });
    const named = name === 'openai-chat' ? { code, type: ERRORS[code].openaiType } : { errorCode: code, type: ERRORS[code].anthropicType };
    expect(error).toMatchObject(named);
  });

  it('the SDK throws where a begun stream fails, once', async () => {
    const opening = { turnId: 't', createdAtSeconds: 1, promptTokens: 1, promptIds: () => Int32Array.of(1) };
    const failed = protocol.failStream({ code: 'engine_failed', message: 'the engine died' }, 'req_1');
    server.answer({ headers: SSE_HEADERS, body: protocol.openStream(request({ stream: true }), opening) + failed });
    const { error, asked } = await fail(server, true);
    expect(asked).toBe(1);
    expect(String((error as Error).message)).toContain('the engine died');
  });
});
