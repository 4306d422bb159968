import { describe, expect, it } from 'vitest';
import { type Candidate, place, rendezvousScore } from '../../src/backend/placement.js';

const candidates = (count: number, changes: (index: number) => Partial<Candidate> = () => ({})): Candidate[] =>
  Array.from({ length: count }, (_, index) => ({ url: `http://engine-${index}:8000`, load: 0, hasRoom: true, ...changes(index) }));
const none = new Set<Candidate>();

describe('place', () => {
  it('spreads sessions evenly', () => {
    const all = candidates(4);
    const counts = new Map<string, number>();
    for (let session = 0; session < 4000; session++) {
      const { url } = place(all, `session-${session}`, none)!;
      counts.set(url, (counts.get(url) ?? 0) + 1);
    }
    for (const count of counts.values()) expect(count).toBeGreaterThan(900);
  });

  it('moves only the sessions of a replica that goes', () => {
    const all = candidates(4);
    const [gone, ...rest] = all;
    for (let session = 0; session < 200; session++) {
      const before = place(all, `s${session}`, none)!;
      if (before !== gone) expect(place(rest, `s${session}`, none)).toBe(before);
    }
  });

  it('takes the least loaded one with room when the own one is full', () => {
    const own = place(candidates(4), 's', none)!.url;
    const all = candidates(4, (index) => ({ load: 10 - index })).map((candidate) =>
      candidate.url === own ? { ...candidate, hasRoom: false, load: 0 } : candidate,
    );
    const expected = all.filter(({ url }) => url !== own).reduce((best, other) => (other.load < best.load ? other : best));
    expect(place(all, 's', none)).toBe(expected);
  });

  it('says that none has room', () => {
    expect(
      place(
        candidates(3, () => ({ hasRoom: false })),
        's',
        none,
      ),
    ).toBeNull();
    expect(place([], 's', none)).toBeNull();
  });

  it('goes to an avoided replica only when no other has room', () => {
    const all = candidates(2);
    const own = place(all, 's', none)!;
    const other = all.find((candidate) => candidate !== own)!;
    expect(place(all, 's', new Set([own]))).toBe(other);
    expect(place(all, 's', new Set(all))).not.toBeNull();
    const full = all.map((candidate) => (candidate === other ? { ...candidate, hasRoom: false } : candidate));
    expect(place(full, 's', new Set([own]))).toBe(own);
  });

  it('scores pairs differently where the border between session and URL moves', () => {
    expect(rendezvousScore('ab', 'c')).not.toBe(rendezvousScore('a', 'bc'));
  });
});
