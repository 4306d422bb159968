import { ALL_FAULTS, type FaultKind, isFaultKind } from '../../src/sim/faults.js';

const env = process.env;
const whole = (name: string, fallback: number): number => {
  const value = Number(env[name] ?? fallback);
  if (!Number.isInteger(value) || value < 1) throw new Error(`${name} must be a whole number above 0, got ${env[name]}`);
  return value;
};

/** `FAULT_SEED=7` or `1,2,3`: agents, faults and replies follow from it, so that a failed run can be repeated. */
export const SEEDS = (env.FAULT_SEED ?? '1').split(',').map(Number);
/** Sessions for each fault kind. */
export const SESSIONS = whole('FAULT_SESSIONS', 8);
export const TURNS = whole('FAULT_TURNS', 3);
export const ENGINES = (env.FAULT_ENGINE ?? 'vllm,sglang').split(',').map((name): 'vllm' | 'sglang' => {
  if (name !== 'vllm' && name !== 'sglang') throw new Error(`FAULT_ENGINE must be vllm or sglang, got ${name}`);
  return name;
});
export const KINDS: readonly FaultKind[] = (env.FAULT_KINDS ?? ALL_FAULTS.join(',')).split(',').map((kind) => {
  if (!isFaultKind(kind)) throw new Error(`FAULT_KINDS knows ${ALL_FAULTS.join(', ')}; got ${kind}`);
  return kind;
});
/** Sessions at once where all run together, and their turns. */
export const SCALE = whole('FAULT_SCALE', 60);
export const SCALE_TURNS = whole('FAULT_SCALE_TURNS', 4);
/** How often the same is done to one gateway, whose memory must come back. */
export const ROUNDS = whole('FAULT_ROUNDS', 3);
/** Mutated requests of the fuzz. */
export const FUZZ = whole('FAULT_FUZZ', 600);

/** Settings under which bad days pass quickly; silence is long, since a busy machine is no fault. */
export const HASTY = {
  shards: 2,
  log: { level: 'silent' },
  backend: { silenceTimeoutMs: 60_000, probeDownMs: 50, probeIntervalMs: 100, connectTimeoutMs: 1000, retries: 4 },
} as const;

/** One line of figures for whoever reads the run. */
export const report = (figures: object): void => void process.stdout.write(`${JSON.stringify(figures)}\n`);

/** Numbers from 0 to 1 by a seed (mulberry32). */
export function randomBy(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
