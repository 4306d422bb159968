/** How each protocol says a request and what its answers look like, streamed or not. */
import { SYSTEM, TOOLS } from './cells.mjs';

const messageJson = (role, content) => JSON.stringify({ role, content });

/**
 * `open` and `close` enclose the growing list of messages, so that a turn's body is three strings joined.
 * `textOf` gives the visible text of a whole answer. @throws where it is none
 */
export const DIALECTS = {
  chat: {
    path: '/v1/chat/completions',
    headers: (key) => ({ authorization: `Bearer ${key}` }),
    open: `{"model":"bench","messages":[${messageJson('system', SYSTEM)}`,
    close: (maxTokens, stream) =>
      `],"tools":${JSON.stringify(TOOLS.chat)},"max_tokens":${maxTokens},"temperature":1${stream ? ',"stream":true' : ''}}`,
    user: (text) => `,${messageJson('user', text)}`,
    assistant: (text) => `,${messageJson('assistant', text)}`,
    textOf: (body) => JSON.parse(body).choices[0].message.content,
    deltaOf: (event) => event.choices?.[0]?.delta?.content ?? '',
    ended: (body) => body.includes('data: [DONE]'),
  },
  messages: {
    path: '/v1/messages',
    headers: (key) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }),
    open: `{"model":"bench","system":${JSON.stringify(SYSTEM)},"messages":[`,
    close: (maxTokens, stream) =>
      `],"tools":${JSON.stringify(TOOLS.messages)},"max_tokens":${maxTokens},"temperature":1${stream ? ',"stream":true' : ''}}`,
    user: (text, first) => `${first ? '' : ','}${messageJson('user', text)}`,
    assistant: (text) => `,${messageJson('assistant', [{ type: 'text', text }])}`,
    textOf: (body) =>
      JSON.parse(body)
        .content.map((block) => block.text ?? '')
        .join(''),
    deltaOf: (event) => (event.delta?.type === 'text_delta' ? event.delta.text : ''),
    ended: (body) => body.includes('event: message_stop'),
  },
};

/** The text of an SSE answer. @throws where its last event is missing */
export function streamedText(dialect, body) {
  if (!dialect.ended(body)) throw new Error(`the stream has no end: ${body.slice(-200)}`);
  let text = '';
  for (const line of body.split('\n')) {
    if (line.startsWith('data: {')) text += dialect.deltaOf(JSON.parse(line.slice(6)));
  }
  return text;
}
