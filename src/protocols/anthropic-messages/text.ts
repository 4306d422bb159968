import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../canonical/json-value.js';
import type { SystemMessage } from '../../canonical/message.js';
import { invalidField, shown, unsupported } from '../request-fields.js';

/** Calls `read` for each block of a content; a string is one text block. */
export function eachBlock(
  content: JsonValue | undefined,
  path: string,
  read: (block: JsonObject, type: string, path: string) => void,
): void {
  if (typeof content === 'string') {
    read(new Map<string, JsonValue>([['text', content]]), 'text', path);
    return;
  }
  if (!isJsonArray(content)) throw invalidField(path, 'a string or a list of blocks', content);
  content.forEach((block, i) => {
    const at = `${path}[${i}]`;
    if (!isJsonObject(block)) throw invalidField(at, 'a block', block);
    const type = block.get('type');
    if (typeof type !== 'string') throw invalidField(`${at}.type`, 'a string', type);
    read(block, type, at);
  });
}

export function blockString(block: JsonObject, name: string, path: string): string {
  const value = block.get(name);
  if (typeof value !== 'string') throw invalidField(`${path}.${name}`, 'a string', value);
  return value;
}

export const unknownBlock = (type: string, path: string, known: string): Error =>
  unsupported(path, `blocks of type ${shown(type)} cannot be rendered here, only ${known}`);

/** One message of the text blocks joined without a separator, each without Claude Code's billing line; none where that is empty. */
export function systemMessage(content: JsonValue | undefined, path: string): readonly SystemMessage[] {
  return messageOf(systemTexts(content, path));
}

/** Messages of system text by its parts: the newest few, because each client has few and sends them with all requests. */
export type KnownSystemTexts = { readonly texts: readonly string[]; readonly message: readonly SystemMessage[] }[];

const KNOWN_MAX = 8;

/** As {@link systemMessage}; equal parts give the same message. */
export function knownSystemMessage(content: JsonValue | undefined, path: string, known: KnownSystemTexts): readonly SystemMessage[] {
  const texts = systemTexts(content, path);
  const before = known.find((it) => it.texts.length === texts.length && it.texts.every((text, i) => text === texts[i]));
  if (before !== undefined) return before.message;
  const message = messageOf(texts);
  if (known.unshift({ texts, message }) > KNOWN_MAX) known.pop();
  return message;
}

function systemTexts(content: JsonValue | undefined, path: string): readonly string[] {
  const texts: string[] = [];
  eachBlock(content, path, (block, type, at) => {
    if (type !== 'text') throw unknownBlock(type, at, 'text');
    const text = withoutBilling(blockString(block, 'text', at));
    if (text !== '') texts.push(text);
  });
  return texts;
}

const messageOf = (texts: readonly string[]): readonly SystemMessage[] =>
  texts.length === 0 ? [] : [{ role: 'system', content: texts.length === 1 ? texts[0]! : texts.join('') }];

const BILLING = 'x-anthropic-billing-header:';

/** The line differs between the main conversation and its helpers and is no text of the agent. */
function withoutBilling(text: string): string {
  if (!text.startsWith(BILLING)) return text;
  const end = text.indexOf('\n');
  return end === -1 ? '' : text.slice(end + 1);
}
