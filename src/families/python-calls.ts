import { writeJson } from '../canonical/json-write.js';
import type { MarkerScan } from './marker-scan.js';
import { locatePythonCall } from './python-literal.js';
import type { ReadCall, SpanBuilder } from './span-builder.js';

/** A call somewhere in a reply. */
export interface CallItem {
  readonly start: number;
  readonly end: number;
  readonly call: ReadCall;
}

export interface CallItems {
  readonly items: readonly CallItem[];
  /** Offset behind the last of them and what closes the list. */
  readonly end: number;
}

/** Reads `[f(a=1), g()]` at `start`; `null` where it is none. */
export function readPythonCalls(scan: MarkerScan, start: number): CallItems | null {
  const { body } = scan;
  if (body[start] !== '[') return null;
  const items: CallItem[] = [];
  let at = scan.skipSpace(start + 1);
  while (body[at] !== ']') {
    const item = readPythonCall(scan, at);
    if (item === null) return null;
    items.push(item);
    at = scan.skipSpace(item.end);
    if (body[at] === ',') at = scan.skipSpace(at + 1);
    else if (body[at] !== ']') return null;
  }
  return items.length === 0 ? null : { items, end: at + 1 };
}

/** Reads `f(a=1)` at `start`. */
export function readPythonCall(scan: MarkerScan, start: number): CallItem | null {
  const found = locatePythonCall(scan.body, start);
  if (found === null) return null;
  const call: ReadCall = { name: found.name, arguments: writeJson(found.value), value: found.value, error: null, id: null };
  return { start, end: found.end, call };
}

/** Hands calls to the builder, with what stands between them as markup. */
export function putCalls(builder: SpanBuilder, calls: CallItems): void {
  for (const item of calls.items) {
    builder.markup(item.start);
    builder.call(item.end, item.call);
  }
  builder.markup(calls.end);
}
