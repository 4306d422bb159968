import type { TurnReply, TurnRequest } from '../../canonical/turn.js';
import type { StreamOpening } from '../protocol.js';
import { callJson, chatId, chatUsage, choiceTail, idsJson, type ReasoningField, reasoningMembers, visibleContent } from './reply.js';

/** Events of a stream that are one `data:` line each. */
export const dataEvent = (json: string): string => `data: ${json}\n\n`;

interface ChunkHead {
  readonly turnId: string;
  readonly createdAtSeconds: number;
}

export function openChatStream(request: TurnRequest, opening: StreamOpening): string {
  const choice = '{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}';
  return chunk(request, opening, choice, request.returnTokenIds ? `,"prompt_token_ids":${idsJson(opening.promptIds())}` : '');
}

/**
 * What follows the first chunk: reasoning in one delta (the openai SDK keeps only the last fragment of a member that it
 * does not know), text, each call as a head and its arguments, the end with logprobs and ids, usage where asked for.
 */
export function finishChatStream(request: TurnRequest, reply: TurnReply, field: ReasoningField): string {
  const delta = (members: object): string =>
    chunk(request, reply, `{"index":0,"delta":${JSON.stringify(members)},"logprobs":null,"finish_reason":null}`);
  const { reasoning, toolCalls } = reply.message;
  const content = visibleContent(reply);
  let events = '';
  if (reasoning) events += delta(reasoningMembers(reasoning, field));
  if (content) events += delta({ content });
  toolCalls.forEach((call, index) => {
    events += delta({ tool_calls: [{ index, ...callJson({ ...call, arguments: '' }, index) }] });
    if (call.arguments !== '') events += delta({ tool_calls: [{ index, function: { arguments: call.arguments } }] });
  });
  events += chunk(request, reply, `{"index":0,"delta":{},${choiceTail(request, reply)}}`);
  if (request.includeUsage) events += chunk(request, reply, '', `,"usage":${JSON.stringify(chatUsage(reply))}`);
  return `${events}data: [DONE]\n\n`;
}

function chunk(request: TurnRequest, head: ChunkHead, choice: string, members = ''): string {
  const { turnId, createdAtSeconds } = head;
  const json = JSON.stringify({ id: chatId(turnId), object: 'chat.completion.chunk', created: createdAtSeconds, model: request.model });
  return dataEvent(`${json.slice(0, -1)},"choices":[${choice}]${members}}`);
}
