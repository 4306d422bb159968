import { type AddedToken, isControlToken } from './special-tokens.js';

/** Text on both sides of an added token that a tokenizer would treat otherwise if it looked over the token. */
const SIDES = ['', 'a', 'word', ' ', '  ', '\n', ' \n', '\n\n', '1', '.', ' x', '’s', '漢', 'é', 'e\u0301', '\u0301', '<', '>', '|'];
const PROBED_TOKENS_MAX = 16;

/**
 * Whether encoding may start at any control token: the ids of a text are those of its part before the token followed by those of the
 * rest. The token's flags and its overlaps with others decide what can be decided so; what the stages behind do is tried out.
 */
export function startsAtControlTokens(tokens: readonly AddedToken[], encode: (text: string) => Int32Array): boolean {
  const control = tokens.filter(isControlToken);
  if (control.length === 0 || control.some((token) => token.lstrip || token.singleWord) || overlaps(tokens, control)) return false;
  const step = Math.ceil(control.length / PROBED_TOKENS_MAX);
  for (let t = 0; t < control.length; t += step) {
    const { content } = control[t]!;
    for (const [index, before] of SIDES.entries()) {
      const after = SIDES[(index * 7 + t) % SIDES.length]!;
      for (const rest of [content + after, content + content + before]) {
        if (!equalsParts(encode(before + rest), encode(before), encode(rest))) return false;
      }
    }
  }
  return true;
}

/** Whether one of `control` can begin inside another token, so that the longest match from the left would run over its beginning. */
function overlaps(tokens: readonly AddedToken[], control: readonly AddedToken[]): boolean {
  const contents = new Set(control.map((token) => token.content));
  const prefixes = new Set(control.flatMap(({ content }) => Array.from(content, (_, length) => content.slice(0, length))));
  for (const { content } of tokens) {
    for (let start = 1; start < content.length; start++) {
      for (let end = start + 1; end <= content.length; end++) {
        const part = content.slice(start, end);
        if (contents.has(part) || (end === content.length && prefixes.has(part))) return true;
        if (!prefixes.has(part)) break;
      }
    }
  }
  return false;
}

function equalsParts(whole: Int32Array, head: Int32Array, tail: Int32Array): boolean {
  if (whole.length !== head.length + tail.length) return false;
  for (let i = 0; i < head.length; i++) if (whole[i] !== head[i]) return false;
  for (let i = 0; i < tail.length; i++) if (whole[head.length + i] !== tail[i]) return false;
  return true;
}
