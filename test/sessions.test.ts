import { describe, expect, test, vi } from 'vitest';
import { resolveSettings } from '../src/config-load.js';
import { Sessions } from '../src/sessions.js';
import { encodeSession } from '../src/shard/trace-msgpack.js';
import type { FinishedSession } from '../src/trainer/trace-encoding.js';
import { ScriptedLink } from './front/scripted-link.js';

/** Sessions in process over a link of two shards. */
function sessionsUnderTest() {
  const link = new ScriptedLink();
  return { link, sessions: new Sessions(link, resolveSettings({}), { url: 'http://x', keyOf: (id) => id }) };
}

describe('a lease in process that waits', () => {
  test('sees a session that is finished while the shards are asked', async () => {
    const { link, sessions } = sessionsUnderTest();
    const summary = { turns: 0 } as unknown as FinishedSession['summary'];
    const piece = encodeSession({ session_id: 'late', traces: [], summary }, 'msgpack');
    let looks = 0;
    link.onTrainer = (shard) => {
      if (shard === 1) link.announceFinished();
      return { kind: 'traces', status: 200, sessions: shard === 0 && ++looks === 2 ? [piece] : [] };
    };
    const leased = await sessions.lease({ waitMs: 600_000 });
    expect(leased.sessions.map(({ session_id }) => session_id)).toEqual(['late']);
    expect(link.finishedListeners).toBe(0);
  });

  test('ends when its time is up, though the clock was set back', async () => {
    const { link, sessions } = sessionsUnderTest();
    link.onTrainer = () => ({ kind: 'traces', status: 200, sessions: [] });
    const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() - 60_000);
    try {
      expect(await sessions.lease({ waitMs: 30 })).toEqual({ lease_id: null, expires_at: null, sessions: [] });
    } finally {
      clock.mockRestore();
    }
    expect(link.finishedListeners).toBe(0);
  });
});
