import type { EngineCore } from './engine-core.js';
import type { Answer, Routes } from './http.js';
import { modelList } from './vllm-control.js';
import { fields, textField, texts } from './wire.js';

/** SGLang's routes that do not sample. */
export function sglangControl(core: EngineCore, version: string): Routes {
  const { scheduler, options } = core;
  const empty = { status: 200 };
  const ok = (message: string): Answer => ({ status: 200, body: { message, status: 'ok' } });
  const info = (): Answer => ({
    status: 200,
    body: {
      model_path: options.modelName,
      served_model_name: options.modelName,
      tokenizer_path: options.modelName,
      is_generation: true,
      preferred_sampling_params: null,
      weight_version: core.weightVersion,
      model_type: 'simulated',
      architectures: ['SimulatedForCausalLM'],
    },
  });
  const server = (): Answer => ({
    status: 200,
    body: {
      model_path: options.modelName,
      served_model_name: options.modelName,
      version,
      context_length: options.vocabulary.contextTokens,
      max_req_input_len: options.vocabulary.contextTokens - 6,
      skip_tokenizer_init: false,
      max_running_requests: options.window,
    },
  });
  return {
    'GET /health': () => empty,
    'GET /health_generate': () => empty,
    'GET /model_info': info,
    'GET /get_model_info': info,
    'GET /server_info': server,
    'GET /get_server_info': server,
    'GET /v1/models': () => ({ status: 200, body: modelList(options.modelName, 'sglang', options.vocabulary.contextTokens) }),
    'GET /v1/loads': () => ({
      status: 200,
      body: {
        version,
        loads: [
          { dp_rank: 0, num_running_reqs: scheduler.running, num_waiting_reqs: scheduler.waiting, max_running_requests: options.window },
        ],
      },
    }),
    'GET /metrics': () => ({
      status: 200,
      contentType: 'text/plain; version=1.0.0; charset=utf-8',
      body: `# TYPE sglang:num_running_reqs gauge\nsglang:num_running_reqs ${scheduler.running}\n# TYPE sglang:num_queue_reqs gauge\nsglang:num_queue_reqs ${scheduler.waiting}\n`,
    }),
    'POST /abort_request': ({ body }) => {
      const given = fields(body);
      core.abort(given.abort_all === true ? null : texts(given.rid));
      return empty;
    },
    'POST /pause_generation': ({ body }) => {
      const mode = textField(fields(body).mode) ?? 'abort';
      if (!['abort', 'retract', 'in_place'].includes(mode))
        return { status: 400, body: { object: 'error', message: `unknown mode ${mode}`, code: 400 } };
      scheduler.pause();
      if (mode === 'abort') core.abort(null);
      return ok('Generation paused successfully.');
    },
    'POST /continue_generation': () => {
      scheduler.resume();
      return ok('Generation continued successfully.');
    },
    'POST /update_weight_version': ({ body }) => {
      const next = textField(fields(body).new_version);
      if (next === undefined) return { status: 400, body: { error: { message: 'new_version: Field required' } } };
      if (fields(body).abort_all_requests === true) core.abort(null);
      core.setWeightVersion(next);
      return { status: 200, body: { success: true, message: `Weight version updated to ${next}`, new_version: next } };
    },
    'POST /update_weights_from_disk': ({ body }) => {
      const next = textField(fields(body).weight_version);
      if (next !== undefined) core.setWeightVersion(next);
      core.cache?.clear();
      return {
        status: 200,
        body: {
          success: true,
          message: 'Succeeded to update model weights.',
          num_paused_requests: scheduler.paused ? scheduler.running : 0,
        },
      };
    },
    'POST /flush_cache': () => {
      if (scheduler.running > 0) return { status: 400, contentType: 'text/plain', body: 'Flush cache failed.\n' };
      core.cache?.clear();
      return { status: 200, contentType: 'text/plain', body: 'Cache flushed.\n' };
    },
  };
}
