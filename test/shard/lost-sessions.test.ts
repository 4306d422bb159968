import { describe, expect, test } from 'vitest';
import { LostSessions } from '../../src/shard/lost-sessions.js';
import type { SessionOutline } from '../../src/shard/session-outlines.js';
import { decodeSession, encodeSession } from '../../src/shard/trace-msgpack.js';

const outline = (sessionId: string, more: Partial<SessionOutline> = {}): SessionOutline => ({
  sessionId,
  life: '0',
  implicit: false,
  openedAtMs: 1000,
  rolloutId: 'r',
  groupId: 'g',
  sampleIndex: 3,
  state: 'open',
  turns: 2,
  tokens: 40,
  ...more,
});
const idsOf = (text: string): string[] => (JSON.parse(text) as { session_id: string }[]).map(({ session_id }) => session_id);

describe('sessions that were lost with their shard', () => {
  test('are leased without rows, with what is known, until they are acknowledged', () => {
    const lost = new LostSessions(60_000, 10);
    lost.add(outline('b', { state: 'finished' }), 5000);
    lost.add(outline('a', { turns: 0, tokens: 0 }), 6000);
    const [first, second] = lost.lease('one', 10, 8000, 7000);
    expect(first).toEqual({
      session_id: 'b',
      traces: [],
      summary: expect.objectContaining({
        opened_at: 1,
        finished_at: 5,
        turns: 2,
        rows: 0,
        tokens: { sampled: 40, committed: 40, trained: 0, discarded: {} },
        capture_yield: 0,
        capture_error: expect.stringContaining('crashed'),
      }),
      failed: {
        state: 'failed',
        error: 'session_lost',
        lost_state: 'finished',
        lost_at: 5,
        implicit: false,
        opened_at: 1,
        turns: 2,
        tokens: { committed: 40 },
        rollout_id: 'r',
        group_id: 'g',
        sample_index: 3,
      },
    });
    expect(second).toMatchObject({ session_id: 'a', summary: { capture_yield: 1 }, failed: { lost_state: 'open' } });
    expect(JSON.parse(lost.state('b', 7000)!)).toEqual({ session_id: 'b', ...first!.failed });
    expect(lost.lease('two', 10, 9000, 7500)).toEqual([]);
    // The lease has run out: once more.
    expect(lost.lease('three', 10, 10_000, 8500).map(({ session_id }) => session_id)).toEqual(['b', 'a']);
    expect(lost.ack('three', [], 9000)).toEqual({ acked: 2, unknown: [], gone: ['b', 'a'] });
    expect([lost.has('a', 9000), lost.state('b', 9000), lost.page(null, 10, 9000)]).toEqual([false, null, '[]']);
  });

  test('are acknowledged by their ids too, and unknown names are told', () => {
    const lost = new LostSessions(60_000, 10);
    for (const id of ['a', 'b', 'c']) lost.add(outline(id), 0);
    expect(lost.ack(null, ['b', 'nobody'], 1)).toEqual({ acked: 1, unknown: ['nobody'], gone: ['b'] });
    expect(lost.ack('no lease', [], 1)).toEqual({ acked: 0, unknown: ['no lease'], gone: [] });
    expect(idsOf(lost.page('a', 10, 1))).toEqual(['c']);
    expect(idsOf(lost.page(null, 1, 1))).toEqual(['a']);
    lost.delete('a');
    expect(lost.lease('l', 10, 100, 1).map(({ session_id }) => session_id)).toEqual(['c']);
  });

  test('are forgotten after their time, and the oldest beyond their number', () => {
    const lost = new LostSessions(1000, 2);
    for (const [at, id] of ['a', 'b', 'c'].entries()) lost.add(outline(id), at * 100);
    expect(idsOf(lost.page(null, 10, 300))).toEqual(['b', 'c']);
    expect([lost.has('b', 1100), lost.has('b', 1101), lost.has('c', 1101)]).toEqual([true, false, true]);
    lost.add(outline('c'), 1150);
    expect(idsOf(lost.page(null, 10, 2000))).toEqual(['c']);
    expect(lost.lease('k', 10, 2050, 2000)).toHaveLength(1);
    expect(lost.lease('l', 10, 5000, 3000)).toEqual([]);
  });

  test('are told life by life where an id had several', () => {
    const lost = new LostSessions(60_000, 10);
    lost.add(outline('a', { state: 'finished', turns: 1 }), 0);
    lost.add(outline('a', { turns: 2 }), 0);
    expect(JSON.parse(lost.state('a', 1)!)).toMatchObject({ lost_state: 'open', turns: 2 });
    expect(lost.lease('first', 1, 100, 1)).toMatchObject([{ session_id: 'a', failed: { lost_state: 'finished', turns: 1 } }]);
    expect(lost.ack('first', [], 2)).toEqual({ acked: 1, unknown: [], gone: [] });
    expect(lost.has('a', 2)).toBe(true);
    expect(lost.lease('second', 9, 100, 3)).toMatchObject([{ session_id: 'a', failed: { lost_state: 'open', turns: 2 } }]);
    expect(lost.ack('second', [], 4)).toEqual({ acked: 1, unknown: [], gone: ['a'] });
    expect(lost.has('a', 4)).toBe(false);
  });

  test('are the same in every encoding that has room for them', () => {
    const lost = new LostSessions(1000, 2);
    lost.add(outline('a', { rolloutId: null }), 0);
    const [session] = lost.lease('l', 1, 10, 1);
    expect(decodeSession(encodeSession(session!, 'msgpack'))).toEqual(session);
    expect(JSON.parse(Buffer.from(encodeSession(session!, 'json')).toString())).toEqual(session);
    expect(encodeSession(session!, 'ndjson')).toHaveLength(0);
  });
});
