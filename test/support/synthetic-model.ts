import { compactJson } from '../../src/canonical/json-write.js';
import type { AssistantMessage, Message, ToolCall } from '../../src/canonical/message.js';

/**
 * A model of nothing but texts and ids: templates of different temper, a tokenizer of one id per UTF-16 unit, and sampled outputs whose
 * ids are another split of the same text.
 */
export type Temper = 'keeps' | 'drops reasoning' | 'writes arguments anew' | 'moves system text';
export const TEMPERS: readonly Temper[] = ['keeps', 'drops reasoning', 'writes arguments anew', 'moves system text'];

export const STOP = ']';
const FIRST_PIECE_ID = 100_000;
const pieces: string[] = [];
const idOfPiece = new Map<string, number>();

export const encode = (text: string): Int32Array => Int32Array.from({ length: text.length }, (_, i) => text.charCodeAt(i));

export function decode(ids: Int32Array): string {
  let text = '';
  for (const id of ids) text += id >= FIRST_PIECE_ID ? pieces[id - FIRST_PIECE_ID]! : String.fromCharCode(id);
  return text;
}

/** Ids for a text that the tokenizer would not choose: pieces of `size` units. */
export function encodeOddly(text: string, size: number): Int32Array {
  const ids: number[] = [];
  for (let at = 0; at < text.length; at += size) {
    const piece = text.slice(at, at + size);
    let id = idOfPiece.get(piece);
    if (id === undefined) {
      id = FIRST_PIECE_ID + pieces.push(piece) - 1;
      idOfPiece.set(piece, id);
    }
    ids.push(id);
  }
  return Int32Array.from(ids);
}

/** A reply as the model would write it, without its end. */
export function rawReply(message: AssistantMessage): string {
  return spelled(message, true, (call) => call.arguments);
}

/** The prompt's text: everything said so far and the head of the next reply. */
export function render(temper: Temper, head: string, messages: readonly Message[]): string {
  return `${head}${messages.map((_, i) => renderOne(temper, messages, i)).join('')}[a|`;
}

/** What follows the message at `index`, its own end included, whatever the template does with what came before. */
export function renderAfter(temper: Temper, messages: readonly Message[], index: number, ended: boolean): string {
  const rest = messages.slice(index + 1).map((_, i) => renderOne(temper, messages, index + 1 + i));
  return `${ended ? '' : STOP}${rest.join('')}[a|`;
}

function renderOne(temper: Temper, messages: readonly Message[], index: number): string {
  const message = messages[index]!;
  const lastUser = messages.findLastIndex(({ role }) => role === 'user');
  switch (message.role) {
    case 'system':
      return temper === 'moves system text' && lastUser >= 0 ? '' : `[s|${message.content}${STOP}`;
    case 'user': {
      const moved = temper === 'moves system text' && index === lastUser ? messages.filter(({ role }) => role === 'system') : [];
      return `[u|${moved.map(({ content }) => `${content}\n`).join('')}${message.content}${STOP}`;
    }
    case 'tool':
      return `[t|${message.toolCallId ?? ''}|${message.content}${STOP}`;
    case 'assistant': {
      const thinks = temper !== 'drops reasoning' || index > lastUser;
      const text = temper === 'writes arguments anew' ? argumentsAnew : (call: ToolCall) => call.arguments;
      return `[a|${spelled(message, thinks, text)}${STOP}`;
    }
  }
}

const argumentsAnew = (call: ToolCall): string => (call.value === undefined ? call.arguments : compactJson(call.value));

function spelled(message: AssistantMessage, thinks: boolean, args: (call: ToolCall) => string): string {
  const reasoning = thinks && message.reasoning !== null ? `<t>${message.reasoning}</t>` : '';
  return `${reasoning}${message.content ?? ''}${message.toolCalls.map((call) => `<c>${call.name} ${args(call)}</c>`).join('')}`;
}
