import type { TurnReply, TurnRequest } from '../../canonical/turn.js';
import type { StreamOpening } from '../protocol.js';
import { endOf, messageJson, type ReplyBlock, replyBlocks, usageJson, usageOf } from './reply.js';

/** SDKs skip events without an `event:` line. `json` is an object with a `type`. */
export const namedEvent = (type: string, json: string): string => `event: ${type}\ndata: ${json}\n\n`;

export const PING = namedEvent('ping', '{"type":"ping"}');

export function openMessagesStream(request: TurnRequest, opening: StreamOpening): string {
  const usage = usageJson(opening.promptTokens, 1, 0);
  const message = messageJson(opening.turnId, request.model, '[]', { stop_reason: null, stop_sequence: null }, usage);
  return namedEvent('message_start', `{"type":"message_start","message":${message}}`) + PING;
}

/** Blocks strictly one after the other, then the end with total counters. */
export function finishMessagesStream(_request: TurnRequest, reply: TurnReply): string {
  const blocks = replyBlocks(reply).map(blockEvents).join('');
  const end = { type: 'message_delta', delta: { ...endOf(reply), stop_details: null, container: null }, usage: usageOf(reply) };
  return blocks + namedEvent('message_delta', JSON.stringify(end)) + namedEvent('message_stop', '{"type":"message_stop"}');
}

function blockEvents(block: ReplyBlock, index: number): string {
  const start = (content_block: object): string =>
    namedEvent('content_block_start', JSON.stringify({ type: 'content_block_start', index, content_block }));
  const delta = (value: object): string =>
    namedEvent('content_block_delta', JSON.stringify({ type: 'content_block_delta', index, delta: value }));
  return startAndDeltas(block, start, delta) + namedEvent('content_block_stop', JSON.stringify({ type: 'content_block_stop', index }));
}

/** The empty members of a start are needed: SDKs append to them. A signature comes last, where clients expect it. */
function startAndDeltas(block: ReplyBlock, start: (block: object) => string, delta: (value: object) => string): string {
  switch (block.type) {
    case 'thinking':
      return (
        start({ type: 'thinking', thinking: '', signature: '' }) +
        delta({ type: 'thinking_delta', thinking: block.thinking }) +
        delta({ type: 'signature_delta', signature: block.signature })
      );
    case 'text':
      return start({ type: 'text', text: '', citations: null }) + delta({ type: 'text_delta', text: block.text });
    case 'tool_use':
      return (
        start({ type: 'tool_use', id: block.id, name: block.name, input: {}, caller: { type: 'direct' } }) +
        delta({ type: 'input_json_delta', partial_json: '' }) +
        delta({ type: 'input_json_delta', partial_json: block.inputJson })
      );
  }
}
