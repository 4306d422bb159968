/** Everything random in the simulation comes from here, so that one seed and one prompt always give the same result. */

/** Mixes two 32-bit numbers into one (the finalizer of MurmurHash3 over their sum). */
export function mix(a: number, b: number): number {
  let h = Math.imul(a ^ (a >>> 16), 0x85ebca6b) ^ Math.imul(b + 0x9e3779b9, 0xc2b2ae35);
  h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d);
  h = Math.imul(h ^ (h >>> 13), 0x297a2d39);
  return (h ^ (h >>> 16)) >>> 0;
}

/** FNV-1a over the ids, one 32-bit step per id. */
export function hashIds(ids: ArrayLike<number>): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < ids.length; i++) h = Math.imul(h ^ ids[i]!, 0x01000193) ^ (h >>> 15);
  return h >>> 0;
}

export function hashText(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return h >>> 0;
}

/** A stream of numbers in [0, 1), the same for the same seed (mulberry32). */
export function randomStream(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/**
 * The log-probability of a sampled id, natural log, a float32 in (-9, 0).
 * It depends on nothing but its arguments: a test that knows prompt and output can compute it again.
 */
export function simLogprob(seed: number, promptHash: number, position: number, id: number): number {
  const u = mix(mix(mix(seed, promptHash), position), id) / 4294967296;
  return Math.fround(-9 * u ** 4 - 1e-5);
}
