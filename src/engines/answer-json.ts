import type { EngineHttpResponse } from './engine.js';

/** A body as read: JSON, the events of a stream that nobody asked for, or neither. */
export type AnswerBody =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'events'; readonly events: readonly unknown[] }
  | { readonly kind: 'other'; readonly excerpt: string };

/**
 * Reads a body whatever its content type says. Python servers print `NaN`, `Infinity` and `-Infinity` into JSON; they
 * are read as `null`.
 */
export function answerBody(response: EngineHttpResponse): AnswerBody {
  const text = Buffer.from(response.body.buffer, response.body.byteOffset, response.body.byteLength).toString('utf8');
  const value = parseLoosely(text);
  if (value !== undefined) return { kind: 'json', value };
  if (/^\s*(?:data|event|id|:)/.test(text)) return { kind: 'events', events: streamEvents(text) };
  return { kind: 'other', excerpt: text.length <= 200 ? text : `${text.slice(0, 200)}…` };
}

/** `undefined` where the text is no JSON even with Python's spellings. */
function parseLoosely(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    const repaired = withoutPythonNumbers(text);
    if (repaired === text) return undefined;
    try {
      return JSON.parse(repaired) as unknown;
    } catch {
      return undefined;
    }
  }
}

/** Puts `null` for the bare words `NaN`, `Infinity` and `-Infinity` outside of strings. */
function withoutPythonNumbers(text: string): string {
  const words = /"|-?Infinity|NaN/g;
  let out = '';
  let copied = 0;
  for (let hit = words.exec(text); hit !== null; hit = words.exec(text)) {
    if (hit[0] === '"') {
      words.lastIndex = stringEnd(text, hit.index);
      continue;
    }
    out += `${text.slice(copied, hit.index)}null`;
    copied = words.lastIndex;
  }
  return copied === 0 ? text : out + text.slice(copied);
}

function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === 0x22) return at + 1;
    if (unit === 0x5c) at++;
  }
  return text.length;
}

function streamEvents(text: string): unknown[] {
  const events: unknown[] = [];
  for (const line of text.split(/\r?\n/)) {
    if (!line.startsWith('data:')) continue;
    const value = parseLoosely(line.slice(5).trim());
    if (value !== undefined) events.push(value);
  }
  return events;
}

/** A member of a JSON object, `undefined` where there is no object or no such member. */
export function member(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}

export const stringMember = (value: unknown, name: string): string | null => {
  const found = member(value, name);
  return typeof found === 'string' ? found : null;
};
export const numberMember = (value: unknown, name: string): number | null => {
  const found = member(value, name);
  return typeof found === 'number' ? found : null;
};
export const arrayMember = (value: unknown, name: string): readonly unknown[] | null => {
  const found = member(value, name);
  return Array.isArray(found) ? (found as unknown[]) : null;
};
