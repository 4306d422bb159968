import { endOfNumber, MAX_INTEGER_DIGITS, numberValue } from './json-number.js';
import type { JsonValue } from './json-value.js';
import { decodeUtf8 } from './utf8.js';

export interface JsonLimits {
  /** Nesting of arrays and objects; default {@link DEFAULT_JSON_DEPTH}, at most {@link MAX_JSON_DEPTH}. */
  readonly depth?: number;
  /** Whether `NaN`, `Infinity` and `-Infinity` are numbers, as they are to Python; default false. */
  readonly allowNonFinite?: boolean;
}

export const DEFAULT_JSON_DEPTH = 512;
/** More would endanger the stack of a thread. */
export const MAX_JSON_DEPTH = 2000;
/** `position` counts UTF-16 units of the text, or bytes where the bytes are no UTF-8. */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError';
  constructor(
    readonly reason: string,
    readonly position: number,
  ) {
    super(`${reason} at position ${position}`);
  }
}

/**
 * Reads one JSON text as Python's `json.loads` does: see {@link JsonValue} for what numbers and objects become. Lone
 * surrogates written as escapes are kept. Strings of the result own their memory and do not keep `text` alive.
 * @throws JsonSyntaxError
 */
export function parseJson(text: string, limits: JsonLimits = {}): JsonValue {
  const reader = new Reader(text, Math.min(limits.depth ?? DEFAULT_JSON_DEPTH, MAX_JSON_DEPTH), limits.allowNonFinite ?? false);
  return reader.document();
}

/**
 * As {@link parseJson}, of the value that begins at `start` in a longer text; what follows its `end` is not looked at.
 * @param start where the value's first unit stands, no white space
 */
export function parseJsonPart(text: string, start: number, limits: JsonLimits = {}): { readonly value: JsonValue; readonly end: number } {
  const reader = new Reader(text, Math.min(limits.depth ?? DEFAULT_JSON_DEPTH, MAX_JSON_DEPTH), limits.allowNonFinite ?? false);
  return reader.part(start);
}

/** As {@link parseJson}, of UTF-8. Invalid UTF-8 and a byte order mark are refused. */
export function parseJsonBytes(bytes: Uint8Array, limits: JsonLimits = {}): JsonValue {
  const text = decodeUtf8(bytes);
  if (typeof text !== 'string') throw new JsonSyntaxError('the bytes are not UTF-8', text.invalidAt);
  return parseJson(text, limits);
}

const QUOTE = 34;
const BACKSLASH = 92;
const COMMA = 44;
const COLON = 58;
const MINUS = 45;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
/** V8 copies slices shorter than this; longer ones would keep the whole text alive. */
const COPIED_SLICE = 13;
/** Member names seen lately, found by length and two letters, so that a repeated name is neither copied nor hashed again. */
const nameCache: string[] = new Array<string>(512).fill('');
const MAX_CACHED_NAME = 40;

class Reader {
  private position = 0;
  private depth = 0;

  constructor(
    private readonly text: string,
    private readonly maxDepth: number,
    private readonly allowNonFinite: boolean,
  ) {}

  document(): JsonValue {
    if (this.text.charCodeAt(0) === 0xfeff) throw new JsonSyntaxError('a byte order mark stands before the value', 0);
    const value = this.value(this.skipSpace());
    this.skipSpace();
    if (this.position < this.text.length) this.fail('something follows the value');
    return value;
  }

  part(start: number): { readonly value: JsonValue; readonly end: number } {
    this.position = start;
    const value = this.value(this.text.charCodeAt(start));
    return { value, end: this.position };
  }

  private fail(reason: string, position = this.position): never {
    throw new JsonSyntaxError(reason, position);
  }

  /** Moves to the next unit that is no white space and gives it, NaN at the end. */
  private skipSpace(): number {
    const text = this.text;
    let position = this.position;
    let unit = text.charCodeAt(position);
    while (unit === 32 || unit === 10 || unit === 13 || unit === 9) unit = text.charCodeAt(++position);
    this.position = position;
    return unit;
  }

  private value(unit: number): JsonValue {
    switch (unit) {
      case QUOTE:
        return this.string();
      case OPEN_BRACE:
        return this.object();
      case OPEN_BRACKET:
        return this.array();
      case 116:
        return this.word('true', true);
      case 102:
        return this.word('false', false);
      case 110:
        return this.word('null', null);
      case 78:
        return this.nonFinite('NaN', Number.NaN);
      case 73:
        return this.nonFinite('Infinity', Number.POSITIVE_INFINITY);
      default:
        return this.number();
    }
  }

  private word<T extends JsonValue>(word: string, value: T): T {
    if (!this.text.startsWith(word, this.position)) this.fail('a value is missing');
    this.position += word.length;
    return value;
  }

  private nonFinite(word: string, value: number): number {
    if (!this.text.startsWith(word, this.position)) this.fail('a value is missing');
    if (!this.allowNonFinite) this.fail(`${word} is not a JSON number`);
    this.position += word.length;
    return value;
  }

  private enter(): void {
    if (++this.depth > this.maxDepth) this.fail(`arrays and objects are nested deeper than ${this.maxDepth}`);
    this.position++;
  }

  private array(): JsonValue[] {
    this.enter();
    const items: JsonValue[] = [];
    let unit = this.skipSpace();
    if (unit === CLOSE_BRACKET) {
      this.position++;
    } else {
      for (;;) {
        items.push(this.value(unit));
        unit = this.skipSpace();
        this.position++;
        if (unit === CLOSE_BRACKET) break;
        if (unit !== COMMA) this.fail('a comma or the end of the array is missing', this.position - 1);
        unit = this.skipSpace();
      }
    }
    this.depth--;
    return items;
  }

  private object(): Map<string, JsonValue> {
    this.enter();
    const members = new Map<string, JsonValue>();
    let unit = this.skipSpace();
    if (unit === CLOSE_BRACE) {
      this.position++;
    } else {
      for (;;) {
        if (unit !== QUOTE) this.fail('a member name in double quotes is missing');
        const name = this.memberName();
        if (this.skipSpace() !== COLON) this.fail('a colon after the member name is missing');
        this.position++;
        members.set(name, this.value(this.skipSpace()));
        unit = this.skipSpace();
        this.position++;
        if (unit === CLOSE_BRACE) break;
        if (unit !== COMMA) this.fail('a comma or the end of the object is missing', this.position - 1);
        unit = this.skipSpace();
      }
    }
    this.depth--;
    return members;
  }

  private memberName(): string {
    const text = this.text;
    const start = this.position + 1;
    const limit = start + MAX_CACHED_NAME;
    let end = start;
    let unit = text.charCodeAt(end);
    while (unit !== QUOTE) {
      if (!(unit >= 32) || unit === BACKSLASH || end === limit) return this.string();
      unit = text.charCodeAt(++end);
    }
    const length = end - start;
    if (length === 0) {
      this.position = end + 1;
      return '';
    }
    const slot = (length * 31 + text.charCodeAt(start) * 7 + text.charCodeAt(end - 1)) & 511;
    const cached = nameCache[slot]!;
    if (cached.length === length && text.startsWith(cached, start)) {
      this.position = end + 1;
      return cached;
    }
    const name = this.string();
    nameCache[slot] = name;
    return name;
  }

  private string(): string {
    const text = this.text;
    const start = this.position + 1;
    let end = start;
    const limit = start + COPIED_SLICE - 1;
    for (; end < limit; end++) {
      const unit = text.charCodeAt(end);
      if (unit === QUOTE) {
        this.position = end + 1;
        return text.slice(start, end);
      }
      if (!(unit >= 32) || unit === BACKSLASH) break;
    }
    end = this.closingQuote(end);
    this.position = end + 1;
    return this.decode(start, end);
  }

  /** The quote that no escape hides, from a position in front of which no escape is open. */
  private closingQuote(from: number): number {
    const text = this.text;
    let end = text.indexOf('"', from);
    for (;;) {
      if (end === -1) return this.fail('the string that starts here has no end', this.position);
      let slashes = end;
      while (slashes > from && text.charCodeAt(slashes - 1) === BACKSLASH) slashes--;
      if (((end - slashes) & 1) === 0) return end;
      end = text.indexOf('"', end + 1);
    }
  }

  /** The built-in reader knows the same escapes, keeps lone surrogates and copies at the speed of memory. */
  private decode(start: number, end: number): string {
    try {
      return JSON.parse(this.text.slice(start - 1, end + 1)) as string;
    } catch {
      return this.failInString(start, end);
    }
  }

  private failInString(start: number, end: number): never {
    const text = this.text;
    for (let at = start; at < end; at++) {
      const unit = text.charCodeAt(at);
      if (unit < 32) this.fail('a control character stands unescaped in a string', at);
      if (unit !== BACKSLASH) continue;
      const letter = text[at + 1] as string;
      if (letter === 'u') {
        if (!/^[0-9a-fA-F]{4}$/.test(text.slice(at + 2, at + 6))) this.fail('\\u needs four hexadecimal digits', at);
        at += 5;
      } else if ('"\\/bfnrt'.includes(letter)) at++;
      else this.fail(`\\${letter} is no escape of JSON`, at);
    }
    return this.fail('the string cannot be read', start);
  }

  private number(): JsonValue {
    const start = this.position;
    const end = endOfNumber(this.text, start);
    if (end === start) return this.negativeInfinity();
    const value = numberValue(this.text, start, end);
    if (value === undefined) this.fail(`an integer has ${end - start} digits, more than ${MAX_INTEGER_DIGITS}`);
    this.position = end;
    return value;
  }

  private negativeInfinity(): number {
    if (this.text.charCodeAt(this.position) !== MINUS) this.fail('a value is missing');
    return this.nonFinite('-Infinity', Number.NEGATIVE_INFINITY);
  }
}
