import type { Balance } from './books.js';

/** What became of every token that the engines sampled while something was killed. */
export interface TokenFate {
  readonly killed: string;
  readonly sampled: number;
  /** Once, in a row that a trainer has. */
  readonly trained: number;
  /** Counted by the gateway, by reason. */
  readonly discarded: Readonly<Record<string, number>>;
  /** Of calls that were closed before the engine had an answer. */
  readonly unanswered: number;
  /** In answers to calls that were just being closed; see `mostUnheard`. */
  readonly unheard: number;
  /** Gone with the thread that held them. */
  readonly lost: number;
  readonly agents: string;
}

export const fateOf = (
  killed: string,
  { sampled, trained, unanswered }: Balance,
  told: Pick<TokenFate, 'discarded' | 'unheard' | 'agents'>,
): TokenFate => ({ killed, sampled, trained, unanswered, lost: 0, ...told });

export const totalOf = (tokens: Readonly<Record<string, number>>): number => Object.values(tokens).reduce((sum, count) => sum + count, 0);

export const unexplained = ({ sampled, trained, discarded, unanswered, unheard, lost }: TokenFate): number =>
  sampled - trained - totalOf(discarded) - unanswered - unheard - lost;

export function tokenTable(fates: readonly TokenFate[]): string {
  const head = ['killed', 'sampled', 'trained once', 'discarded', 'unanswered', 'unheard', 'lost', 'unexplained', 'agents'];
  const rows = fates.map((fate) => {
    const reasons = Object.entries(fate.discarded).map(([reason, tokens]) => `${reason} ${tokens}`);
    const { killed, sampled, trained, unanswered, unheard, lost, agents } = fate;
    return [killed, sampled, trained, reasons.join(', ') || 0, unanswered, unheard, lost, unexplained(fate), agents];
  });
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
