import { describe, expect, it } from 'vitest';
import { writeJson } from '../../src/canonical/json-write.js';
import type { Family, ParsedReply } from '../../src/families/family.js';
import { familyNamed, usualFamily } from '../../src/families/registry.js';
import { TOOLS } from './template-fixtures.js';

/** What a reply was read to be; members that say nothing are left out. */
export interface Reading {
  readonly ill?: true;
  readonly reasoning?: string;
  readonly content?: string;
  /** `name arguments`, with `=> value` where the value is written otherwise and `!code` where there is an error. */
  readonly calls?: readonly string[];
}

export type Row = readonly [title: string, text: string, reading: Reading, prompt?: 'reasoning open'];

/** Tests that each reply is read as the table says, and that none of its beginnings is lost or throws. */
export function malformedTable(familyName: string, rows: readonly Row[]): void {
  const entry = familyNamed(familyName);
  if (entry === undefined) throw new Error(`no family is called ${familyName}`);
  const { family } = usualFamily(entry);
  describe(`replies of ${familyName}`, () => {
    it.each(rows.map(([title, text, reading, prompt]) => ({ title, text, reading, open: prompt !== undefined })))(
      '$title',
      ({ text, reading, open }) => {
        const reply = parse(family, text, open);
        expect(readingOf(reply)).toEqual(reading);
        expectWhole(reply, text.length);
        const stopped = parse(family, text, open, '<stop>');
        expect({ ...readingOf(stopped), ill: reply.illFormed }).toEqual({ ...reading, ill: reply.illFormed });
        expect(stopped.spans.at(-1)).toEqual({ kind: 'stop', start: text.length, end: text.length + 6 });
        for (let end = 0; end < text.length; end++) expectWhole(parse(family, text.slice(0, end), open), end);
      },
    );
  });
}

function parse(family: Family, text: string, reasoningOpen: boolean, stop = ''): ParsedReply {
  return family.parse({ text: text + stop, stopStart: text.length, isMarker: () => true, reasoningOpen, tools: TOOLS });
}

function readingOf(reply: ParsedReply): Reading {
  const calls = reply.toolCalls.map((call) => {
    const value = call.value === undefined ? 'undefined' : writeJson(call.value);
    return [
      `${call.name}${call.id === null ? '' : `#${call.id}`} ${call.arguments}`,
      ...(value === call.arguments ? [] : [`=> ${value}`]),
      ...(call.error === null ? [] : [`!${call.error.code}`]),
    ].join(' ');
  });
  return {
    ...(reply.illFormed ? { ill: true as const } : {}),
    ...(reply.reasoning === null ? {} : { reasoning: reply.reasoning }),
    ...(reply.content === '' ? {} : { content: reply.content }),
    ...(calls.length === 0 ? {} : { calls }),
  };
}

/** Spans cover `length` units once and in order, and each call has its own. */
export function expectWhole(reply: ParsedReply, length: number): void {
  let at = 0;
  for (const span of reply.spans) {
    expect(span.start).toBe(at);
    expect(span.end).toBeGreaterThan(at);
    at = span.end;
  }
  expect(at).toBe(length);
  const callSpans = reply.spans.filter((span) => span.kind === 'tool_call').map(({ start, end }) => [start, end]);
  expect(callSpans).toEqual(reply.toolCalls.map(({ start, end }) => [start, end]));
}
