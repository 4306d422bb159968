import type { EngineCore } from './engine-core.js';
import type { Answer, Routes } from './http.js';
import { vllmAbortIds, vllmError } from './vllm-wire.js';
import { fields, textField } from './wire.js';

const asAnswer = ({ status, body }: { readonly status: number; readonly body: unknown }): Answer => ({ status, body });

/** vLLM's routes that do not sample, the development ones included (`VLLM_SERVER_DEV_MODE=1`). */
export function vllmControl(core: EngineCore, version: string): Routes {
  const { scheduler, options } = core;
  const empty = { status: 200 };
  return {
    'GET /health': () => empty,
    'GET /ping': () => empty,
    'GET /version': () => ({ status: 200, body: { version } }),
    'GET /load': () => ({ status: 200, body: { server_load: scheduler.running + scheduler.waiting } }),
    'GET /v1/models': () => ({ status: 200, body: modelList(options.modelName, 'vllm', options.vocabulary.contextTokens) }),
    'GET /metrics': () => ({ status: 200, contentType: 'text/plain; version=1.0.0; charset=utf-8', body: metrics(core) }),
    'POST /inference/v1/abort_requests': ({ body }) => {
      const ids = vllmAbortIds(body);
      if (ids === null) return asAnswer(vllmError(400, 'Bad Request', "Missing 'request_ids' in request body"));
      core.abort(ids);
      return empty;
    },
    'POST /abort_requests': () => ({ status: 200, body: { status: 'aborted', aborted: core.abort(null) } }),
    'POST /pause': async ({ query }) => {
      const mode = query.get('mode') ?? 'abort';
      if (mode === 'wait') await scheduler.pauseWhenDrained();
      else if (mode === 'keep' || mode === 'abort') scheduler.pause();
      else return asAnswer(vllmError(400, 'Bad Request', "Input should be 'abort', 'wait' or 'keep'", 'query.mode'));
      if (mode === 'abort') core.abort(null);
      if (query.get('clear_cache') === 'true') core.cache?.clear();
      return { status: 200, body: { status: 'paused' } };
    },
    'POST /resume': () => {
      scheduler.resume();
      return { status: 200, body: { status: 'resumed' } };
    },
    'GET /is_paused': () => ({ status: 200, body: { is_paused: scheduler.paused } }),
    'GET /weight_info': () => ({ status: 200, body: { weight_version: core.weightVersion } }),
    'POST /update_weight_version': ({ body }) => {
      const next = textField(fields(body).new_version);
      if (next === undefined) return asAnswer(vllmError(400, 'Bad Request', 'Field required', 'body.new_version'));
      core.setWeightVersion(next);
      return { status: 200, body: { success: true, new_version: next } };
    },
    'POST /reset_prefix_cache': () => {
      const idle = scheduler.running === 0;
      if (idle) core.cache?.clear();
      return { status: 200, body: { success: idle } };
    },
  };
}

export function modelList(name: string, owner: string, contextTokens: number): object {
  return {
    object: 'list',
    data: [
      {
        id: name,
        object: 'model',
        created: Math.floor(Date.now() / 1000),
        owned_by: owner,
        root: name,
        parent: null,
        max_model_len: contextTokens,
      },
    ],
  };
}

function metrics({ scheduler, counters, options }: EngineCore): string {
  const label = `{engine="0",model_name="${options.modelName}"}`;
  const lines: readonly (readonly [string, string, number])[] = [
    ['vllm:num_requests_running', 'gauge', scheduler.running],
    ['vllm:num_requests_waiting', 'gauge', scheduler.waiting],
    ['vllm:prefix_cache_queries_total', 'counter', counters.prefixQueries],
    ['vllm:prefix_cache_hits_total', 'counter', counters.prefixHits],
    ['vllm:prompt_tokens_total', 'counter', counters.promptTokens],
    ['vllm:generation_tokens_total', 'counter', counters.sampledTokens],
  ];
  return lines.map(([name, type, value]) => `# TYPE ${name} ${type}\n${name}${label} ${value}\n`).join('');
}
