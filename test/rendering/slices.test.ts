import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadModelDirectory } from '../../src/rendering/model-directory.js';
import { nextSlice } from '../../src/rendering/slices.js';
import { isControlToken } from '../../src/rendering/special-tokens.js';
import { loadTokenizer } from '../../src/rendering/tokenizer.js';
import { FIXTURE_NAMES, FIXTURES } from '../support/tokenizer-fixtures.js';

/** Counts turns of the event loop while it runs. */
class LoopTurns {
  count = 0;
  #next: NodeJS.Immediate = setImmediate(() => this.#turn());

  #turn(): void {
    this.count++;
    this.#next = setImmediate(() => this.#turn());
  }

  stop(): void {
    clearImmediate(this.#next);
  }
}

describe('long works of a thread', () => {
  it('go on one at a time, in order, each in a turn of the event loop of its own', async () => {
    const turns = new LoopTurns();
    const slices: { work: number; turn: number }[] = [];
    const works = [0, 1, 2].map(async (work) => {
      for (let slice = 0; slice < 4; slice++) {
        await nextSlice();
        slices.push({ work, turn: turns.count });
      }
    });
    await Promise.all(works);
    turns.stop();
    expect(slices.map(({ work }) => work)).toEqual([0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2]);
    expect(new Set(slices.map(({ turn }) => turn)).size).toBe(12);
  });

  it.each(FIXTURE_NAMES)('let others in between short sections of a long text, with the tokenizer %s', async (name) => {
    const tokenizer = loadTokenizer(loadModelDirectory(join(FIXTURES, name)));
    const border = tokenizer.addedTokens.find(isControlToken)!;
    const sections = 300;
    const text = `${border.content}a word`.repeat(sections);
    const turns = new LoopTurns();
    const ids = await tokenizer.encodeInSlices(text, 0);
    turns.stop();
    expect(turns.count).toBeGreaterThanOrEqual(sections);
    expect(ids).toEqual(tokenizer.encode(text));
  });
});
