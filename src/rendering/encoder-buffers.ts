import { Buffer } from 'node:buffer';

/** Token ids that grow at the end; `take` gives a copy of its own and empties it. */
export class IdBuffer {
  ids = new Int32Array(1024);
  length = 0;

  push(id: number): void {
    if (this.length === this.ids.length) this.reserve(1);
    this.ids[this.length++] = id;
  }

  /** Makes room for `count` more ids; `ids` may be another array afterwards. */
  reserve(count: number): void {
    if (this.length + count <= this.ids.length) return;
    const grown = new Int32Array(Math.max(this.ids.length * 2, this.length + count));
    grown.set(this.ids.subarray(0, this.length));
    this.ids = grown;
  }

  take(): Int32Array {
    const ids = this.ids.slice(0, this.length);
    this.length = 0;
    if (this.ids.length > KEPT_IDS) this.ids = new Int32Array(1024);
    return ids;
  }
}

const KEPT_IDS = 1 << 18;

/** The UTF-16 units of a text; the array is the caller's own. */
export function unitsOf(text: string): Uint16Array {
  const units = new Uint16Array(text.length);
  if (text.length < SHORT_TEXT) {
    for (let i = 0; i < text.length; i++) units[i] = text.charCodeAt(i);
    return units;
  }
  Buffer.from(units.buffer).write(text, 'utf16le');
  return units;
}

/** Below this a loop is faster than a call into the runtime. */
const SHORT_TEXT = 200;
