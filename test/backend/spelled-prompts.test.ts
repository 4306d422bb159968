import { describe, expect, it } from 'vitest';
import { SpelledPrompts } from '../../src/backend/spelled-prompts.js';
import { SpelledIds } from '../../src/engines/spelled-ids.js';

function spelled(length: number): SpelledIds {
  const ids = new SpelledIds();
  ids.become(new Int32Array(length).fill(7));
  ids.body('');
  return ids;
}

describe('SpelledPrompts', () => {
  it('gives the last prompt of a session to one call at a time', () => {
    const prompts = new SpelledPrompts(1e6);
    const [first, second] = [spelled(600), spelled(700)];
    prompts.put('a', first);
    prompts.put('a', second);
    expect(prompts.bytes).toBe(second.bytesHeld);
    expect(prompts.take('a')).toBe(second);
    expect(prompts.take('a').ids).toHaveLength(0);
    expect(prompts.bytes).toBe(0);
    prompts.put('a', second);
    prompts.forget('a');
    expect(prompts.bytes).toBe(0);
  });

  it('forgets the session that was used least recently when it has too many bytes', () => {
    const prompts = new SpelledPrompts(2.5 * spelled(1000).bytesHeld);
    for (const session of ['a', 'b', 'a', 'c']) prompts.put(session, spelled(1000));
    expect(['a', 'b', 'c'].filter((session) => prompts.take(session).ids.length > 0)).toEqual(['a', 'c']);
  });

  it('gives the memory of a forgotten session to the next one, and never that of a call', () => {
    const prompts = new SpelledPrompts(8e6);
    const bufferOf = (ids: SpelledIds, length: number): ArrayBufferLike => {
      ids.become(new Int32Array(length).fill(7));
      return ids.body('').buffer;
    };
    const first = prompts.take('a');
    const buffer = bufferOf(first, 20_000);
    expect(bufferOf(prompts.take('b'), 20_000)).not.toBe(buffer);
    prompts.put('a', first);
    expect(bufferOf(prompts.take('c'), 20_000)).not.toBe(buffer);
    prompts.forget('a');
    const next = prompts.take('d');
    expect(bufferOf(next, 20_000)).toBe(buffer);
    expect(Buffer.from(next.body('{"ids":')).toString()).toBe(`{"ids":${JSON.stringify(new Array(20_000).fill(7))}}`);
  });

  it('does not keep one that is larger than all it may keep', () => {
    const prompts = new SpelledPrompts(100);
    prompts.put('large', spelled(1000));
    expect(prompts.bytes).toBe(0);
  });
});
