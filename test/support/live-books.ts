import { expect } from 'vitest';
import type { TraceRecord } from '../../src/gateway.js';
import type { LiveEngine } from './live-engine.js';
import type { RecordedExchange } from './recording-proxy.js';

/** What the engine itself was asked and answered, read without any code of ours. */
export interface Sampled {
  readonly promptIds: readonly number[];
  readonly ids: readonly number[];
  readonly logprobs: readonly number[];
  readonly finish: string;
  readonly versions: readonly { readonly version: string; readonly start: number; readonly end: number }[];
}

export function sampledOf(name: LiveEngine['name'], { request, response }: RecordedExchange): Sampled {
  if (name === 'sglang') {
    const meta = response.meta_info as {
      output_token_logprobs?: [number, number, string | null][];
      finish_reason: { type: string };
      weight_versions?: Sampled['versions'];
    };
    return {
      promptIds: request.input_ids as number[],
      ids: response.output_ids as number[],
      logprobs: (meta.output_token_logprobs ?? []).map(([logprob]) => logprob),
      finish: meta.finish_reason.type,
      versions: meta.weight_versions ?? [],
    };
  }
  const [choice] = response.choices as {
    token_ids: number[];
    logprobs: { content: { logprob: number }[] } | null;
    finish_reason: string;
    weight_versions: Sampled['versions'];
  }[];
  return {
    promptIds: request.token_ids as number[],
    ids: choice!.token_ids,
    logprobs: (choice!.logprobs?.content ?? []).map(({ logprob }) => logprob),
    finish: choice!.finish_reason,
    versions: choice!.weight_versions,
  };
}

/**
 * Holds rows against the answers of the engine: every trained turn is one answer, or several that go on from each other, at the prompt that
 * the engine saw, with its ids, logprobs and weight versions; every answer with tokens is trained exactly once.
 * @returns the tokens that were trained
 */
export function expectRowsHoldAnswers(rows: readonly TraceRecord[], answers: readonly Sampled[]): number {
  const withTokens = answers.filter(({ ids }) => ids.length > 0);
  const used = new Set<Sampled>();
  let trained = 0;
  for (const row of rows) {
    const ids = [...row.token_ids];
    expect(ids.length - row.prompt_length).toBe(row.response_length);
    for (const turn of row.turns) {
      const what = `turn ${turn.turn_id} of ${row.session_id}, as the engine saw and said it`;
      const parts = partsOf(ids, turn.start, turn.end, withTokens, turn.trained_here ? used : new Set());
      expect(parts, what).not.toBeNull();
      if (!turn.trained_here) continue;
      for (const part of parts!) used.add(part);
      trained += turn.end - turn.start;
      const at = turn.start - row.prompt_length;
      const length = turn.end - turn.start;
      expect([...row.logprobs.subarray(at, at + length)], what).toEqual(parts!.flatMap(({ logprobs }) => logprobs.map(Math.fround)));
      expect([...row.loss_mask.subarray(at, at + length)], what).toEqual(Array.from({ length }, () => 1));
      expect(
        turn.weight_versions.map(({ version, start, end }) => ({ version, start, end })),
        what,
      ).toEqual(spansOf(parts!, turn.start));
    }
    expect([...row.loss_mask].reduce((sum, bit) => sum + bit, 0)).toBe(
      row.turns.filter((turn) => turn.trained_here).reduce((sum, turn) => sum + turn.end - turn.start, 0),
    );
  }
  expect(used.size, 'every answer with tokens is trained once').toBe(withTokens.length);
  return trained;
}

/** The answers, in order, whose outputs are `ids[start, end)`, each at the prompt that stands before it; `null` = there are none. */
function partsOf(
  ids: readonly number[],
  start: number,
  end: number,
  answers: readonly Sampled[],
  used: ReadonlySet<Sampled>,
): Sampled[] | null {
  if (start === end) return [];
  for (const answer of answers) {
    const next = start + answer.ids.length;
    if (used.has(answer) || next > end || answer.promptIds.length !== start) continue;
    if (!answer.promptIds.every((id, at) => id === ids[at]) || !answer.ids.every((id, at) => id === ids[start + at])) continue;
    const rest = partsOf(ids, next, end, answers, used);
    if (rest !== null) return [answer, ...rest];
  }
  return null;
}

/** The engine's own spans in the row's offsets; touching ones of one version are one. */
function spansOf(parts: readonly Sampled[], start: number): Sampled['versions'] {
  const spans: { version: string; start: number; end: number }[] = [];
  let offset = start;
  for (const { ids, versions } of parts) {
    for (const span of versions) {
      const last = spans.at(-1);
      if (last?.version === span.version && last.end === span.start + offset) last.end = span.end + offset;
      else spans.push({ version: span.version, start: span.start + offset, end: span.end + offset });
    }
    offset += ids.length;
  }
  return spans;
}
