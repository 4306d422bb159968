import type { ByteVocabulary } from './bpe-vocabulary.js';

/** The symbols that byte-pair encoding starts from. */
export interface Alphabet {
  /** Writes the symbols of a piece of well-formed UTF-16 into `symbols`, which has three places for each unit; gives their number. */
  symbols(units: Uint16Array, start: number, end: number, symbols: Int32Array): number;
  /** Id of a piece that the model takes as it is, merges or not; -1 for all others. */
  wholePiece(units: Uint16Array, start: number, end: number): number;
}

/** Every byte of the UTF-8 text is a symbol (ByteLevel). */
export class ByteAlphabet implements Alphabet {
  private bytes = new Uint8Array(1024);

  /** @param idOfByte token of each byte @param wholePieces tokens that are taken whole (`ignore_merges`), else `null` */
  constructor(
    private readonly idOfByte: Int32Array,
    private readonly wholePieces: ByteVocabulary | null,
  ) {}

  symbols(units: Uint16Array, start: number, end: number, symbols: Int32Array): number {
    const { idOfByte } = this;
    let length = 0;
    for (let i = start; i < end; i++) {
      let point = units[i]!;
      if (point < 0x80) {
        symbols[length++] = idOfByte[point]!;
        continue;
      }
      if (point < 0x800) {
        symbols[length++] = idOfByte[0xc0 | (point >> 6)]!;
      } else {
        if ((point & 0xfc00) === 0xd800) {
          point = 0x10000 + ((point & 0x3ff) << 10) + (units[++i]! & 0x3ff);
          symbols[length++] = idOfByte[0xf0 | (point >> 18)]!;
          symbols[length++] = idOfByte[0x80 | ((point >> 12) & 0x3f)]!;
        } else {
          symbols[length++] = idOfByte[0xe0 | (point >> 12)]!;
        }
        symbols[length++] = idOfByte[0x80 | ((point >> 6) & 0x3f)]!;
      }
      symbols[length++] = idOfByte[0x80 | (point & 0x3f)]!;
    }
    return length;
  }

  wholePiece(units: Uint16Array, start: number, end: number): number {
    if (this.wholePieces === null) return -1;
    if (this.bytes.length < (end - start) * 3) this.bytes = new Uint8Array((end - start) * 3);
    return this.wholePieces.find(this.bytes, writeUtf8(units, start, end, this.bytes));
  }
}

/** Every character is a symbol; one that the vocabulary lacks is the symbols of its bytes (byte fallback). */
export class CharacterAlphabet implements Alphabet {
  /** By UTF-16 unit; -1 where the vocabulary lacks the character. */
  private readonly idOfUnit = new Int32Array(0x10000).fill(-1);
  private readonly idOfPoint = new Map<number, number>();
  private readonly bytes: ByteAlphabet;

  /** @param characters tokens that are one character @param idOfByte token `<0x..>` of each byte */
  constructor(characters: Iterable<readonly [string, number]>, idOfByte: Int32Array) {
    for (const [character, id] of characters) {
      if (character.length === 1) this.idOfUnit[character.charCodeAt(0)] = id;
      else this.idOfPoint.set(character.codePointAt(0)!, id);
    }
    this.bytes = new ByteAlphabet(idOfByte, null);
  }

  symbols(units: Uint16Array, start: number, end: number, symbols: Int32Array): number {
    let length = 0;
    for (let i = start; i < end; i++) {
      const unit = units[i]!;
      const isPair = (unit & 0xfc00) === 0xd800;
      const id = isPair ? (this.idOfPoint.get(0x10000 + ((unit & 0x3ff) << 10) + (units[i + 1]! & 0x3ff)) ?? -1) : this.idOfUnit[unit]!;
      const next = isPair ? i + 2 : i + 1;
      if (id >= 0) symbols[length++] = id;
      else length += this.bytes.symbols(units, i, next, symbols.subarray(length));
      i = next - 1;
    }
    return length;
  }

  wholePiece(): number {
    return -1;
  }
}

/** Writes well-formed UTF-16 as UTF-8; gives the number of bytes. */
function writeUtf8(units: Uint16Array, start: number, end: number, bytes: Uint8Array): number {
  let length = 0;
  for (let i = start; i < end; i++) {
    let point = units[i]!;
    if (point < 0x80) {
      bytes[length++] = point;
      continue;
    }
    if (point < 0x800) {
      bytes[length++] = 0xc0 | (point >> 6);
    } else {
      if ((point & 0xfc00) === 0xd800) {
        point = 0x10000 + ((point & 0x3ff) << 10) + (units[++i]! & 0x3ff);
        bytes[length++] = 0xf0 | (point >> 18);
        bytes[length++] = 0x80 | ((point >> 12) & 0x3f);
      } else {
        bytes[length++] = 0xe0 | (point >> 12);
      }
      bytes[length++] = 0x80 | ((point >> 6) & 0x3f);
    }
    bytes[length++] = 0x80 | (point & 0x3f);
  }
  return length;
}
