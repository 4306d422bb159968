/** Words of a tokenizer's vocabulary: what the engine replies and the tags by which a prompt chooses a reply. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Different replies per length. */
const REPLIES = 64;

/** Numbers in [0, 1), the same for the same seed (mulberry32). */
export function randomStream(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/**
 * Single tokens that are whole words, so that a text made of them has one tokenization: theirs.
 * Tags are words that no reply uses.
 */
export function loadWords(modelDir) {
  const { model, added_tokens: added } = JSON.parse(readFileSync(join(modelDir, 'tokenizer.json'), 'utf8'));
  const words = Object.entries(model.vocab)
    .filter(([token]) => /^Ġ[a-z]{3,9}$/.test(token))
    .map(([token, id]) => ({ id, text: ` ${token.slice(1)}` }))
    .sort((a, b) => a.id - b.id);
  const tags = words.slice(-REPLIES);
  const opener =
    Object.entries(model.vocab).find(([token]) => token === 'The') ?? Object.entries(model.vocab).find(([token]) => token === 'A');
  return {
    words: words.slice(0, Math.min(4000, words.length - REPLIES)),
    tags,
    opener: { id: opener[1], text: opener[0] },
    end: added.find(({ content }) => content === '<|im_end|>').id,
    tagById: new Map(tags.map(({ id }, i) => [id, i])),
    tagByText: new Map(tags.map(({ text }, i) => [text.trim(), i])),
  };
}

/** Reply number `which` of `tokens` tokens, the end token included: its ids, log-probabilities and text. */
export function reply({ words, opener, end }, which, tokens) {
  const random = randomStream(which * 7919 + tokens);
  const said = [opener, ...Array.from({ length: tokens - 2 }, () => words[Math.floor(random() * words.length)])];
  return {
    ids: [...said.map(({ id }) => id), end],
    logprobs: Array.from({ length: tokens }, () => Math.fround(-4 * random() ** 3 - 1e-5)),
    text: said.map(({ text }) => text).join(''),
  };
}
