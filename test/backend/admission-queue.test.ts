import { describe, expect, it } from 'vitest';
import { AdmissionQueue, type Waiting } from '../../src/backend/admission-queue.js';

interface Call extends Waiting {
  readonly name: string;
}
const call = (sessionId: string, sinceMs: number, name = sessionId): Call => ({ sessionId, sinceMs, name });

/** Takes the next call as a dispatcher does. */
function take(queue: AdmissionQueue<Call>): string | null {
  const next = queue.next();
  if (next === null) return null;
  queue.started(next);
  queue.remove(next);
  return next.name;
}

describe('AdmissionQueue', () => {
  it('serves the oldest session first, and a session in order', () => {
    const queue = new AdmissionQueue<Call>(10);
    for (const one of [call('young', 9), call('old', 1, 'old 1'), call('old', 1, 'old 2'), call('middle', 5)]) queue.add(one);
    const order = [];
    for (let name = take(queue); name !== null; name = take(queue)) order.push(name);
    expect(order).toEqual(['old 1', 'middle', 'young', 'old 2']);
  });

  it('serves a session with fewer running calls before an older one with more', () => {
    const queue = new AdmissionQueue<Call>(10);
    queue.add(call('old', 1, 'old 1'));
    take(queue);
    queue.add(call('old', 1, 'old 2'));
    queue.add(call('young', 9));
    expect(queue.next()?.name).toBe('young');
    queue.ended('old');
    expect(queue.next()?.name).toBe('old 2');
  });

  it('is bounded, except for calls that come again to the front', () => {
    const queue = new AdmissionQueue<Call>(1);
    expect(queue.add(call('a', 1, 'first'))).toBe(true);
    expect(queue.add(call('a', 1, 'refused'))).toBe(false);
    expect(queue.add(call('a', 1, 'again'), true)).toBe(true);
    expect(queue.length).toBe(2);
    expect(take(queue)).toBe('again');
  });

  it('forgets calls that were taken out', () => {
    const queue = new AdmissionQueue<Call>(10);
    const one = call('a', 1);
    queue.add(one);
    expect(queue.remove(one)).toBe(true);
    expect(queue.remove(one)).toBe(false);
    expect([...queue]).toEqual([]);
    expect(queue.next()).toBeNull();
  });
});
