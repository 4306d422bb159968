import type { CharacterClasses } from './encoder-classes.js';
import { type RegexNode, UnsupportedPattern } from './encoder-regex.js';

const STATES_MAX = 4096;
const INSTRUCTIONS_MAX = 4096;

/**
 * A deterministic automaton that finds what a backtracking matcher would find at a place: the first alternative that fits, greedy
 * or lazy as written. `table[state + class]` is `next << 1 | accepted`: `accepted` says that the text before this character is a
 * match; a later one overrides it. State 0 is the end. The class after the last is the end of the text.
 */
export interface Automaton {
  readonly table: Int32Array;
  readonly start: number;
  readonly endOfText: number;
}

type Instruction =
  | { readonly op: 'take'; readonly source: string; next: number }
  | { readonly op: 'ahead'; readonly source: string; readonly negated: boolean; readonly next: number }
  | { readonly op: 'fork'; first: number; second: number }
  | { readonly op: 'match' };

/** The classes that a pattern names. */
export function classSources(node: RegexNode): readonly string[] {
  if (node.kind === 'class' || node.kind === 'ahead') return [node.source];
  if (node.kind === 'repeat') return classSources(node.item);
  return (node.kind === 'choice' ? node.options : node.items).flatMap(classSources);
}

/** @throws UnsupportedPattern where the automaton grows too large or the pattern matches the empty text. */
export function compileAutomaton(pattern: RegexNode, classes: CharacterClasses): Automaton {
  const program: Instruction[] = [{ op: 'match' }];
  const entry = assemble(pattern, 0, program);
  const width = classes.count + 1;
  const endOfText = classes.count;
  const matches = (source: string, at: number): boolean => at !== endOfText && classes.has(at, source);

  // A state is the list of the matcher's threads, best first, before their looks at the next character are decided.
  const states: (readonly number[])[] = [[]];
  const numbers = new Map<string, number>([['', 0]]);
  const numberOf = (threads: readonly number[]): number => {
    const key = threads.join(' ');
    let number = numbers.get(key);
    if (number === undefined) {
      number = states.push(threads) - 1;
      if (number > STATES_MAX) throw new UnsupportedPattern('a pattern that needs too many states');
      numbers.set(key, number);
    }
    return number;
  };
  const follow = (at: number, into: number[], seen: Set<number>): void => {
    if (seen.has(at)) return;
    seen.add(at);
    const instruction = program[at]!;
    if (instruction.op !== 'fork') {
      into.push(at);
      return;
    }
    follow(instruction.first, into, seen);
    follow(instruction.second, into, seen);
  };
  const step = (threads: readonly number[], at: number): { readonly next: number; readonly accepted: boolean } => {
    const next: number[] = [];
    const nextSeen = new Set<number>();
    const seen = new Set<number>();
    const queue = [...threads];
    while (queue.length > 0) {
      const thread = queue.shift()!;
      if (seen.has(thread)) continue;
      seen.add(thread);
      const instruction = program[thread]!;
      if (instruction.op === 'match') return { next: numberOf(next), accepted: true };
      if (instruction.op === 'take') {
        if (matches(instruction.source, at)) follow(instruction.next, next, nextSeen);
      } else if (instruction.op === 'ahead' && matches(instruction.source, at) !== instruction.negated) {
        const beyond: number[] = [];
        follow(instruction.next, beyond, new Set());
        queue.unshift(...beyond);
      }
    }
    return { next: numberOf(next), accepted: false };
  };

  const initial: number[] = [];
  follow(entry, initial, new Set());
  const start = numberOf(initial) * width;
  const rows: number[] = new Array(width).fill(0);
  for (let state = 1; state < states.length; state++) {
    for (let at = 0; at < width; at++) {
      const { next, accepted } = step(states[state]!, at);
      if (accepted && state * width === start) throw new UnsupportedPattern('a pattern that matches the empty text');
      rows.push(((at === endOfText ? 0 : next * width) << 1) | (accepted ? 1 : 0));
    }
  }
  return { table: Int32Array.from(rows), start, endOfText };
}

/** Appends the program of `node` that goes on to `next`; gives its entry. */
function assemble(node: RegexNode, next: number, program: Instruction[]): number {
  if (program.length > INSTRUCTIONS_MAX) throw new UnsupportedPattern('a pattern that is too long');
  switch (node.kind) {
    case 'class':
      return program.push({ op: 'take', source: node.source, next }) - 1;
    case 'ahead':
      return program.push({ op: 'ahead', source: node.source, negated: node.negated, next }) - 1;
    case 'sequence':
      return node.items.reduceRight((after, item) => assemble(item, after, program), next);
    case 'choice':
      return node.options
        .map((option) => assemble(option, next, program))
        .reduceRight((second, first) => program.push({ op: 'fork', first, second }) - 1);
    case 'repeat': {
      const fork = (inside: number, outside: number): Instruction =>
        node.greedy ? { op: 'fork', first: inside, second: outside } : { op: 'fork', first: outside, second: inside };
      let entry = next;
      if (node.max === Number.POSITIVE_INFINITY) {
        const loop = program.push({ op: 'fork', first: next, second: next }) - 1;
        program[loop] = fork(assemble(node.item, loop, program), next);
        entry = loop;
      } else {
        for (let i = node.min; i < node.max; i++) entry = program.push(fork(assemble(node.item, entry, program), next)) - 1;
      }
      for (let i = 0; i < node.min; i++) entry = assemble(node.item, entry, program);
      return entry;
    }
  }
}
