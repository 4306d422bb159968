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
  let text = '';
  eachBlock(content, path, (block, type, at) => {
    if (type !== 'text') throw unknownBlock(type, at, 'text');
    text += withoutBilling(blockString(block, 'text', at));
  });
  return text === '' ? [] : [{ role: 'system', content: text }];
}

const BILLING = 'x-anthropic-billing-header:';

/** The line differs between the main conversation and its helpers and is no text of the agent. */
function withoutBilling(text: string): string {
  if (!text.startsWith(BILLING)) return text;
  const end = text.indexOf('\n');
  return end === -1 ? '' : text.slice(end + 1);
}
