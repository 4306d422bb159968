import { Buffer } from 'node:buffer';

/** Token ids that grow at the end; `take` gives a copy of its own and empties it. With room for the text that is being encoded. */
export class IdBuffer {
  readonly units = new Uint16Array(UNITS_KEPT);
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
/** The new text of most turns. Longer ones pay for an array more. */
const UNITS_KEPT = 1 << 16;

/** The UTF-16 units of a text, in an array of its own or at the start of `room` if they fit. */
export function unitsOf(text: string, room?: Uint16Array<ArrayBuffer>): Uint16Array<ArrayBuffer> {
  const units = room !== undefined && text.length <= room.length ? room.subarray(0, text.length) : new Uint16Array(text.length);
  if (text.length < SHORT_TEXT) {
    for (let i = 0; i < text.length; i++) units[i] = text.charCodeAt(i);
    return units;
  }
  Buffer.from(units.buffer, units.byteOffset, units.byteLength).write(text, 'utf16le');
  return units;
}

/** Below this a loop is faster than a call into the runtime. */
const SHORT_TEXT = 200;
