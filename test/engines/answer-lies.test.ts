import { describe, expect, it } from 'vitest';
import { ANSWER_LIES, type LieName } from '../../src/engines/answer-lies.js';
import type { GenerateOutcome, GenerateRequest } from '../../src/engines/engine.js';
import { sglang } from '../../src/engines/sglang.js';
import { vllm } from '../../src/engines/vllm.js';
import { probeWith } from '../contract/engine-exchanges.js';
import { SAMPLING } from '../support/sampling.js';

/** An answer in neutral words; each dialect spells it. */
interface Told {
  ids: unknown[] | null;
  logprobs: unknown[] | null;
  logprobIds: unknown[];
  finish: string | null;
  matched: unknown;
  promptTokens: unknown;
  completionTokens: unknown;
  requestId: string;
  spans: unknown[] | null;
  top: unknown[][] | null;
}

const REQUEST: GenerateRequest = {
  requestId: 'rg-1',
  model: null,
  promptIds: Int32Array.of(1, 2, 3),
  vocabularySize: 100,
  sampling: { ...SAMPLING, maxTokens: 4, stopTokenIds: [50] },
  topLogprobs: 0,
  routingKey: 'k',
};
const truth = (): Told => ({
  ids: [10, 11, 12, 50],
  logprobs: [-0.5, -1, -2, -0.25],
  logprobIds: [10, 11, 12, 50],
  finish: 'stop',
  matched: 50,
  promptTokens: 3,
  completionTokens: 4,
  requestId: 'rg-1',
  spans: [{ version: 'v', start: 0, end: 4 }],
  top: null,
});

interface Dialect {
  readonly spell: (told: Told) => object;
  readonly decode: (text: string, request: GenerateRequest) => GenerateOutcome;
}
const response = (text: string) => ({ status: 200, headers: {}, body: Buffer.from(text) });
const facts = { echoesRequestId: true };

const DIALECTS: Readonly<Record<string, Dialect>> = {
  'vllm generate': {
    spell: (told) => ({
      request_id: `generate-tokens-${told.requestId}`,
      usage: { prompt_tokens: told.promptTokens, completion_tokens: told.completionTokens },
      choices: [
        {
          index: 0,
          finish_reason: told.finish,
          stop_reason: told.matched,
          token_ids: told.ids,
          weight_versions: told.spans,
          logprobs:
            told.logprobs === null
              ? null
              : {
                  content: told.logprobs.map((logprob, index) => ({
                    token_id: told.logprobIds[index],
                    logprob,
                    ...(told.top === null ? {} : { top_logprobs: told.top[index] }),
                  })),
                },
        },
      ],
    }),
    decode: (text, request) => vllm.decode(response(text), request, probeWith({ facts })),
  },
  'vllm completions': {
    spell: (told) => ({
      id: `cmpl-${told.requestId}`,
      usage: { prompt_tokens: told.promptTokens, completion_tokens: told.completionTokens },
      choices: [
        {
          index: 0,
          finish_reason: told.finish,
          stop_reason: told.matched,
          token_ids: told.ids,
          weight_versions: told.spans,
          logprobs:
            told.logprobs === null
              ? null
              : { token_logprobs: told.logprobs, tokens: told.logprobIds.map((id) => `token_id:${String(id)}`), top_logprobs: told.top },
        },
      ],
    }),
    decode: (text, request) => vllm.decode(response(text), request, probeWith({ route: 'completions', facts })),
  },
  sglang: {
    spell: (told) => ({
      text: '',
      ...(told.ids === null ? {} : { output_ids: told.ids }),
      meta_info: {
        id: told.requestId,
        finish_reason: told.finish === null ? null : { type: told.finish, matched: told.matched },
        prompt_tokens: told.promptTokens,
        completion_tokens: told.completionTokens,
        weight_versions: told.spans,
        ...(told.logprobs === null
          ? {}
          : {
              output_token_logprobs: told.logprobs.map((logprob, index) => [
                logprob,
                told.ids === null ? null : told.logprobIds[index],
                null,
              ]),
            }),
        ...(told.top === null ? {} : { output_top_logprobs: told.top }),
      },
    }),
    decode: (text, request) => sglang.decode(response(text), request, probeWith({ facts })),
  },
};

/** How each lie is told: the changed truth, or what becomes of the text. */
const TOLD: Readonly<Record<LieName, { change?: Partial<Told>; text?: (text: string) => string; request?: Partial<GenerateRequest> }[]>> = {
  not_json: [{ text: () => '<html><body>Bad gateway</body></html>' }, { text: (text) => text.slice(0, -20) }, { text: () => '' }],
  error_in_200: [{ text: () => '{"error":{"message":"it broke","type":"InternalServerError","code":500}}' }],
  unrequested_stream: [{ text: (text) => `data: ${text}\n\ndata: ${text}\n\n` }, { text: (text) => `data: ${text}\n\ndata: [DONE]\n\n` }],
  wrong_choice_count: [
    { text: (text) => (text.includes('choices') ? text.replace(/"choices":.*$/, '"choices":[]}') : `[${text},${text}]`) },
  ],
  wrong_request_id: [{ change: { requestId: 'rg-2' } }],
  no_ids: [{ change: { ids: null, logprobs: null, logprobIds: [] } }],
  id_out_of_vocabulary: [100, -1, 1.5, '7', null].map((id) => ({ change: { ids: [10, id, 12, 50], logprobIds: [10, id, 12, 50] } })),
  ids_disagree: [{ change: { logprobIds: [10, 11, 13, 50] } }],
  missing_logprobs: [{ change: { logprobs: null, logprobIds: [] } }],
  fewer_logprobs: [{ change: { logprobs: [-0.5, -1, -2], logprobIds: [10, 11, 12] } }],
  more_logprobs: [{ change: { ids: [10, 11, 12], matched: null, completionTokens: 3 } }],
  empty_answer: ['stop', 'length'].map((finish) => ({
    change: { ids: [], logprobs: [], logprobIds: [], finish, matched: null, completionTokens: 0, spans: [] },
  })),
  too_many_tokens: [{ request: { sampling: { ...SAMPLING, maxTokens: 3, stopTokenIds: [50] } } }],
  unknown_finish: [{ change: { finish: 'banana' } }, { change: { finish: null } }],
  stop_token_missing: [{ change: { matched: 51 } }],
  sampled_past_stop: [{ change: { ids: [10, 11, 50, 50], logprobIds: [10, 11, 50, 50] } }],
  other_prompt: [{ change: { promptTokens: 2 } }],
  null_logprob: [null, 'NaN', -9999, -3.4e38]
    .map((value) => ({ change: { logprobs: [-0.5, value, -2, -0.25] } }))
    .concat([
      { text: (text: string) => text.replace('-1,', 'NaN,').replace('-1}', 'NaN}') },
      { text: (text: string) => text.replace('-1,', '-Infinity,').replace('-1}', '-Infinity}') },
    ] as never[]),
  positive_logprob: [{ change: { logprobs: [-0.5, 7.5, -2, -0.25] } }],
  negative_usage: [{ change: { completionTokens: -4 } }, { change: { promptTokens: -3 } }],
  missing_alternatives: [{ request: { topLogprobs: 2 } }],
  bad_weight_spans: [
    [{ version: 'v', start: 0, end: 3 }],
    [{ version: 'v', start: 1, end: 4 }],
    [{ version: 'v', start: 0, end: 5 }],
    [{ version: 7, start: 0, end: 4 }],
    ['v'],
  ].map((spans) => ({ change: { spans } })),
  usage_disagrees: [{ change: { completionTokens: 5 } }],
  end_token_missing: [{ change: { matched: null }, request: { sampling: { ...SAMPLING, maxTokens: 4, stopTokenIds: [51] } } }],
  early_length: [{ change: { finish: 'length', matched: null }, request: { sampling: { ...SAMPLING, maxTokens: 9 } } }],
};

describe.each(Object.keys(DIALECTS))('%s', (name) => {
  const { spell, decode } = DIALECTS[name]!;
  const tell = ({ change = {}, text = (same) => same, request = {} }: (typeof TOLD)[LieName][number]): GenerateOutcome =>
    decode(text(JSON.stringify(spell({ ...truth(), ...change }))), { ...REQUEST, ...request });

  it('believes the truth', () => {
    expect(tell({})).toMatchObject({
      ok: true,
      result: {
        outputIds: Int32Array.of(10, 11, 12, 50),
        logprobs: Float32Array.of(-0.5, -1, -2, -0.25),
        unknownLogprobs: 0,
        finish: { kind: 'stop', matched: 50 },
        flags: [],
        weightVersions: [{ version: 'v', start: 0, end: 4 }],
      },
    });
  });

  it.each(Object.keys(ANSWER_LIES) as LieName[])('decides on %s', (lie) => {
    for (const told of TOLD[lie]) {
      const outcome = tell(told);
      switch (ANSWER_LIES[lie].decision) {
        case 'retry': {
          const failure = outcome.ok ? expect.fail('it was believed') : outcome.failure;
          if (lie === 'error_in_200') expect(failure).toMatchObject({ kind: 'transient', message: 'it broke' });
          else expect(failure).toMatchObject({ kind: 'invalid_answer', message: expect.stringContaining(`(${lie}: `) });
          break;
        }
        case 'repair':
        case 'flag': {
          const result = outcome.ok ? outcome.result : expect.fail(outcome.failure.message);
          expect([...result.outputIds]).toEqual([10, 11, 12, 50]);
          if (lie === 'null_logprob' || lie === 'positive_logprob') {
            expect(result.unknownLogprobs).toBe(1);
            expect(result.logprobs).toEqual(Float32Array.of(-0.5, Number.NaN, -2, -0.25));
          }
          if (lie !== 'null_logprob') expect(result.flags).toContain(lie);
        }
      }
    }
  });
});

it('reads bare NaN and Infinity only outside of strings', () => {
  const { spell, decode } = DIALECTS.sglang!;
  const text = JSON.stringify({ ...spell(truth()), text: 'NaN "Infinity\\" -Infinity' }).replace('-0.5', 'NaN');
  expect(decode(text, REQUEST)).toMatchObject({ ok: true, result: { unknownLogprobs: 1 } });
});
