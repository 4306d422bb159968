import type { SimVocabulary } from './vocabulary.js';

export interface SaidCall {
  readonly name: string;
  /** A string stands in the text as it is, even where it is no JSON. */
  readonly arguments: unknown;
}

/** What the model is to say in one turn, and how it spells it. */
export interface Reply {
  readonly reasoning?: string;
  readonly text?: string;
  readonly calls?: readonly SaidCall[];
  /** The whole text, instead of the three above; names of added tokens are the tokens. */
  readonly raw?: string;
  /** The whole reply as ids, instead of all of the above. */
  readonly ids?: readonly number[];
  /** `bytes`: one token per byte · `mixed`: every third word in bytes · both differ from what a tokenizer gives for the same text. */
  readonly spelling?: 'canonical' | 'bytes' | 'mixed';
  /** Spells the names of added tokens with ordinary letters. */
  readonly markers?: 'tokens' | 'letters';
  /** Bytes after the text, such as the first half of a character. */
  readonly lastBytes?: readonly number[];
  /** `false`: no end token; the model goes on with random words until something else ends it. */
  readonly ends?: boolean;
}

/** The ids of a reply without its end token. `thinkingClosed`: the prompt itself has ended the reasoning already. */
export function replyIds(reply: Reply, vocabulary: SimVocabulary, thinkingClosed: boolean): number[] {
  if (reply.ids) return [...reply.ids];
  const text = reply.raw ?? replyText(reply, thinkingClosed);
  const ids = spelled(text, reply, vocabulary);
  return reply.lastBytes ? [...ids, ...vocabulary.encodeBytes(Uint8Array.from(reply.lastBytes))] : ids;
}

/** A reply in the words of the embedded model's chat template. */
export function replyText(reply: Reply, thinkingClosed = false): string {
  const reasoning = reply.reasoning === undefined || thinkingClosed ? '' : `<think>\n${reply.reasoning}\n</think>\n\n`;
  const text = reply.text ?? '';
  const calls = (reply.calls ?? []).map((call) => {
    const args = typeof call.arguments === 'string' ? call.arguments : spacedJson(call.arguments);
    return `<tool_call>\n{"name": ${JSON.stringify(call.name)}, "arguments": ${args}}\n</tool_call>`;
  });
  return reasoning + [text, ...calls].filter((part, i) => i > 0 || part !== '').join('\n');
}

/** JSON with a space after `:` and `,`, as models are taught to write it. */
export function spacedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spacedJson).join(', ')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null';
  return `{${Object.entries(value)
    .map(([key, member]) => `${JSON.stringify(key)}: ${spacedJson(member)}`)
    .join(', ')}}`;
}

function spelled(text: string, reply: Reply, vocabulary: SimVocabulary): number[] {
  const markers = reply.markers !== 'letters';
  const canonical = vocabulary.encode(text, markers);
  if (reply.spelling === undefined || reply.spelling === 'canonical') return canonical;
  const every = reply.spelling === 'bytes' ? 1 : 3;
  let words = 0;
  return canonical.flatMap((id) => {
    const bytes = vocabulary.bytesOf(id);
    const marker = markers && bytes.length > 1 && vocabulary.idOf(Buffer.from(bytes).toString('utf8')) === id && bytes[0] === 0x3c;
    if (marker || bytes.length < 2) return [id];
    return words++ % every === 0 ? vocabulary.encodeBytes(bytes) : [id];
  });
}
