import { RenderMemo } from '../jinja/template.js';

/** Of a prompt's text, what decides whether reasoning is open. */
const END_LENGTH = 2000;

/**
 * What the last render of a branch left behind, so that the next one costs what is new: the memo of its iterations and the end of its
 * text, never the text itself. Belongs to the turn whose prompt was rendered last with it; a render that leads to no turn takes it away.
 */
export class PromptMemory {
  readonly memo = new RenderMemo({ texts: 'drop' });
  /** UTF-16 units of the last text. */
  textLength = 0;
  /** The last units of it. */
  textEnd = '';

  rendered(reusedPrefixLength: number, tail: string): void {
    this.textLength = reusedPrefixLength + tail.length;
    this.textEnd = tail.slice(-END_LENGTH);
  }
}

export const textEndOf = (text: string): string => text.slice(-END_LENGTH);
