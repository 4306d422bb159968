import type Anthropic from '@anthropic-ai/sdk';
import type { AgentTask, Tally } from './agent.js';
import type { Arguments } from './tools.js';

const TURNS_MAX = 30;

/**
 * An agent's loop over Messages: ask, run the calls, ask again, until an answer has no calls.
 * Thinking blocks go back as they came. @returns the last answer's text
 */
export async function runMessagesAgent(client: Anthropic, task: AgentTask, tally: Tally): Promise<string> {
  let messages: Anthropic.MessageParam[] = [{ role: 'user', content: task.prompt }];
  let turns = 0;
  const ask = async (): Promise<Anthropic.Message> => {
    const body = { model: 'sim', system: task.system, messages, tools: tools(task), max_tokens: 400 };
    const message = task.stream ? await client.messages.stream(body).finalMessage() : await client.messages.create(body);
    turns++;
    tally.turn();
    return message;
  };
  while (turns < TURNS_MAX) {
    const answer = await ask();
    messages.push({ role: 'assistant', content: answer.content });
    const calls = answer.content.filter((block) => block.type === 'tool_use');
    if (calls.length === 0) return textOf(answer);
    const results = await Promise.all(
      calls.map(async (call): Promise<Anthropic.ToolResultBlockParam> => {
        const text = await task.run(call.name, call.input as Arguments);
        return { type: 'tool_result', tool_use_id: call.id, content: text };
      }),
    );
    messages.push({ role: 'user', content: results });
    if (turns === task.compactAfter) {
      messages.push({ role: 'user', content: 'Summarize the conversation so that the work can go on from your summary alone.' });
      const summary = textOf(await ask());
      messages = [{ role: 'user', content: `${task.prompt}\n\nSummary of the work so far:\n${summary}` }];
    }
  }
  throw new Error(`the agent did not come to an end within ${TURNS_MAX} turns: ${task.prompt}`);
}

const textOf = (message: Anthropic.Message): string => message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');

const tools = (task: AgentTask): Anthropic.Tool[] =>
  task.tools.map(({ name, description, parameters }) => ({
    name,
    description,
    input_schema: { type: 'object', properties: parameters.properties, required: [...parameters.required] },
  }));
