/** The thread side of a shard: the function that Piscina runs. Its one task lasts as long as the shard lives. */
import { Shard } from './shard.js';
import type { ShardTask } from './shard-start.js';

/** Beats within `shard.hangMs`, but a sleeping thread is not to be woken more often than need be. */
const BEATS = 20;
const PULSE_MS = { min: 20, max: 250 };

export default async function live({ start, port, pulse }: ShardTask): Promise<void> {
  const beat = new Int32Array(pulse);
  const pulseMs = Math.min(PULSE_MS.max, Math.max(PULSE_MS.min, start.settings.shard.hangMs / BEATS));
  const timer = setInterval(() => Atomics.add(beat, 0, 1), pulseMs);
  const shard = new Shard(start, port);
  try {
    await shard.live();
  } finally {
    clearInterval(timer);
  }
}
