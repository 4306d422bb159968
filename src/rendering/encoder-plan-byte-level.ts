import { ByteAlphabet } from './bpe-alphabet.js';
import { bytesOfToken, CHARACTER_OF_BYTE } from './bpe-byte-alphabet.js';
import { ByteVocabulary } from './bpe-vocabulary.js';
import { classSources, compileAutomaton } from './encoder-automaton.js';
import type { BpeParts } from './encoder-bpe.js';
import { classifyCharacters } from './encoder-classes.js';
import { knownId, readMerges } from './encoder-plan-merges.js';
import { literalRegex, parseRegex, type RegexNode, UnsupportedPattern } from './encoder-regex.js';
import { PieceSplitter } from './encoder-splitter.js';
import { asObject } from './model-directory-fields.js';
import type { Component, TokenizerDefinition } from './tokenizer-definition.js';

interface Stage {
  readonly pattern: RegexNode;
  readonly dropsGaps: boolean;
  readonly dropsMatches: boolean;
}

/** GPT-2's pattern, which ByteLevel applies itself unless told otherwise. */
const BYTE_LEVEL_PATTERN = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

/** Splits by patterns, then ByteLevel, then plain BPE (Qwen, Llama 3, gpt-oss, DeepSeek, tekken). @throws UnsupportedPattern */
export function readByteLevel(
  { pre_tokenizer: preTokenizer, model }: TokenizerDefinition,
  vocabulary: ReadonlyMap<string, number>,
): { readonly parts: BpeParts; readonly reason: string } {
  const patterns = readStages(preTokenizer);
  const classes = classifyCharacters([...new Set(patterns.flatMap((stage) => classSources(stage.pattern)))]);
  const stages = patterns.map((stage) => ({ ...stage, automaton: compileAutomaton(stage.pattern, classes) }));
  const idOfByte = Int32Array.from(CHARACTER_OF_BYTE, (character) => knownId(vocabulary, character));
  const alphabet = new ByteAlphabet(idOfByte, model.ignore_merges === true ? byteVocabulary(vocabulary) : null);
  return {
    parts: { newSplitter: () => new PieceSplitter(stages, classes), alphabet, merges: readMerges(model, vocabulary), prepare: null },
    reason: `splits in ${stages.length} ${stages.length === 1 ? 'stage' : 'stages'}, then BPE of bytes`,
  };
}

function byteVocabulary(vocabulary: ReadonlyMap<string, number>): ByteVocabulary {
  const tokens: (readonly [Uint8Array, number])[] = [];
  for (const [token, id] of vocabulary) {
    const bytes = bytesOfToken(token);
    if (bytes !== null) tokens.push([bytes, id]);
  }
  return new ByteVocabulary(tokens);
}

function readStages(preTokenizer: Component | null | undefined): readonly Stage[] {
  const parts =
    preTokenizer?.type === 'Sequence' ? (preTokenizer.pretokenizers as readonly Component[]) : preTokenizer ? [preTokenizer] : [];
  const byteLevel = parts.at(-1);
  if (byteLevel?.type !== 'ByteLevel') throw new UnsupportedPattern('the pre-tokenizer does not end with ByteLevel');
  if (byteLevel.add_prefix_space === true) throw new UnsupportedPattern('ByteLevel adds a space');
  const stages = parts.slice(0, -1).map(readStage);
  if (byteLevel.use_regex !== false) stages.push({ pattern: parseRegex(BYTE_LEVEL_PATTERN), dropsGaps: false, dropsMatches: false });
  if (stages.length === 0) throw new UnsupportedPattern('the pre-tokenizer does not split');
  return stages;
}

function readStage(part: Component): Stage {
  const isolated = (pattern: RegexNode): Stage => ({ pattern, dropsGaps: false, dropsMatches: false });
  if (part.type === 'Digits') return isolated(parseRegex(part.individual_digits === true ? '\\p{N}' : '\\p{N}+'));
  if (part.type === 'Punctuation' && (part.behavior ?? 'Isolated') === 'Isolated') return isolated(parseRegex('[\\p{P}$+<=>^`|~]'));
  if (part.type !== 'Split') throw new UnsupportedPattern(`the pre-tokenizer has a ${part.type} stage`);
  const { Regex: regex, String: literal } = asObject(part.pattern) ?? {};
  if (typeof regex !== 'string' && typeof literal !== 'string') throw new UnsupportedPattern('a Split stage without a pattern');
  const pattern = typeof regex === 'string' ? parseRegex(regex) : literalRegex(literal as string);
  const inverted = part.invert === true;
  if (part.behavior === 'Isolated') return isolated(pattern);
  if (part.behavior === 'Removed') return { pattern, dropsGaps: inverted, dropsMatches: !inverted };
  throw new UnsupportedPattern(`a Split stage with the behavior ${part.behavior}`);
}
