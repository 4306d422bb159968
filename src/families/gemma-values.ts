import type { JsonObject, JsonValue } from '../canonical/json-value.js';
import type { MarkerScan } from './marker-scan.js';
import { readNumber } from './python-literal.js';

export interface ReadBraces {
  readonly value: JsonObject;
  readonly end: number;
  /** The first value that is neither quoted nor a number nor a word of the language. */
  readonly unquoted: string | null;
}

/**
 * Reads Gemma's own notation of an object, `{n:1,s:<|"|>a<|"|>,l:[…],o:{…}}`, at `start`: keys are bare, strings stand
 * between two quote tokens and need no escapes. Keys and strings in either kind of quotes are taken as well, since
 * models write them. `null` where it does not hold together.
 */
export function readBraces(scan: MarkerScan, start: number, quote: string): ReadBraces | null {
  const reader = new Reader(scan, quote);
  const object = reader.object(start, 0);
  return object === null ? null : { value: object.value, end: object.end, unquoted: reader.unquoted };
}

interface Located<T> {
  readonly value: T;
  readonly end: number;
}

const MAX_DEPTH = 200;
const BARE = /[^,:{}[\]<>"\n]+/y;
const WORDS: ReadonlyMap<string, JsonValue> = new Map<string, JsonValue>([
  ['true', true],
  ['True', true],
  ['false', false],
  ['False', false],
  ['null', null],
  ['None', null],
]);

class Reader {
  unquoted: string | null = null;

  constructor(
    private readonly scan: MarkerScan,
    private readonly quote: string,
  ) {}

  object(start: number, depth: number): Located<JsonObject> | null {
    const { scan } = this;
    const members = new Map<string, JsonValue>();
    if (depth > MAX_DEPTH || scan.body[start] !== '{') return null;
    let at = scan.skipSpace(start + 1);
    while (scan.body[at] !== '}') {
      const key = this.quoted(at) ?? this.bare(at);
      if (key === null || key.value === '') return null;
      at = scan.skipSpace(key.end);
      if (scan.body[at] !== ':') return null;
      const value = this.value(scan.skipSpace(at + 1), depth + 1);
      if (value === null) return null;
      members.set(key.value, value.value);
      at = scan.skipSpace(value.end);
      if (scan.body[at] === ',') at = scan.skipSpace(at + 1);
      else if (scan.body[at] !== '}') return null;
    }
    return { value: members, end: at + 1 };
  }

  private value(start: number, depth: number): Located<JsonValue> | null {
    const { body } = this.scan;
    if (body[start] === '{') return this.object(start, depth);
    if (body[start] === '[') return this.list(start, depth);
    const quoted = this.quoted(start);
    if (quoted !== null) return quoted;
    const bare = this.bare(start);
    if (bare === null || bare.value === '') return null;
    const word = WORDS.get(bare.value);
    if (word !== undefined) return { value: word, end: bare.end };
    const number = readNumber(bare.value);
    if (number !== undefined) return { value: number, end: bare.end };
    this.unquoted ??= bare.value;
    return bare;
  }

  private list(start: number, depth: number): Located<JsonValue> | null {
    const { scan } = this;
    const items: JsonValue[] = [];
    if (depth > MAX_DEPTH) return null;
    let at = scan.skipSpace(start + 1);
    while (scan.body[at] !== ']') {
      const item = this.value(at, depth + 1);
      if (item === null) return null;
      items.push(item.value);
      at = scan.skipSpace(item.end);
      if (scan.body[at] === ',') at = scan.skipSpace(at + 1);
      else if (scan.body[at] !== ']') return null;
    }
    return { value: items, end: at + 1 };
  }

  private quoted(start: number): Located<string> | null {
    for (const quote of [this.quote, '"']) {
      if (quote === this.quote ? !this.scan.here(quote, start) : this.scan.body[start] !== quote) continue;
      const from = start + quote.length;
      const end = quote === this.quote ? this.scan.next(quote, from) : this.scan.body.indexOf(quote, from);
      return end < 0 ? null : { value: this.scan.body.slice(from, end), end: end + quote.length };
    }
    return null;
  }

  private bare(start: number): Located<string> | null {
    BARE.lastIndex = start;
    const found = BARE.exec(this.scan.body)?.[0];
    return found === undefined ? null : { value: found.trim(), end: BARE.lastIndex };
  }
}
