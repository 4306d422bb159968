import type { CreateSession } from '../trainer/calls.js';
import type { TurnRecord } from '../trajectory/turn.js';

/**
 * What changes the durable state of a shard. Rows and trees live in memory; a journal that outlives the process follows these events.
 * `life` tells the sessions of one id apart, see `Session.life`.
 */
export type JournalEvent =
  | { readonly kind: 'create'; readonly sessionId: string; readonly session: CreateSession }
  /** `turns` and `tokens`: the session's totals with this turn. */
  | {
      readonly kind: 'commit';
      readonly sessionId: string;
      readonly life: string;
      readonly turn: TurnRecord;
      readonly turns: number;
      readonly tokens: number;
    }
  | { readonly kind: 'finish'; readonly sessionId: string; readonly life: string; readonly rows: number }
  | { readonly kind: 'ack'; readonly sessionId: string; readonly life: string }
  | { readonly kind: 'drop'; readonly sessionId: string; readonly life: string; readonly reason: 'deleted' | 'expired' };

export type Journal = (event: JournalEvent) => void;
