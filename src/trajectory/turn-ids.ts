import type { PromptDelta, SampledTurn, TurnRecord } from './turn.js';

export const outputLength = (turn: TurnRecord): number => turn.sampled.outputIds.length;
export const fullLength = (turn: TurnRecord): number => turn.promptLength + turn.sampled.outputIds.length;

const newArray = (length: number): Int32Array => new Int32Array(length);

/** The whole prompt, in an array that `make` gives; newly made where it is not said. */
export function promptIds(prompt: PromptDelta, make: (length: number) => Int32Array = newArray): Int32Array {
  const ids = make(prompt.promptLength);
  copyPrompt(prompt, prompt.promptLength, ids);
  return ids;
}

/** Prompt and output, newly made. */
export function fullIds(turn: TurnRecord): Int32Array {
  const ids = new Int32Array(fullLength(turn));
  copyPrompt(turn, turn.promptLength, ids);
  ids.set(turn.sampled.outputIds, turn.promptLength);
  return ids;
}

/** Writes the first `end` ids of a prompt. Costs the ids copied and one step per turn of the chain of bases. */
function copyPrompt(prompt: PromptDelta, end: number, into: Int32Array): void {
  eachPiece(prompt, end, (piece, start) => {
    into.set(piece, start);
    return true;
  });
}

/** Calls `visit` with pieces of the first `end` ids, last piece first, until it says `false`. */
function eachPiece(prompt: PromptDelta, end: number, visit: (piece: Int32Array, start: number) => boolean): void {
  let current: PromptDelta = prompt;
  let left = end;
  while (left > 0) {
    const { base, baseLength, delta } = current;
    if (left > baseLength && !visit(delta.subarray(0, left - baseLength), baseLength)) return;
    if (base === null) return;
    left = Math.min(left, baseLength);
    if (left > base.promptLength && !visit(base.sampled.outputIds.subarray(0, left - base.promptLength), base.promptLength)) return;
    left = Math.min(left, base.promptLength);
    current = base;
  }
}

/** Number of leading ids that `ids` shares with a turn's prompt and output. Compares in place, no copy of the prompt. */
export function commonWithTurn(ids: Int32Array, turn: TurnRecord): number {
  let common = Math.min(ids.length, fullLength(turn));
  const compare = (piece: Int32Array, start: number): boolean => {
    const length = Math.min(piece.length, common - start);
    if (length > 0) {
      const same = commonPrefix(ids.subarray(start, start + length), piece);
      if (same < length) common = start + same;
    }
    return true;
  };
  compare(turn.sampled.outputIds, turn.promptLength);
  eachPiece(turn, turn.promptLength, compare);
  return common;
}

/** Number of leading ids that two arrays share. */
export function commonPrefix(a: Int32Array, b: Int32Array): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return i;
  return length;
}

/** The array itself where it has its memory to itself, else a copy: a view would keep a larger buffer alive. */
export function owned<A extends Int32Array | Float32Array>(array: A): A {
  return array.byteLength === array.buffer.byteLength ? array : (array.slice() as A);
}

/** Whether two prompts are the same ids. */
export function samePrompt(a: PromptDelta, b: PromptDelta): boolean {
  if (a.promptLength !== b.promptLength) return false;
  if (a.base === b.base && a.baseLength === b.baseLength) return commonPrefix(a.delta, b.delta) === a.delta.length;
  return commonPrefix(promptIds(a), promptIds(b)) === a.promptLength;
}

/** A sample whose arrays have their memory to themselves. */
export function ownedSample(sampled: SampledTurn): SampledTurn {
  const outputIds = owned(sampled.outputIds);
  const logprobs = owned(sampled.logprobs);
  return outputIds === sampled.outputIds && logprobs === sampled.logprobs ? sampled : { ...sampled, outputIds, logprobs };
}
