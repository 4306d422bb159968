import type { JsonValue } from '../canonical/json-value.js';
import { writeJson } from '../canonical/json-write.js';
import type { ToolDefinition } from '../canonical/message.js';
import { readJson } from './json-scan.js';
import type { Hit, MarkerScan } from './marker-scan.js';
import { prefixLength, suffixLength } from './reasoning-split.js';
import { parameterSchema, typedValue } from './schema-typing.js';
import type { ReadCall } from './span-builder.js';

/** How a grammar writes `name = value` with tags. */
export interface ParameterDialect {
  /** Sticky; its groups are the name and, where the grammar says it, whether the value is a string (`true` / `false`). */
  readonly open: RegExp;
  /** What every opening tag begins with. */
  readonly openPrefix: string;
  readonly close: string;
  /** White space that the template prints on both sides of a value. */
  readonly valuePad: string;
}

export interface Parameter {
  readonly name: string;
  readonly text: string;
  /** What the tag says: true = a string, false = JSON, null = nothing. */
  readonly isString: boolean | null;
}

export interface ReadParameters {
  readonly parameters: readonly Parameter[];
  /** Offset behind the last parameter. */
  readonly end: number;
  /** Whether every value had its closing tag. */
  readonly closed: boolean;
}

/** The tags around parameters: those that end the call or its block, and those that begin another. */
export interface CallEnds {
  readonly closers: readonly string[];
  readonly openers: readonly string[];
}

/**
 * Reads parameters from `start` until a tag of the call or the end of the reply. `null` where something stands between
 * them that is no parameter, or where a value does not end.
 *
 * A closing tag counts when what follows it can follow a parameter, so that a value may speak of the grammar itself.
 * Without such a tag, a value ends where a new parameter or the end of the call begins a line.
 */
export function readParameters(scan: MarkerScan, start: number, tags: CallEnds, dialect: ParameterDialect): ReadParameters | null {
  const { body } = scan;
  const parameters: Parameter[] = [];
  let closed = true;
  let at = start;
  for (;;) {
    const next = scan.skipSpace(at);
    if (next >= body.length || followsParameter(scan, next, tags) !== null) return { parameters, end: at, closed };
    dialect.open.lastIndex = next;
    const open = dialect.open.exec(body);
    if (open === null) return null;
    const from = dialect.open.lastIndex;
    const value = valueEnd(scan, from, tags, dialect);
    if (value === null) return null;
    if (!value.closed) closed = false;
    const name = open[1]?.trim() ?? '';
    if (name === '') return null;
    const text = unpadded(body, from, value.end, dialect.valuePad);
    parameters.push({ name, text, isString: open[2] === undefined ? null : open[2] === 'true' });
    at = value.behind;
  }
}

function unpadded(body: string, start: number, end: number, pad: string): string {
  const from = Math.min(end, start + prefixLength(body, start, pad));
  return body.slice(from, end - suffixLength(body, from, end, pad));
}

interface ValueEnd {
  readonly end: number;
  readonly behind: number;
  readonly closed: boolean;
}

function valueEnd(scan: MarkerScan, from: number, tags: CallEnds, dialect: ParameterDialect): ValueEnd | null {
  const { body } = scan;
  let close = scan.next(dialect.close, from);
  let behind = 0;
  for (; close >= 0; close = scan.next(dialect.close, close + 1)) {
    behind = close + dialect.close.length;
    const follower = scan.skipSpace(behind);
    if (follower >= body.length || body.startsWith(dialect.openPrefix, follower) || followsParameter(scan, follower, tags) !== null) break;
  }
  const lineStart = nextLineStart(scan, from, close < 0 ? body.length : close, tags, dialect);
  if (lineStart < 0) return close < 0 ? null : { end: close, behind, closed: true };
  return scan.anyBetween(tags.openers, from, lineStart) ? null : { end: lineStart, behind: lineStart, closed: false };
}

/**
 * Where, before `limit`, the next parameter or the end of the call begins a line although the value is not closed; -1
 * where nothing does. A closing tag that is followed by anything but another one is part of the value.
 */
function nextLineStart(scan: MarkerScan, from: number, limit: number, tags: CallEnds, dialect: ParameterDialect): number {
  const { body } = scan;
  for (let line = body.indexOf('\n', from); line >= 0 && line < limit; line = body.indexOf('\n', line + 1)) {
    const at = line + 1;
    if (body.startsWith(dialect.openPrefix, at)) {
      dialect.open.lastIndex = at;
      if (dialect.open.test(body)) return at;
    }
    const closer = scan.hereOneOf(tags.closers, at);
    if (closer === null) continue;
    const behind = scan.skipSpace(closer.end);
    if (behind >= body.length || followsParameter(scan, behind, tags) !== null) return at;
  }
  return -1;
}

function followsParameter(scan: MarkerScan, offset: number, tags: CallEnds): Hit | null {
  return scan.hereOneOf(tags.closers, offset) ?? scan.hereOneOf(tags.openers, offset);
}

/** Types the values by the tool's schema; the last of equal names wins. */
export function callOfParameters(name: string, parameters: readonly Parameter[], tool: ToolDefinition | undefined): ReadCall {
  const value = new Map<string, JsonValue>();
  const wrong: string[] = [];
  for (const parameter of parameters) {
    const typed = parameterValue(parameter, tool);
    value.set(parameter.name, typed.value);
    if (typed.mismatch !== null) wrong.push(`${parameter.name} is not ${typed.mismatch}`);
  }
  const error = wrong.length === 0 ? null : { code: 'schema_mismatch', message: wrong.join('; ') };
  return { name, arguments: writeJson(value), value, error, id: null };
}

function parameterValue(parameter: Parameter, tool: ToolDefinition | undefined): { value: JsonValue; mismatch: string | null } {
  if (parameter.isString === true) return { value: parameter.text, mismatch: null };
  if (parameter.isString === false) {
    const value = readJson(parameter.text);
    return value === undefined ? { value: parameter.text, mismatch: 'JSON' } : { value, mismatch: null };
  }
  return typedValue(parameter.text, parameterSchema(tool, parameter.name));
}
