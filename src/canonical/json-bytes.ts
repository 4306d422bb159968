/**
 * Where things end in the bytes of a JSON text, without reading them. Only as strict as finding an end needs: what lies between
 * must still be read by `parseJson` before it counts as JSON.
 */

const QUOTE = 34;
const COMMA = 44;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/** The offset of the first byte from `at` on that is no white space; the length where there is none. */
export function skipJsonSpace(bytes: Uint8Array, at: number): number {
  let offset = at;
  while (isSpace(bytes[offset])) offset++;
  return offset;
}

/** One past the string that begins at `at`; the length where it has no end. */
export function endOfJsonString(bytes: Uint8Array, at: number): number {
  const { length } = bytes;
  let offset = at + 1;
  while (offset < length) {
    const byte = bytes[offset]!;
    if (byte === QUOTE) return offset + 1;
    offset += byte === BACKSLASH ? 2 : 1;
  }
  return length;
}

/** One past the value that begins at `at`; the length where it has no end. A number or word ends where a delimiter stands. */
export function endOfJsonValue(bytes: Uint8Array, at: number): number {
  const first = bytes[at];
  if (first === QUOTE) return endOfJsonString(bytes, at);
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return endOfContainer(bytes, at);
  let offset = at;
  while (offset < bytes.length && !isDelimiter(bytes[offset])) offset++;
  return offset;
}

function endOfContainer(bytes: Uint8Array, at: number): number {
  const { length } = bytes;
  let depth = 0;
  let offset = at;
  while (offset < length) {
    const byte = bytes[offset]!;
    if (byte === QUOTE) {
      offset = endOfJsonString(bytes, offset);
      continue;
    }
    offset++;
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if ((byte === CLOSE_BRACE || byte === CLOSE_BRACKET) && --depth === 0) return offset;
  }
  return length;
}

/** Whether the value that begins at `at` shows its own end: equal bytes are then an equal value, whatever follows. */
export function showsItsEnd(bytes: Uint8Array, at: number): boolean {
  const first = bytes[at];
  return first === QUOTE || first === OPEN_BRACE || first === OPEN_BRACKET;
}

/** Whether a number or word is over before this byte; `undefined` is the end of the text. */
export const isDelimiter = (byte: number | undefined): boolean =>
  byte === undefined || byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || isSpace(byte);

const isSpace = (byte: number | undefined): boolean => byte === 32 || byte === 10 || byte === 13 || byte === 9;
