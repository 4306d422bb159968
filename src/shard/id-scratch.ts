/** Memory for a prompt that is copied at once by whoever is given it: one for the whole thread, so that a turn makes none. */
export class IdScratch {
  #ids = new Int32Array(4096);

  /** Not cleared; valid until the next call. */
  take(length: number): Int32Array {
    if (length > this.#ids.length) this.#ids = new Int32Array(Math.ceil(length * 1.5));
    return this.#ids.subarray(0, length);
  }
}
