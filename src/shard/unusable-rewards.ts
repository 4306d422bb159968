import type { ErrorValue } from '../errors.js';
import type { FinishSession } from '../trainer/calls.js';
import type { TurnRecord } from '../trajectory/turn.js';

/** Names of one message. */
const SHOWN_MAX = 20;

const listed = (names: readonly string[]): string =>
  names.length <= SHOWN_MAX ? names.join(', ') : `${names.slice(0, SHOWN_MAX).join(', ')} and ${names.length - SHOWN_MAX} more`;

/** What of a finish's rewards belongs to no row or turn of the session: lost without a word, it would be a reward of a typing error. */
export function unusableRewards(
  { rowRewards, turnRewards }: Pick<FinishSession, 'rowRewards' | 'turnRewards'>,
  turns: readonly TurnRecord[],
  rowCount: () => number,
): ErrorValue | null {
  const problems: string[] = [];
  if (turnRewards !== undefined) {
    const known = new Set(turns.map(({ turnId }) => turnId));
    const unknown = Object.keys(turnRewards).filter((id) => !known.has(id));
    if (unknown.length > 0) {
      const there = known.size === 0 ? 'has no turns' : `has the turns ${listed([...known])}`;
      problems.push(`\`turn_rewards\` names ${listed(unknown.map((id) => id.slice(0, 80)))}, the session ${there}`);
    }
  }
  if (rowRewards !== undefined) {
    const rows = rowCount();
    if (rowRewards.length !== rows)
      problems.push(`\`row_rewards\` has ${rowRewards.length} entries, it must have one for each row, and the session has ${rows}`);
  }
  if (problems.length === 0) return null;
  return { code: 'invalid_request', message: `Cannot use the rewards: ${problems.join('; ')}. No reward was given.` };
}
