import type { ReasoningTags } from './reasoning-split.js';

/** What a chat template prints and takes, found by rendering probes through it. */
export interface TemplateTraits {
  /** The form of a call's arguments that the template takes. */
  readonly argumentsAs: 'dict' | 'string';
  /** Whether arguments given as a string are printed as they are, so that a sampled spelling survives. */
  readonly keepsArgumentText: boolean;
  /** Delimiters of reasoning; `null` where the template knows of none. */
  readonly reasoning: ReasoningTags | null;
  /** The member of a message that the template reads reasoning from. */
  readonly reasoningKey: 'reasoning_content' | 'thinking' | 'reasoning' | null;
  /** What the generation prompt prints before anything that opens or closes reasoning. */
  readonly assistantOpener: string;
  readonly acceptsToolRole: boolean;
  /** Whether a system message after the first turn is printed in its place. */
  readonly takesMidListSystem: boolean;
  readonly printsToolCallIds: boolean;
  /** Whether the template refuses ids of calls that are not nine letters or digits (Mistral). */
  readonly needsNineCharacterIds: boolean;
  /** Texts that end an assistant's turn, without white space; the variable end token is not among them. */
  readonly turnEnds: readonly string[];
  /** Whether a turn ends with the template's variable end token. */
  readonly endsWithVariable: boolean;
  /** First control texts of the turns that can follow an assistant's. They stop a model whose turns have no end. */
  readonly nextTurnOpeners: readonly string[];
  /** White space that a reply without reasoning begins with. */
  readonly contentLead: string;
}

/**
 * Whether a prompt leaves reasoning open, decided by its end: behind the last opening of an assistant's turn, the last
 * tag of reasoning is an opening one. Where that opening is not in `promptTail`, the tail must end with the tag.
 */
export function reasoningOpenAfter(promptTail: string, traits: Pick<TemplateTraits, 'reasoning' | 'assistantOpener'>): boolean {
  const tags = traits.reasoning;
  if (tags === null) return false;
  const opener = traits.assistantOpener.trim();
  const turn = opener === '' ? -1 : promptTail.lastIndexOf(opener);
  if (turn < 0) return promptTail.trimEnd().endsWith(tags.open);
  const open = promptTail.lastIndexOf(tags.open);
  return open >= turn && open > promptTail.lastIndexOf(tags.close);
}
