import { callOfObject } from './json-call.js';
import { locateObject } from './json-scan.js';
import type { MarkerScan } from './marker-scan.js';
import type { CallItem, CallItems } from './python-calls.js';

/**
 * Reads `{"name": "f", "parameters": {…}}`, more of them side by side or with a `;` between, or a list of them, at `start`. An object
 * that has not both a name and arguments is an answer in JSON and no call: `null` where the first is one.
 */
export function readBareObjects(scan: MarkerScan, start: number): CallItems | null {
  const listed = scan.body[start] === '[';
  const items: CallItem[] = [];
  let end = start;
  for (let at = listed ? scan.skipSpace(start + 1) : start; ; ) {
    const object = locateObject(scan.body, at);
    const read = object === null ? null : callOfObject(object);
    if (object === null || read === null || !read.complete) break;
    items.push({ start: at, end: object.end, call: read.call });
    end = object.end;
    at = scan.skipSpace(object.end);
    if (scan.body[at] === (listed ? ',' : ';')) at = scan.skipSpace(at + 1);
    else if (listed) {
      if (scan.body[at] !== ']') return null;
      return { items, end: at + 1 };
    }
  }
  if (listed) return null;
  return items.length === 0 ? null : { items, end };
}

/** Whether a call seems to have been begun at `start`. */
export const looksLikeObjectCall = (text: string, start: number): boolean => {
  BEGUN.lastIndex = start;
  return BEGUN.test(text) && /"(?:parameters|arguments)"\s*:/.test(text.slice(start));
};
const BEGUN = /\{\s*"(?:name|type|function)"\s*:/y;
