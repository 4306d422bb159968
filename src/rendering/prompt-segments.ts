import type { Message } from '../canonical/message.js';
import type { Tokenizer } from './tokenizer.js';

/** A run of prompt tokens that says the same kind of thing; `template` is what no message said. */
export interface PromptSegment {
  readonly kind: 'template' | 'user' | 'tool' | 'assistant';
  readonly length: number;
}

/**
 * Sorts the tokens of a prompt's new part by who said them: texts of messages are looked for in order, as the template prints them, trimmed
 * where it trims. A token that holds both belongs to the message. A text that is not found, because the template rewrote it, stays `template`.
 */
export function promptSegments(ids: Int32Array, messages: readonly Message[], tokenizer: Tokenizer): PromptSegment[] {
  const { text, ends } = tokenizer.decodeWithOffsets(ids);
  const segments: { kind: PromptSegment['kind']; length: number }[] = [];
  let token = 0;
  const put = (kind: PromptSegment['kind'], until: number): void => {
    const length = until - token;
    if (length <= 0) return;
    const last = segments.at(-1);
    if (last?.kind === kind) last.length += length;
    else segments.push({ kind, length });
    token = until;
  };
  let from = 0;
  for (const message of messages) {
    const kind = message.role === 'system' ? 'template' : message.role;
    for (const part of textsOf(message)) {
      const at = text.indexOf(part, from);
      if (at < 0) continue;
      put('template', firstEndingAfter(ends, at, token));
      from = at + part.length;
      put(kind, firstEndingAfter(ends, from - 1, token) + 1);
    }
  }
  put('template', ids.length);
  return segments;
}

function textsOf(message: Message): string[] {
  const texts =
    message.role === 'assistant'
      ? [message.reasoning, message.content, ...message.toolCalls.map((call) => call.arguments)]
      : [message.content];
  return texts.map((text) => (text ?? '').trim()).filter((text) => text !== '');
}

/** The first token at or behind `token` that ends behind the offset; the number of tokens where none does. */
function firstEndingAfter(ends: Int32Array, offset: number, token: number): number {
  let at = token;
  while (at < ends.length && ends[at]! <= offset) at += 1;
  return at;
}
