import { writeFileSync } from 'node:fs';
import type { RecordedExchange } from './recording-proxy.js';

/** Lists of ids above it are shown by their length. */
const IDS_MAX = 400;

/** Exchanges of the live suite that fixtures are made of: with `LIVE_RECORD=1` they are written beside the others. */
export class LiveRecordings {
  readonly #entries = new Map<string, RecordedExchange>();

  /** The first one of a name counts. */
  keep(name: string, exchange: RecordedExchange | undefined): void {
    if (exchange !== undefined && !this.#entries.has(name)) this.#entries.set(name, exchange);
  }

  write(engine: string, version: string | null): void {
    if (process.env.LIVE_RECORD !== '1' || version === null) return;
    const lines = [...this.#entries].map(([name, { path, request, status, response }]) =>
      JSON.stringify({
        name,
        request: { method: 'POST', path, body: Object.fromEntries(Object.entries(request).map(([key, value]) => [key, shown(value)])) },
        response: { status, contentType: 'application/json', body: response },
      }),
    );
    writeFileSync(new URL(`../fixtures/engines/${engine}-${version}-faults.json`, import.meta.url), `[\n${lines.join(',\n')}\n]\n`);
  }
}

const shown = (value: unknown): unknown => (Array.isArray(value) && value.length > IDS_MAX ? `<${value.length} ids>` : value);
