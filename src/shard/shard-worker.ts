/** The thread side of a shard: the function that Piscina runs. Its one task lasts as long as the shard lives. */
import { Shard } from './shard.js';
import type { ShardTask } from './shard-start.js';

const PULSE_MS = 20;

export default async function live({ start, port, pulse }: ShardTask): Promise<void> {
  const beat = new Int32Array(pulse);
  const timer = setInterval(() => Atomics.add(beat, 0, 1), PULSE_MS);
  const shard = new Shard(start, port);
  try {
    await shard.live();
  } finally {
    clearInterval(timer);
  }
}
