import { describe, expect, it } from 'vitest';
import { type ProvedRow, prove } from '../../src/cli/demo/proof.js';
import { percent, proofText } from '../../src/cli/demo/report.js';
import type { LedgerEntry } from '../../src/sim/ledger.js';

const entry = (
  requestId: string,
  promptIds: readonly number[],
  outputIds: readonly number[],
  logprobs: readonly number[],
): LedgerEntry => ({
  serial: 1,
  requestId,
  route: '/x',
  promptIds: Int32Array.from(promptIds),
  outputIds: Int32Array.from(outputIds),
  logprobs: Float32Array.from(logprobs),
  finish: { reason: 'length' },
  weightVersions: [],
  cachedTokens: 0,
  fault: null,
  delivered: true,
});

const ledger = [entry('a', [1, 2], [3, 4], [-0.5, -0.25]), entry('b', [1, 2, 3, 4, 5], [6], [-1])];
const row: ProvedRow = {
  session_id: 's',
  token_ids: Int32Array.of(1, 2, 3, 4, 5, 6),
  loss_mask: Uint8Array.of(1, 1, 0, 1),
  logprobs: Float32Array.of(-0.5, -0.25, 0, -1),
  prompt_length: 2,
  turns: [
    { start: 2, end: 4, trained_here: true, engine_request_id: 'generate-tokens-a' },
    { start: 5, end: 6, trained_here: true, engine_request_id: 'b' },
  ],
};

describe('the demo’s proof', () => {
  it('holds when every sampled token is trained once at its place', () => {
    expect(prove([row], ledger)).toEqual({ generations: 2, sampledTokens: 3, provedTokens: 3, differences: [] });
    expect(
      proofText(prove([row], ledger))
        .split('\n')
        .at(-1),
    ).toBe('capture yield 100 %');
  });

  it.each([
    ['another prompt', { ...row, token_ids: Int32Array.of(1, 9, 3, 4, 5, 6) }, /its prompt is not/],
    ['another output', { ...row, token_ids: Int32Array.of(1, 2, 3, 9, 5, 6) }, /its output is not/],
    ['another log-probability', { ...row, logprobs: Float32Array.of(-0.5, -0.75, 0, -1) }, /log-probability at 3 is -0.75/],
    ['a masked token', { ...row, loss_mask: Uint8Array.of(1, 0, 0, 1) }, /the mask at 3 is 0/],
    ['a trained prompt token', { ...row, loss_mask: Uint8Array.of(1, 1, 1, 1) }, /the mask trains 4 tokens, the turns have 3/],
    ['an unknown request', { ...row, turns: [{ ...row.turns[0]!, engine_request_id: 'z' }] }, /the engine does not know/],
    ['a turn that is left out', { ...row, turns: [row.turns[0]!] }, /trained 0 times/],
  ])('finds %s', (_, changed, words) => {
    const proof = prove([changed], ledger);
    expect(proof.provedTokens).toBeLessThan(4);
    expect(proof.differences.join('\n')).toMatch(words);
  });

  it('finds what is trained twice', () => {
    const proof = prove([row, row], ledger);
    expect(proof.provedTokens).toBe(0);
    expect(proofText(proof)).toMatch(/trained 2 times[\s\S]*capture yield 0.00 %$/);
  });

  it('never rounds up to 100 %', () => {
    expect([percent(99_999_999, 100_000_000), percent(0, 0), percent(5, 5)]).toEqual(['99.99 %', '–', '100 %']);
  });
});
