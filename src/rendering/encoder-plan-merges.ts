import { MergeTable } from './bpe-merges.js';
import { UnsupportedPattern } from './encoder-regex.js';
import type { ModelDefinition } from './tokenizer-definition.js';

/** Ranks share a double with positions. */
const MERGES_MAX = 1 << 21;

/** Id of a token. @throws UnsupportedPattern where the vocabulary lacks it */
export function knownId(vocabulary: ReadonlyMap<string, number>, token: string): number {
  const id = vocabulary.get(token);
  if (id === undefined) throw new UnsupportedPattern(`the vocabulary lacks ${JSON.stringify(token)}`);
  return id;
}

/** The model's merges. @param each told of every merge @throws UnsupportedPattern */
export function readMerges(
  model: ModelDefinition,
  vocabulary: ReadonlyMap<string, number>,
  each: (left: string, right: string) => void = () => {},
): MergeTable {
  const merges = model.merges ?? [];
  if (merges.length > MERGES_MAX) throw new UnsupportedPattern(`${merges.length} merges`);
  const table = new MergeTable(merges.length);
  for (let rank = 0; rank < merges.length; rank++) {
    const merge = merges[rank]!;
    const space = typeof merge === 'string' ? merge.indexOf(' ') : 0;
    const left = typeof merge === 'string' ? merge.slice(0, space) : merge[0];
    const right = typeof merge === 'string' ? merge.slice(space + 1) : merge[1];
    table.add(knownId(vocabulary, left), knownId(vocabulary, right), rank, knownId(vocabulary, left + right));
    each(left, right);
  }
  return table;
}
