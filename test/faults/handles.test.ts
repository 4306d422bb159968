import { afterAll, expect, test } from 'vitest';
import { randomPolicy } from '../../src/sim/policy.js';
import { startFlow, until } from '../support/flow.js';
import { runFleet } from './fleet.js';
import { HASTY, SEEDS } from './options.js';
import { closeSockets } from './sdk-call.js';

/** Sockets, servers, ports, timers and threads that keep this process alive, by kind. */
function handles(): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

const waitingTurns = async (url: string): Promise<unknown> =>
  ((await (await fetch(`${url}/engines`)).json()) as { waiting_turns: unknown }).waiting_turns;

afterAll(closeSockets);

test.each(SEEDS)('nothing that was opened stays open, after faults, pauses and a crash (seed %i)', async (seed) => {
  const run = async (): Promise<void> => {
    const flow = await startFlow({
      sim: {
        seed,
        policy: randomPolicy(6),
        faults: [
          { kind: 'http_503', rate: 0.1 },
          { kind: 'reset_mid', rate: 0.1 },
          { kind: 'stall', rate: 0.05, ms: 100 },
        ],
      },
      settings: { ...HASTY, test: { faults: true } },
    });
    await runFleet(flow, [flow.sim], { name: 'handles', seed, sessions: 12, turns: 2, leaves: 0.2, leaveMs: 20 });
    await fetch(`${flow.url}/engines/pause`, { method: 'POST', body: '{"mode":"abort"}' });
    const waiting = flow.post('/v1/chat/completions', 'waits', { model: 'm', messages: [{ role: 'user', content: 'x' }] });
    // One that its shard had not begun would be told to try again.
    await until(async () => (await waitingTurns(flow.url)) === 1, 'the turn waits in its shard');
    flow.gateway.crashShard(0, 'throw');
    await until(() => !flow.gateway.readiness.ready, 'a shard is gone');
    flow.gateway.crashShard(1, 'exit');
    expect((await waiting).status).toBe(403);
    await flow.gateway.ready(20_000);
    await flow.close();
    closeSockets();
  };
  await run();
  // The pool of Node's own fetch stays; what a second run adds to it does not.
  await new Promise((resolve) => setTimeout(resolve, 5000));
  const before = handles();
  await run();
  const more = (): string[] => Object.entries(handles()).flatMap(([kind, count]) => (count > (before[kind] ?? 0) ? [kind] : []));
  await until(() => more().length === 0, `nothing is left: ${JSON.stringify([before, handles()])}`, 30_000);
});
