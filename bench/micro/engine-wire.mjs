// Spelling prompts for engines and reading their answers: `npm run build && node bench/micro/engine-wire.mjs`.
// DIST names another folder of compiled files.
import { bench, boxplot, do_not_optimize, group, run, summary } from 'mitata';

const dist = new URL(process.env.DIST ?? '../../dist/', import.meta.url);
const { SpelledIds } = await import(new URL('engines/spelled-ids.js', dist));
const { ENGINES } = await import(new URL('engines/registry.js', dist));

let state = 7;
const random = () => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
};
const idsOf = (count) => Int32Array.from({ length: count }, () => Math.floor(random() * 151_000));
// Small ids are frequent in text, so a prompt has fewer digits than uniform ids have.
const promptOf = (count) => Int32Array.from({ length: count }, () => Math.floor(random() ** 3 * 151_000));

const sampling = {
  maxTokens: 8192,
  temperature: 1,
  topP: 1,
  topK: -1,
  minP: 0,
  presencePenalty: 0,
  frequencyPenalty: 0,
  repetitionPenalty: 1,
  seed: null,
  minTokens: 0,
  stopTokenIds: [151_645],
  stopStrings: [],
};
const requestOf = (promptIds) => ({
  requestId: 'rg-000000000000-00000000',
  model: 'policy',
  promptIds,
  vocabularySize: 151_936,
  sampling,
  topLogprobs: 0,
  routingKey: 'k',
});
const probeOf = (route) => ({
  engine: 'any',
  version: null,
  route,
  model: 'policy',
  contextTokens: 131_072,
  weightVersion: null,
  facts: {},
});

const logprob = () => -(Math.floor(random() * 2 ** 24) / 2 ** 22) - random() * 1e-7;
const answers = {
  'vllm generate': (ids) => ({
    request_id: 'generate-tokens-rg-000000000000-00000000',
    model: 'policy',
    created: 1,
    usage: { prompt_tokens: 3, total_tokens: ids.length + 3, completion_tokens: ids.length, prompt_tokens_details: null },
    output_mode: 'tokens',
    choices: [
      {
        index: 0,
        finish_reason: 'length',
        stop_reason: null,
        token_ids: [...ids],
        routed_experts: null,
        weight_versions: [{ version: 'default', start: 0, end: ids.length }],
        logprobs: {
          content: Array.from(ids, (token_id) => {
            const value = Math.fround(logprob());
            return { token_id, logprob: value, rank: 1, top_logprobs: [{ token_id, logprob: value, rank: 1 }] };
          }),
        },
      },
    ],
  }),
  'vllm completions': (ids) => ({
    id: 'cmpl-rg-000000000000-00000000',
    choices: [
      {
        index: 0,
        text: 'word '.repeat(ids.length),
        logprobs: {
          text_offset: Array.from(ids, (_, index) => index * 5),
          token_logprobs: Array.from(ids, () => Math.fround(logprob())),
          tokens: Array.from(ids, () => ' word'),
          top_logprobs: Array.from(ids, () => ({ ' word': Math.fround(logprob()) })),
        },
        finish_reason: 'length',
        stop_reason: null,
        token_ids: [...ids],
        prompt_token_ids: [1, 2, 3],
      },
    ],
    usage: { prompt_tokens: 3, total_tokens: ids.length + 3, completion_tokens: ids.length },
  }),
  sglang: (ids) => ({
    text: 'word '.repeat(ids.length),
    output_ids: [...ids],
    meta_info: {
      id: 'rg-000000000000-00000000',
      finish_reason: { type: 'length', length: ids.length },
      prompt_tokens: 3,
      weight_version: 'default',
      input_token_logprobs: [],
      output_token_logprobs: Array.from(ids, (id) => [Math.fround(logprob()), id, null]),
      completion_tokens: ids.length,
      cached_tokens: 2,
      weight_versions: [{ version: 'default', start: 0, end: ids.length }],
    },
  }),
};

const prompt = promptOf(100_000);
const fresh = () => {
  const spelled = new SpelledIds();
  spelled.become(prompt);
  return spelled.body('');
};
const grown = new SpelledIds();
const regrown = () => {
  grown.become(prompt.subarray(0, 96_000));
  grown.body('');
  grown.become(prompt);
  return grown.body('');
};
group('100k prompt ids', () => {
  summary(() => {
    bench('JSON.stringify of an array', () => do_not_optimize(Buffer.from(JSON.stringify([...prompt]))));
    bench('SpelledIds', () => do_not_optimize(fresh()));
    bench('SpelledIds, 96k written before', () => do_not_optimize(regrown()));
    bench('whole vLLM request', () => do_not_optimize(ENGINES.vllm.encode(requestOf(prompt), probeOf('generate'))));
  });
});

for (const count of [128, 4096])
  for (const [name, make] of Object.entries(answers)) {
    const engine = ENGINES[name.split(' ')[0]];
    const route = name === 'vllm completions' ? 'completions' : 'generate';
    const body = Buffer.from(JSON.stringify(make(idsOf(count))));
    const response = { status: 200, headers: {}, body };
    const request = requestOf(Int32Array.of(1, 2, 3));
    const outcome = engine.decode(response, request, probeOf(route));
    if (!outcome.ok || outcome.result.outputIds.length !== count || outcome.result.unknownLogprobs > 0)
      throw new Error(JSON.stringify(outcome));
    boxplot(() => {
      group(`${name}, ${count} tokens, ${(body.length / 1000).toFixed(0)} kB`, () => {
        bench('JSON.parse alone', () => do_not_optimize(JSON.parse(body.toString())));
        bench('decode', () => do_not_optimize(engine.decode(response, request, probeOf(route))));
      });
    });
  }

await run(process.env.BENCH_JSON === '1' ? { format: 'json' } : {});
