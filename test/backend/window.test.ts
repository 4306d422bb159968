import { describe, expect, it } from 'vitest';
import { Window } from '../../src/backend/window.js';

const bounds = { initial: 8, min: 2, max: 100 };
const serve = (window: Window, calls: number, full = true): void => {
  for (let number = 0; number < calls; number++) window.served(full);
};

describe('Window', () => {
  it('doubles per round until the first refusal and then grows by a tenth per round, by one at least', () => {
    const window = new Window(bounds);
    serve(window, 8);
    expect(window.size).toBe(16);
    window.refused(window.round);
    expect(window.size).toBe(11);
    serve(window, 12);
    expect(window.size).toBe(12);
    const large = new Window({ initial: 200, min: 1, max: 1000 });
    large.refused(large.round);
    expect(large.size).toBe(140);
    serve(large, 141);
    expect(large.size).toBe(154);
    const small = new Window({ initial: 4, min: 1, max: 1000 });
    small.refused(small.round);
    serve(small, 3);
    expect(small.size).toBe(3);
    serve(small, 1);
    expect(small.size).toBe(4);
  });

  it('becomes what a replica can take when that says how many calls wait in it', () => {
    const window = new Window({ initial: 300, min: 2, max: 1000 });
    window.queued(30, 300);
    expect(window.size).toBe(300);
    window.queued(44, 300);
    expect(window.size).toBe(271);
    // The same reading again, while those that were sent before are still there.
    window.queued(44, 300);
    expect(window.size).toBe(269);
    window.queued(269, 270);
    expect(window.size).toBe(134);
    const { round } = window;
    window.queued(500, 140);
    window.refused(round);
    expect(window.size).toBe(67);
  });

  it('does not grow while it is not used up', () => {
    const window = new Window(bounds);
    serve(window, 50, false);
    expect(window.size).toBe(8);
  });

  it('is cut once for all refusals of a round', () => {
    const window = new Window(bounds);
    const { round } = window;
    for (let number = 0; number < 8; number++) window.refused(round);
    expect(window.size).toBe(5);
    window.refused(window.round);
    expect(window.size).toBe(3);
  });

  it('keeps its bounds', () => {
    const window = new Window(bounds);
    serve(window, 1000);
    expect(window.size).toBe(100);
    for (let number = 0; number < 50; number++) window.refused(window.round);
    expect(window.size).toBe(2);
    expect(new Window({ initial: 500, min: 1, max: 10 }).size).toBe(10);
  });
});
