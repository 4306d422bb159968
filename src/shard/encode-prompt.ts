import type { PlainSpans } from '../rendering/encoder-added-tokens.js';
import type { LoadedModel } from '../rendering/model.js';
import type { BuiltPrompt } from '../rendering/prompt-builder.js';
import { type AddedToken, isControlToken } from '../rendering/special-tokens.js';
import type { TurnRecord } from '../trajectory/turn.js';

/** Texts longer than this are encoded in slices, so that other sessions of the shard get their turn. */
const SLICED_TEXT_LENGTH = 32_768;
const SLICE_MS = 2;

/** Encodes what a built prompt leaves to encode, so that it follows the base's ids as it follows its text. */
export async function encodePrompt(built: BuiltPrompt, base: TurnRecord | null, model: LoadedModel): Promise<Int32Array> {
  const { continues, tail, stopText } = built;
  if (base === null || !continues) return encode(tail, model);
  // Alone, a tail would be taken for the beginning of a text, to which some tokenizers add a space.
  const lead = stopText === '' ? model.tokenizer.addedTokens.find(leavesAlone) : { content: stopText, id: base.sampled.outputIds.at(-1) };
  if (lead !== undefined) {
    const ids = await encode(lead.content + tail, model);
    if (ids[0] === lead.id) return ids.subarray(1);
  }
  return encode(tail, model);
}

/** @param marked with the marks of users' special-token strings */
function encode(marked: string, { marks, tokenizer }: LoadedModel): Int32Array | Promise<Int32Array> {
  const { text, plain } = marks === null ? { text: marked, plain: NO_SPANS } : marks.unmark(marked);
  if (text.length > SLICED_TEXT_LENGTH) return tokenizer.encodeInSlices(text, SLICE_MS, plain);
  return plain.length === 0 ? tokenizer.encode(text) : tokenizer.encodeWithPlainSpans(text, plain);
}

/** Whether the text behind a token is encoded as if it stood behind any text. */
const leavesAlone = (token: AddedToken): boolean => token.special && !token.rstrip && !token.normalized && isControlToken(token);

const NO_SPANS: PlainSpans = [];
