import { isJsonArray, isJsonObject, JsonFloat, type JsonObject, type JsonValue } from '../canonical/json-value.js';
import type { ToolDefinition } from '../canonical/message.js';
import type { TreeNode } from './node.js';
import { HASH_SEED, hashJson, hashText, mix } from './text-hash.js';

/** What stands before all messages of a prompt. Two histories with different roots share nothing. */
export interface RootKey {
  /** The served model or adapter. */
  readonly model: string;
  readonly tools: readonly ToolDefinition[];
  readonly templateKwargs: JsonObject;
}

export function rootHash(key: RootKey): number {
  let hash = hashText(mix(HASH_SEED, key.tools.length), key.model);
  for (const tool of key.tools) hash = hashJson(hashText(hashText(hash, tool.name), tool.description ?? ''), tool.parameters ?? null);
  return hashJson(hash, key.templateKwargs);
}

/** Exact, spelling and order included: a template prints both. Only the order of the template's variables is free. */
export function sameRoot(a: RootKey, b: RootKey): boolean {
  return a === b || (a.model === b.model && sameTools(a.tools, b.tools) && sameKwargs(a.templateKwargs, b.templateKwargs));
}

export function sameTools(a: readonly ToolDefinition[], b: readonly ToolDefinition[]): boolean {
  return a === b || (a.length === b.length && a.every((tool, i) => sameTool(tool, b[i]!)));
}

function sameTool(a: ToolDefinition, b: ToolDefinition): boolean {
  return a === b || (a.name === b.name && a.description === b.description && identical(a.parameters, b.parameters));
}

function sameKwargs(a: JsonObject, b: JsonObject): boolean {
  return a === b || (a.size === b.size && [...a].every(([name, value]) => b.has(name) && identical(value, b.get(name))));
}

function identical(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (Object.is(a, b)) return true;
  if (a === undefined || b === undefined) return false;
  if (a instanceof JsonFloat) return b instanceof JsonFloat && Object.is(a.value, b.value);
  if (isJsonArray(a)) return isJsonArray(b) && a.length === b.length && a.every((item, i) => identical(item, b[i]));
  if (!isJsonObject(a) || !isJsonObject(b) || a.size !== b.size) return false;
  const members = b.entries();
  for (const [name, value] of a) {
    const [otherName, other] = members.next().value!;
    if (name !== otherName || !identical(value, other)) return false;
  }
  return true;
}

/** A root of a session's tree, with the spelling that was seen first. */
export interface Root extends RootKey {
  readonly hash: number;
  /** The node above the first messages. */
  readonly top: TreeNode;
}
