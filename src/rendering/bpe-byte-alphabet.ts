/**
 * ByteLevel's alphabet (GPT-2's `bytes_to_unicode`): printable Latin-1 characters stand for their own byte, the other bytes take
 * the characters from U+0100 on, in order.
 */
export const BYTE_OF_CHARACTER: ReadonlyMap<string, number> = new Map(
  Array.from({ length: 256 }, (_, byte) => byte)
    .sort((a, b) => Number(isPrintable(b)) - Number(isPrintable(a)) || a - b)
    .map((byte, index, all) => [String.fromCharCode(isPrintable(byte) ? byte : 0x100 + index - all.filter(isPrintable).length), byte]),
);

function isPrintable(byte: number): boolean {
  return (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
}

/** Characters of the alphabet by byte. */
export const CHARACTER_OF_BYTE: readonly string[] = (() => {
  const characters: string[] = new Array(256);
  for (const [character, byte] of BYTE_OF_CHARACTER) characters[byte] = character;
  return characters;
})();

const byteOfUnit = new Int16Array(0x200).fill(-1);
for (const [character, byte] of BYTE_OF_CHARACTER) byteOfUnit[character.charCodeAt(0)] = byte;

/** The bytes that a token of the alphabet stands for, `null` where another character is in it. */
export function bytesOfToken(token: string): Uint8Array | null {
  const bytes = new Uint8Array(token.length);
  for (let i = 0; i < token.length; i++) {
    const byte = byteOfUnit[token.charCodeAt(i)] ?? -1;
    if (byte < 0) return null;
    bytes[i] = byte;
  }
  return bytes;
}
