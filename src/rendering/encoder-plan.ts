import { bytesOfToken, CHARACTER_OF_BYTE } from './bpe-byte-alphabet.js';
import { MergeTable } from './bpe-merges.js';
import { ByteVocabulary } from './bpe-vocabulary.js';
import { classSources, compileAutomaton } from './encoder-automaton.js';
import type { ByteLevelBpe } from './encoder-byte-level.js';
import { classifyCharacters } from './encoder-classes.js';
import { literalRegex, parseRegex, type RegexNode, UnsupportedPattern } from './encoder-regex.js';
import { asObject } from './model-directory-fields.js';
import type { Component, ModelDefinition } from './tokenizer-definition.js';

/** What the fast path does with a tokenizer, or why the library encodes it. */
export type EncoderPlan = { readonly bpe: ByteLevelBpe } | { readonly reason: string };

interface Stage {
  readonly pattern: RegexNode;
  readonly dropsGaps: boolean;
  readonly dropsMatches: boolean;
}

/** GPT-2's pattern, which ByteLevel applies itself unless told otherwise. */
const BYTE_LEVEL_PATTERN = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";
/** Ranks share a double with positions. */
const MERGES_MAX = 1 << 21;

/**
 * Decides by the tokenizer's own definition: splits by patterns that an automaton can match, then ByteLevel, then plain BPE.
 * @param vocabulary ids of the model's own tokens
 */
export function planEncoder(
  preTokenizer: Component | null | undefined,
  model: ModelDefinition,
  vocabulary: ReadonlyMap<string, number>,
): EncoderPlan {
  try {
    const stages = readStages(preTokenizer);
    const parts = readModel(model, vocabulary);
    const classes = classifyCharacters([...new Set(stages.flatMap((stage) => classSources(stage.pattern)))]);
    return {
      bpe: {
        ...parts,
        classes,
        stages: stages.map(({ pattern, dropsGaps, dropsMatches }) => ({
          automaton: compileAutomaton(pattern, classes),
          dropsGaps,
          dropsMatches,
        })),
      },
    };
  } catch (error) {
    if (error instanceof UnsupportedPattern) return { reason: error.message };
    throw error;
  }
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

function readModel(model: ModelDefinition, ids: ReadonlyMap<string, number>): Omit<ByteLevelBpe, 'stages' | 'classes'> {
  const { vocab, merges } = model;
  if ((model.type ?? 'BPE') !== 'BPE' || Array.isArray(vocab) || merges === undefined)
    throw new UnsupportedPattern(`the model is ${model.type}`);
  for (const member of ['dropout', 'continuing_subword_prefix', 'end_of_word_suffix']) {
    if (model[member]) throw new UnsupportedPattern(`the model has ${member}`);
  }
  if (new Set(ids.values()).size !== ids.size) throw new UnsupportedPattern('two tokens share an id');
  if (merges.length > MERGES_MAX) throw new UnsupportedPattern(`${merges.length} merges`);
  const known = (token: string): number => {
    const id = ids.get(token);
    if (id === undefined) throw new UnsupportedPattern(`the vocabulary lacks ${JSON.stringify(token)}`);
    return id;
  };
  const table = new MergeTable(merges.length);
  for (const [rank, merge] of merges.entries()) {
    const [left, right] = typeof merge === 'string' ? halves(merge) : merge;
    table.add(known(left), known(right), rank, known(left + right));
  }
  const tokens: (readonly [Uint8Array, number])[] = [];
  if (model.ignore_merges === true) {
    for (const [token, id] of ids) {
      const bytes = bytesOfToken(token);
      if (bytes !== null) tokens.push([bytes, id]);
    }
  }
  return {
    idOfByte: Int32Array.from(CHARACTER_OF_BYTE, known),
    merges: table,
    wholePieces: model.ignore_merges === true ? new ByteVocabulary(tokens) : null,
  };
}

function halves(merge: string): readonly [string, string] {
  const space = merge.indexOf(' ');
  return [merge.slice(0, space), merge.slice(space + 1)];
}
