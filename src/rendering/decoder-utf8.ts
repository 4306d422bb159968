/**
 * Number of bytes at the end that begin a character which more bytes could complete. The ranges of second bytes are those of
 * the Unicode standard, table 3-7 (well-formed UTF-8).
 */
export function incompleteTail(bytes: Uint8Array): number {
  const { length } = bytes;
  for (let back = 1; back <= 3 && back <= length; back++) {
    const byte = bytes[length - back]!;
    if (byte < 0x80) return 0;
    if (byte < 0xc0) continue;
    const needed = byte < 0xc2 ? 0 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : byte < 0xf5 ? 4 : 0;
    if (back >= needed) return 0;
    return back === 1 || isSecondByte(byte, bytes[length - back + 1]!) ? back : 0;
  }
  return 0;
}

function isSecondByte(lead: number, second: number): boolean {
  if (lead === 0xe0) return second >= 0xa0;
  if (lead === 0xed) return second < 0xa0;
  if (lead === 0xf0) return second >= 0x90;
  if (lead === 0xf4) return second < 0x90;
  return true;
}

/**
 * Counts the UTF-16 units of the text that bytes decode to, each maximal ill-formed part counting as one U+FFFD. Bytes of a character
 * that is not complete are not counted yet.
 */
export class Utf16Counter {
  units = 0;
  private missing = 0;
  private length = 0;
  private lowest = 0x80;
  private highest = 0xbf;

  add(bytes: Uint8Array, start: number, end: number): void {
    for (let i = start; i < end; i++) {
      const byte = bytes[i]!;
      if (this.missing > 0) {
        if (byte >= this.lowest && byte <= this.highest) {
          this.lowest = 0x80;
          this.highest = 0xbf;
          if (--this.missing === 0) this.units += this.length === 4 ? 2 : 1;
          continue;
        }
        this.units++;
        this.missing = 0;
      }
      if (byte < 0xc2 || byte > 0xf4) {
        this.units++;
        continue;
      }
      this.length = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
      this.missing = this.length - 1;
      this.lowest = byte === 0xe0 ? 0xa0 : byte === 0xf0 ? 0x90 : 0x80;
      this.highest = byte === 0xed ? 0x9f : byte === 0xf4 ? 0x8f : 0xbf;
    }
  }
}
