import { describe, expect, it } from 'vitest';
import { SpelledPrompts } from '../../src/backend/spelled-prompts.js';
import { promptIdsJson } from '../../src/engines/prompt-ids-json.js';

const spelled = (length: number) => promptIdsJson(new Int32Array(length).fill(7));

describe('SpelledPrompts', () => {
  it('keeps the last prompt of a session', () => {
    const prompts = new SpelledPrompts(1e6);
    const [first, second] = [spelled(600), spelled(700)];
    prompts.set('a', first);
    prompts.set('a', second);
    expect(prompts.get('a')).toBe(second);
    prompts.forget('a');
    expect(prompts.get('a')).toBeUndefined();
    expect(prompts.bytes).toBe(0);
  });

  it('forgets the session that was used least recently when it has too many bytes', () => {
    const one = spelled(1000);
    const prompts = new SpelledPrompts(2.5 * (one.ids.byteLength + one.bytes.buffer.byteLength));
    for (const session of ['a', 'b', 'a', 'c']) prompts.set(session, spelled(1000));
    expect(['a', 'b', 'c'].filter((session) => prompts.get(session) !== undefined)).toEqual(['a', 'c']);
  });

  it('does not keep short prompts, nor one that is larger than all it may keep', () => {
    const prompts = new SpelledPrompts(100);
    prompts.set('short', spelled(10));
    prompts.set('large', spelled(1000));
    expect(prompts.bytes).toBe(0);
  });
});
