// An inference server that takes no time and almost no CPU: replies are prepared, and of a prompt only the number of ids
// and the last ones are read. Speaks vLLM's /inference/v1/generate.
//
//   node bench/load/engine.mjs --model DIR [--port 0]

import { App, us_socket_local_port as localPort } from 'uWebSockets.js';
import { parseArgs } from 'node:util';
import { loadWords, reply } from './vocabulary.mjs';

const { values: args } = parseArgs({ options: { model: { type: 'string' }, port: { type: 'string', default: '0' } } });
const vocabulary = loadWords(args.model);
const stats = { requests: 0, promptTokens: 0, sampledTokens: 0, refused: 0 };

const choices = new Map();
/** The part of an answer that depends on the reply alone. */
function choiceJson(which, tokens) {
  const key = `${which}/${tokens}`;
  let json = choices.get(key);
  if (json === undefined) {
    const { ids, logprobs } = reply(vocabulary, which, tokens);
    const content = ids.map((id, i) => ({
      token_id: id,
      logprob: logprobs[i],
      rank: 1,
      top_logprobs: [{ token_id: id, logprob: logprobs[i], rank: 1 }],
    }));
    const spans = [{ version: 'default', start: 0, end: tokens }];
    json = JSON.stringify([
      {
        index: 0,
        finish_reason: 'stop',
        stop_reason: null,
        token_ids: ids,
        routed_experts: null,
        sampling_mask: null,
        weight_versions: spans,
        logprobs: { content },
      },
    ]);
    choices.set(key, json);
  }
  return json;
}

const COMMA = 0x2c;
function answer(body) {
  const key = body.indexOf('"token_ids"');
  const open = body.indexOf('[', key);
  const close = body.indexOf(']', open);
  if (key < 0 || close < 0) return null;
  let promptTokens = 1;
  for (let at = body.indexOf(COMMA, open); at >= 0 && at < close; at = body.indexOf(COMMA, at + 1)) promptTokens++;
  const rest = body.toString('latin1', 0, open) + body.toString('latin1', close);
  const tokens = Number(/"max_tokens":\s*(\d+)/.exec(rest)?.[1] ?? 16);
  const id = /"request_id":\s*"([^"]*)"/.exec(rest)?.[1] ?? String(stats.requests);
  const tail = body
    .toString('latin1', Math.max(open + 1, close - 200), close)
    .split(',')
    .map(Number);
  const which = vocabulary.tagById.get(tail.findLast((it) => vocabulary.tagById.has(it))) ?? 0;
  stats.requests++;
  stats.promptTokens += promptTokens;
  stats.sampledTokens += tokens;
  const usage = `{"prompt_tokens":${promptTokens},"total_tokens":${promptTokens + tokens},"completion_tokens":${tokens},"prompt_tokens_details":{"cached_tokens":0}}`;
  return `{"request_id":"generate-tokens-${id}","model":"bench","created":1760000000,"usage":${usage},"prompt_logprobs":null,"prompt_token_ids":null,"output_mode":"tokens","choices":${choiceJson(which, tokens)}}`;
}

const json = (response, text, status = '200 OK') =>
  response.cork(() => response.writeStatus(status).writeHeader('content-type', 'application/json').end(text));
const model = { id: 'bench', object: 'model', created: 1760000000, owned_by: 'vllm', root: 'bench', parent: null, max_model_len: 131072 };

App()
  .post('/inference/v1/generate', (response, request) => {
    const body = Buffer.allocUnsafe(Number(request.getHeader('content-length')));
    let used = 0;
    let gone = false;
    response.onAborted(() => {
      gone = true;
    });
    response.onData((chunk, last) => {
      body.set(new Uint8Array(chunk), used);
      used += chunk.byteLength;
      if (!last || gone) return;
      const text = answer(body);
      if (text !== null) return json(response, text);
      stats.refused++;
      json(
        response,
        '{"error":{"message":"token_ids missing","type":"Bad Request","param":"body.token_ids","code":400}}',
        '400 Bad Request',
      );
    });
  })
  .get('/health', (response) => response.end())
  .get('/version', (response) => json(response, '{"version":"0.32.0"}'))
  .get('/v1/models', (response) => json(response, JSON.stringify({ object: 'list', data: [model] })))
  .get('/metrics', (response) => response.end('vllm:num_requests_running 0\nvllm:num_requests_waiting 0\n'))
  .get('/stats', (response) => json(response, JSON.stringify(stats)))
  .any('/*', (response) => json(response, '{"detail":"Not Found"}', '404 Not Found'))
  .listen('127.0.0.1', Number(args.port), (socket) => {
    if (!socket) throw new Error(`port ${args.port} is taken`);
    console.log(`listening on http://127.0.0.1:${localPort(socket)}`);
  });
