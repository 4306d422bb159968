import { NativeFunction, PyObject, type Value } from './object.js';
import { raise, typeError } from './python-error.js';
import { isStr, strText } from './values.js';

/** What `str.encode` gives. */
export class Bytes extends PyObject {
  override readonly typeName = 'bytes';
  constructor(readonly data: Uint8Array) {
    super();
  }
  override repr(): string {
    let body = '';
    for (const byte of this.data) body += byteText(byte);
    const quote = body.includes("'") && !body.includes('"') ? '"' : "'";
    return `b${quote}${quote === "'" ? body.replaceAll("'", "\\'") : body}${quote}`;
  }
  override length(): number {
    return this.data.length;
  }
  override iterate(): Iterator<Value> {
    return this.data[Symbol.iterator]();
  }
  override get subscriptable(): boolean {
    return true;
  }
  override getItem(key: Value): Value | undefined {
    if (typeof key !== 'number' || !Number.isInteger(key)) return undefined;
    return this.data[key < 0 ? key + this.data.length : key];
  }
  override equals(other: Value): boolean {
    return other instanceof Bytes && Buffer.compare(this.data, other.data) === 0;
  }
  override hashKey(): unknown {
    return `\0b${Buffer.from(this.data).toString('latin1')}`;
  }
  override getAttribute(name: string): Value | undefined {
    if (name === 'decode') return new NativeFunction('decode', () => new TextDecoder('utf-8', { ignoreBOM: true }).decode(this.data));
    if (name === 'hex') return new NativeFunction('hex', () => Buffer.from(this.data).toString('hex'));
    return undefined;
  }
}

function byteText(byte: number): string {
  if (byte === 0x5c) return '\\\\';
  if (byte === 9) return '\\t';
  if (byte === 10) return '\\n';
  if (byte === 13) return '\\r';
  return byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`;
}

/** `text.encode(encoding, errors)` for UTF-8 and ASCII. */
export function encode(text: string, [encoding = 'utf-8', errors = 'strict']: readonly (Value | undefined)[]): Bytes {
  if (!isStr(encoding) || !isStr(errors)) typeError('encode() arguments must be str');
  const name = strText(encoding).toLowerCase().replaceAll('_', '-');
  if (name === 'ascii' || name === 'us-ascii') {
    if (/[^\x00-\x7f]/.test(text)) raise('UnicodeEncodeError', "'ascii' codec can't encode characters");
  } else if (name !== 'utf-8' && name !== 'utf8') raise('LookupError', `unknown encoding: ${name}`);
  if (!text.isWellFormed()) raise('UnicodeEncodeError', "'utf-8' codec can't encode characters: surrogates not allowed");
  return new Bytes(new TextEncoder().encode(text));
}
