import { expect, it } from 'vitest';
import { unitsOf } from '../../src/rendering/encoder-buffers.js';

it('units of a text are the same in room that was used before, and have an array of their own where it is too small', () => {
  const room = new Uint16Array(300).fill(0xffff);
  for (const length of [0, 1, 199, 200, 300, 301]) {
    const text = 'aß漢😀'.repeat(100).slice(0, length);
    const units = unitsOf(text, room);
    expect([...units]).toEqual([...text.split('')].map((unit) => unit.charCodeAt(0)));
    expect(units.buffer === room.buffer).toBe(length <= 300);
    expect(unitsOf(text)).toEqual(units.slice());
  }
});
