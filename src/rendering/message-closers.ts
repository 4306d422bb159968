import type { AddedToken } from './special-tokens.js';
import type { Tokenizer } from './tokenizer.js';

/** How sampling of a message ended: the text of its stop token, empty where it had none, and whether that token closes a call. */
export interface SampledStop {
  readonly stopText: string;
  readonly stopEndsCall: boolean;
}

/** Finds where a template closes a message: at the token that sampling stopped at, else at a special token. */
export class MessageClosers {
  readonly #special: readonly AddedToken[];

  /** @param callEnd the token that closes a call, which closes no message */
  constructor(
    tokenizer: Pick<Tokenizer, 'addedTokens'>,
    private readonly callEnd: string | null,
  ) {
    this.#special = tokenizer.addedTokens.filter((token) => token.special);
  }

  /** Where the print of one message ends; without a stop its last special token, the text's end where it has none; -1 where a stop is not in it. */
  end(print: string, stopText: string): number {
    if (stopText !== '') return print.lastIndexOf(stopText);
    const last = this.#lastSpecial(print);
    return last < 0 ? print.length : last;
  }

  /**
   * What follows a sampled message whatever the template makes of it: its stop, and what the template prints behind the closer of its own.
   * @param print of the message; its words and calls are not looked at
   * @param behind what the template prints after it; some templates close a message by the opener of the next
   */
  restBehind(print: string, behind: string, { stopText, stopEndsCall }: SampledStop): string | null {
    if (stopEndsCall) return print.includes(stopText) ? print.slice(print.lastIndexOf(stopText)) + behind : null;
    const last = this.#lastSpecial(print);
    const closer = last < 0 ? undefined : this.#special.find(({ content }) => print.startsWith(content, last))!.content;
    const closes = closer !== undefined && closer !== this.callEnd && print.slice(last + closer.length).trim() === '';
    if (stopText === '') return closes ? print.slice(last) + behind : behind;
    if (closes) return stopText + print.slice(last + closer.length) + behind;
    return behind.startsWith(stopText) ? behind : stopText + behind;
  }

  /** One past the first special token, 0 where there is none. */
  firstEnd(text: string): number {
    const found = this.#special
      .map(({ content }) => ({ content, at: text.indexOf(content) }))
      .filter(({ at }) => at >= 0)
      .sort((a, b) => a.at - b.at)[0];
    return found === undefined ? 0 : found.at + found.content.length;
  }

  #lastSpecial(text: string): number {
    return this.#special.reduce((last, { content }) => Math.max(last, text.lastIndexOf(content)), -1);
  }
}
