import OpenAI from 'openai';
import { RolloutGateway } from 'rollout-gateway';

// By default the simulated engine and its model, in a clone.
const { ENGINE_URL: engineUrl = 'http://127.0.0.1:8000', MODEL_DIR: model = 'src/sim/model' } = process.env;
const gateway = RolloutGateway.fromEngine({ engine: 'vllm', engineUrl, model });
await gateway.start();
await gateway.ready(60_000);

const { session_id, api_key, base_urls } = await gateway.sessions.create({ group_id: 'rivers', sampling: { max_tokens: 64 } });
const client = new OpenAI({ baseURL: base_urls.openai, apiKey: api_key });
const messages = [{ role: 'user', content: 'Name a river.' }];
const reply = await client.chat.completions.create({ model: 'policy', messages });
const reward = reply.choices[0].finish_reason === 'stop' ? 1 : 0;

const { traces, summary } = await gateway.sessions.finish(session_id, { reward, ack: true });
for (const { role, token_ids, loss_mask, logprobs } of traces) {
  const trained = loss_mask.reduce((sum, bit) => sum + bit, 0);
  console.log(`${role}: ${token_ids.length} tokens, ${trained} trained, first logprob ${logprobs[0]}`);
}
console.log(`capture yield ${summary.capture_yield}`);
await gateway.close();
