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

/** UTF-16 units of the text that these bytes decode to, each maximal ill-formed part counting as one U+FFFD. */
export function utf16Length(bytes: Uint8Array): number {
  let units = 0;
  for (let i = 0; i < bytes.length; ) {
    const lead = bytes[i]!;
    units++;
    i++;
    if (lead < 0xc2 || lead > 0xf4) continue;
    const more = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    let got = 0;
    while (got < more && i < bytes.length && (bytes[i]! & 0xc0) === 0x80 && (got > 0 || isSecondByte(lead, bytes[i]!))) {
      got++;
      i++;
    }
    if (more === 3 && got === 3) units++;
  }
  return units;
}
