import type { SimFinish } from './sampling.js';

export interface VersionSpan {
  readonly version: string;
  readonly start: number;
  readonly end: number;
}

/** One generation as it really was, whatever a fault made of the answer. */
export interface LedgerEntry {
  /** Counts up from 1. */
  readonly serial: number;
  readonly requestId: string;
  readonly route: string;
  readonly promptIds: Int32Array;
  readonly outputIds: Int32Array;
  /** Natural log, one per output id. */
  readonly logprobs: Float32Array;
  readonly finish: SimFinish;
  readonly weightVersions: readonly VersionSpan[];
  readonly cachedTokens: number;
  readonly fault: string | null;
  /** Whether the whole answer was written to a socket that was open. */
  readonly delivered: boolean;
}

/** What the engine sampled, newest last, at most `limit` entries (0 keeps none). */
export class Ledger {
  readonly #entries: LedgerEntry[] = [];
  #serial = 0;
  #dropped = 0;

  constructor(readonly limit: number) {}

  /** The serial number of the entry. */
  add(entry: Omit<LedgerEntry, 'serial' | 'delivered'>): number {
    const serial = ++this.#serial;
    if (this.limit === 0) return serial;
    this.#entries.push({ ...entry, serial, delivered: false });
    if (this.#entries.length > this.limit) {
      this.#entries.shift();
      this.#dropped++;
    }
    return serial;
  }

  markDelivered(serial: number): void {
    const at = this.#entries.findIndex((entry) => entry.serial === serial);
    if (at >= 0) this.#entries[at] = { ...this.#entries[at]!, delivered: true };
  }

  /** Entries with a serial above `after`. */
  entries(after = 0): readonly LedgerEntry[] {
    return this.#entries.filter((entry) => entry.serial > after);
  }

  /** Entries that the bound pushed out. */
  get dropped(): number {
    return this.#dropped;
  }

  clear(): void {
    this.#entries.length = 0;
    this.#dropped = 0;
  }
}

export function ledgerJson(entry: LedgerEntry): Record<string, unknown> {
  return {
    serial: entry.serial,
    request_id: entry.requestId,
    route: entry.route,
    prompt_ids: Array.from(entry.promptIds),
    output_ids: Array.from(entry.outputIds),
    logprobs: Array.from(entry.logprobs),
    finish_reason: entry.finish.reason,
    matched: entry.finish.reason === 'stop' ? entry.finish.matched : null,
    weight_versions: entry.weightVersions,
    cached_tokens: entry.cachedTokens,
    fault: entry.fault,
    delivered: entry.delivered,
  };
}
