import type { EnginePool } from '../backend/engine-pool.js';
import type { EngineOrder } from '../trainer/calls.js';
import type { EngineWork } from './messages.js';

/**
 * Does in one shard what a trainer has ordered of the engines. What is ordered holds at once; the promise waits for running calls where
 * the order says so, and tells what is left of them.
 */
export async function carryOut(engine: EnginePool, order: EngineOrder, slot: number): Promise<EngineWork> {
  switch (order.kind) {
    case 'tell':
      break;
    case 'pause':
      await within(order.waitMs, engine.pause(order.mode));
      break;
    case 'resume':
      await engine.resume(order.weightVersion ?? undefined);
      break;
    case 'add_replica':
      engine.addReplica(order.url, slot);
      break;
    case 'remove_replica':
      await within(order.waitMs, engine.removeReplica(order.url));
      break;
  }
  // Turns take their results in after the calls have ended.
  await new Promise((resolve) => setImmediate(resolve));
  return engine.work();
}

async function within(waitMs: number, done: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, waitMs);
  });
  await Promise.race([done, timeout]);
  clearTimeout(timer);
}
