import OpenAI from 'openai';

const gateway = process.env.GATEWAY_URL ?? 'http://127.0.0.1:8080';
const client = new OpenAI({ baseURL: `${gateway}/v1`, apiKey: 'sum-1' }); // The key names the session.
const parameters = { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } };
const tools = [{ type: 'function', function: { name: 'add', parameters } }];
// The plan is for the simulated engine; a model decides by itself.
const plan = '[plan][{"calls": [{"name": "add", "arguments": {"a": 4, "b": 7}}]}, {"text": "It is 11."}][/plan]';
const messages = [{ role: 'user', content: `What is 4 + 7? ${plan}` }];
for (;;) {
  const { message } = (await client.chat.completions.create({ model: 'policy', messages, tools })).choices[0];
  messages.push(message);
  if (!message.tool_calls) break;
  for (const call of message.tool_calls) {
    const { a, b } = JSON.parse(call.function.arguments);
    messages.push({ role: 'tool', tool_call_id: call.id, content: String(a + b) });
  }
}
const reward = messages.at(-1).content.includes('11') ? 1 : 0;
const finished = await fetch(`${gateway}/sessions/sum-1/finish`, { method: 'POST', body: JSON.stringify({ reward }) });
const [row] = (await finished.json()).traces;
console.log(`reward ${row.reward}: ${row.token_ids.length} tokens, ${row.turns.length} turns, mask ${row.loss_mask.join('')}`);
