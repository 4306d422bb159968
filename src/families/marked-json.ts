import { type BlockContext, type BlockGrammar, blockFamily } from './block-reader.js';
import type { Family } from './family.js';
import { jsonCall } from './json-call.js';
import { locateJson } from './json-scan.js';
import type { ReplyShape } from './reply-shape.js';
import { type CallAt, readSection, type Section } from './section-reader.js';

/** A grammar whose calls have markers of their own, inside a section, with the function's name before the JSON. */
export interface MarkedDialect {
  readonly name: string;
  readonly nativeIds: boolean;
  readonly sectionOpen: readonly string[];
  readonly sectionClose: readonly string[];
  readonly callOpen: string;
  readonly callClose: string;
  /** Sticky; matches what stands between the call's marker and its JSON. Its group `name` is the function, `id` the call's id. */
  readonly head: RegExp;
  /** Sticky; matches what may stand between the JSON and the closing marker. */
  readonly tail: RegExp;
}

export function markedJsonFamily(dialect: MarkedDialect, shape: ReplyShape): Family {
  const { sectionOpen, sectionClose, callOpen, callClose } = dialect;
  const section: Section = {
    open: sectionOpen,
    close: sectionClose,
    callOpen,
    callClose,
    callAt: (context, start) => callAt(context, start, dialect),
  };
  const grammar: BlockGrammar = {
    name: dialect.name,
    callEnd: callClose,
    nativeIds: dialect.nativeIds,
    openers: [...sectionOpen, callOpen],
    strays: [...sectionClose, callClose],
    readBlock: (context, opener) => readSection(context, opener, section),
  };
  return blockFamily(grammar, shape);
}

function callAt({ scan }: BlockContext, start: number, dialect: MarkedDialect): CallAt | null {
  if (!scan.here(dialect.callOpen, start)) return null;
  dialect.head.lastIndex = start + dialect.callOpen.length;
  const head = dialect.head.exec(scan.body)?.groups;
  const name = head?.name?.trim() ?? '';
  if (name === '') return null;
  const json = locateJson(scan.body, scan.skipSpace(dialect.head.lastIndex));
  if (json === null) return null;
  dialect.tail.lastIndex = json.end;
  const tail = dialect.tail.exec(scan.body);
  const behind = tail === null ? json.end : dialect.tail.lastIndex;
  const call = jsonCall(name, scan.body.slice(json.start, json.end), json.value, head?.id?.trim() ?? null);
  if (scan.here(dialect.callClose, behind)) return { call, end: behind + dialect.callClose.length, closed: true };
  const next = scan.skipSpace(behind);
  const ended = next >= scan.body.length || scan.hereOneOf([dialect.callOpen, ...dialect.sectionClose], next) !== null;
  return ended ? { call, end: behind, closed: false } : null;
}
