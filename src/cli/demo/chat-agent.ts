import type OpenAI from 'openai';
import type { AgentTask, Tally } from './agent.js';
import type { Arguments } from './tools.js';

type ChatMessage = OpenAI.Chat.Completions.ChatCompletionMessageParam;

const TURNS_MAX = 30;

/**
 * An agent's loop over Chat Completions: ask, run the calls, ask again, until an answer has no calls.
 * @returns the last answer's text
 */
export async function runChatAgent(client: OpenAI, task: AgentTask, tally: Tally): Promise<string> {
  let messages: ChatMessage[] = opening(task, task.prompt);
  let turns = 0;
  const ask = async (): Promise<OpenAI.Chat.Completions.ChatCompletionMessage> => {
    const body = { model: 'sim', messages, tools: tools(task), max_tokens: 400 };
    const completion = task.stream
      ? await client.chat.completions.stream({ ...body, stream: true }).finalChatCompletion()
      : await client.chat.completions.create(body);
    turns++;
    tally.turn();
    return completion.choices[0]!.message;
  };
  while (turns < TURNS_MAX) {
    const answer = await ask();
    messages.push(answer);
    const calls = answer.tool_calls ?? [];
    if (calls.length === 0) return answer.content ?? '';
    const results = await Promise.all(
      calls.map(async (call): Promise<ChatMessage> => {
        if (call.type !== 'function') throw new Error(`the model called a ${call.type} tool, the demo has functions only`);
        const text = await task.run(call.function.name, JSON.parse(call.function.arguments) as Arguments);
        return { role: 'tool', tool_call_id: call.id, content: text };
      }),
    );
    messages.push(...results);
    if (turns === task.compactAfter) {
      messages.push({ role: 'user', content: 'Summarize the conversation so that the work can go on from your summary alone.' });
      const summary = await ask();
      messages = opening(task, `${task.prompt}\n\nSummary of the work so far:\n${summary.content ?? ''}`);
    }
  }
  throw new Error(`the agent did not come to an end within ${TURNS_MAX} turns: ${task.prompt}`);
}

const opening = (task: AgentTask, prompt: string): ChatMessage[] => [
  { role: 'system', content: task.system },
  { role: 'user', content: prompt },
];

const tools = (task: AgentTask): OpenAI.Chat.Completions.ChatCompletionTool[] =>
  task.tools.map(({ name, description, parameters }) => ({
    type: 'function',
    function: { name, description, parameters: { ...parameters } },
  }));
