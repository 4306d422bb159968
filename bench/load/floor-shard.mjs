// A shard that only moves bytes (see floor.mjs). The load generator says how many ids a prompt has.
import { workerData } from 'node:worker_threads';
import { move } from 'piscina';
import { Pool } from 'undici';
import { CUE } from './cells.mjs';
import { loadWords, reply } from './vocabulary.mjs';

const { model, engine, limit } = workerData;
const vocabulary = loadWords(model);
const pool = new Pool(engine, { connections: 256, pipelining: 1, keepAliveTimeout: 4000 });
const IDS_MAX = 140_000;
const idsText = Buffer.from(
  `${Array.from({ length: IDS_MAX }, (_, i) => vocabulary.words[(i * 31) % vocabulary.words.length].id).join()},`,
);
const ends = new Uint32Array(IDS_MAX + 1);
for (let at = idsText.indexOf(44), n = 1; at >= 0 && n <= IDS_MAX; at = idsText.indexOf(44, at + 1), n++) ends[n] = at + 1;

const encode = limit ? await (await import('./product-encoder.mjs')).productEncoder(model) : null;
/** By session: bytes of the messages that were there the last time. */
const lengths = new Map();
const answers = new Map();

function answerBytes(which, tokens) {
  const key = `${which}/${tokens}`;
  if (!answers.has(key)) {
    const { text } = reply(vocabulary, which, tokens);
    const usage = { prompt_tokens: 12_345, completion_tokens: tokens, total_tokens: 12_345 + tokens };
    const choices = [{ index: 0, message: { role: 'assistant', content: text }, logprobs: null, finish_reason: 'stop' }];
    answers.set(
      key,
      Buffer.from(
        JSON.stringify({ id: 'chatcmpl-0123456789abcdef', object: 'chat.completion', created: 1760000000, model: 'bench', choices, usage }),
      ),
    );
  }
  return answers.get(key);
}

function newMessages(key, bytes) {
  const end = bytes.lastIndexOf('],"tools":');
  const before = lengths.get(key);
  lengths.set(key, end);
  const fresh = bytes.subarray(before === undefined ? bytes.indexOf('[') + 1 : before + 1, end);
  return JSON.parse(`[${fresh.toString('utf8')}]`);
}

export default async function turn(task) {
  if (task === null) return null;
  const bytes = Buffer.from(task.body.buffer, task.body.byteOffset, task.body.byteLength);
  const cue = bytes.lastIndexOf(CUE) + CUE.length + 1;
  const which = vocabulary.tagByText.get(bytes.toString('latin1', cue, bytes.indexOf('"', cue)));
  const asked = bytes.lastIndexOf('"max_tokens":') + 13;
  const tokens = Number.parseInt(bytes.toString('latin1', asked, asked + 8), 10);
  if (encode) for (const { role, content } of newMessages(task.key, bytes)) if (role !== 'assistant') encode(content);
  const head = Buffer.from(
    `{"request_id":"f","sampling_params":{"max_tokens":${tokens},"temperature":1,"logprobs":0,"detokenize":false},"token_ids":[`,
  );
  const answer = await pool.request({
    method: 'POST',
    path: '/inference/v1/generate',
    headers: { 'content-type': 'application/json' },
    body: Buffer.concat([head, idsText.subarray(0, ends[task.promptTokens - 1]), Buffer.from(`${vocabulary.tags[which].id}]}`)]),
  });
  const sampled = Buffer.from(await answer.body.arrayBuffer());
  if (answer.statusCode !== 200) throw new Error(`the engine answered ${answer.statusCode}: ${sampled.toString('utf8', 0, 300)}`);
  if (encode && JSON.parse(sampled.toString('latin1')).choices[0].token_ids.length !== tokens)
    throw new Error('the reply has another length');
  return move(Uint8Array.from(answerBytes(which, tokens)));
}
