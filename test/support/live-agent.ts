import type OpenAI from 'openai';
import type { LiveGateway } from './live-flow.js';

export type ChatMessage = OpenAI.Chat.ChatCompletionMessageParam & { reasoning_content?: string };

export const TOOLS: OpenAI.Chat.ChatCompletionTool[] = [
  {
    type: 'function',
    function: {
      name: 'get_weather',
      description: 'Weather of a city, in °C & more',
      parameters: { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 1 } }, required: ['city'] },
    },
  },
];

export interface AgentWork {
  readonly key: string;
  readonly messages: ChatMessage[];
  readonly turns: number;
  readonly stream: boolean;
  /** Most tokens of a reply. @default 120 */
  readonly maxTokens?: number;
  /** Fewest tokens of a reply. @default 0 */
  readonly minTokens?: number;
}

/** An agent's loop over Chat: sends the whole history each time and answers every call. @returns what it sent, turn by turn */
export async function runLiveAgent(flow: LiveGateway, work: AgentWork): Promise<ChatMessage[][]> {
  const { key, messages, turns, stream, maxTokens = 120, minTokens = 0 } = work;
  const client = flow.openai(key);
  const prompts: ChatMessage[][] = [];
  for (let turn = 0; turn < turns; turn += 1) {
    prompts.push(structuredClone(messages));
    const body = { model: 'tiny', messages, tools: TOOLS, max_tokens: maxTokens, min_tokens: minTokens, temperature: 0.7 };
    const reply = stream
      ? (await client.chat.completions.stream(body).finalChatCompletion()).choices[0]!.message
      : (await client.chat.completions.create(body)).choices[0]!.message;
    const reasoning = (reply as { reasoning_content?: string | null }).reasoning_content;
    messages.push({
      role: 'assistant',
      content: reply.content,
      ...(reasoning == null ? {} : { reasoning_content: reasoning }),
      ...(reply.tool_calls === undefined ? {} : { tool_calls: reply.tool_calls }),
    } as ChatMessage);
    for (const { id } of reply.tool_calls ?? []) messages.push({ role: 'tool', tool_call_id: id, content: '{"temperature": 21.0}' });
    if (reply.tool_calls === undefined) messages.push({ role: 'user', content: `And then? (${turn})` });
  }
  return prompts;
}
