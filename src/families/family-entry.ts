import type { Family } from './family.js';
import type { ReasoningTags } from './reasoning-split.js';
import type { ReplyShape } from './reply-shape.js';

/** One assistant turn as a template prints it: words, reasoning where it has a place, and calls of the probe's tools. */
export interface TurnSample {
  /** Behind the generation prompt, with the end of the turn. */
  readonly text: string;
  /** Number of calls asked for, 1 or 2. */
  readonly calls: number;
  /** What ends a turn without calls, such as `<|im_end|>`; `null` where nothing is printed. */
  readonly turnEnd: string | null;
}

export type MakeFamily = (shape: ReplyShape) => Family;

/** A line of the registry. */
export interface FamilyEntry {
  readonly name: string;
  /** The family as its models' publishers print it, for use without a template. */
  readonly make: MakeFamily;
  /** Knows the grammar by what the template printed, and takes its tags from there; `null` where it is another grammar. */
  readonly recognise: (sample: TurnSample) => MakeFamily | null;
  /** Delimiters of reasoning where the grammar itself has them. */
  readonly reasoning?: ReasoningTags;
  /** Texts that end a turn where the grammar itself says so. */
  readonly turnEnds?: readonly string[];
  /** What its models' templates usually print around the parts of a reply, where it differs from Qwen3's. */
  readonly usual?: UsualShape;
}

export interface UsualShape extends Partial<ReplyShape> {
  /** Control texts that end a reply. */
  readonly stops?: readonly string[];
}

/** What the probe finds out: a grammar, and how to make it for the template at hand. */
export interface Recognised {
  readonly entry: FamilyEntry;
  readonly make: MakeFamily;
}
