import type { EngineHttpRequest, GenerateRequest } from './engine.js';
import { promptIdsJson } from './prompt-ids-json.js';

const CLOSE = 0x7d;

/**
 * A sampling call whose body has the members of `head` and the prompt ids under `idsKey`, spelled from the typed array into
 * the body's own buffer. What `request.writtenIds` spells of them is copied.
 */
export function samplingCall(path: string, head: object, idsKey: string, request: GenerateRequest): EngineHttpRequest {
  const start = `${JSON.stringify(head).slice(0, -1)},${JSON.stringify(idsKey)}:`;
  const startBytes = Buffer.byteLength(start);
  const writtenIds = promptIdsJson(request.promptIds, request.writtenIds, startBytes, 1);
  const { bytes } = writtenIds;
  const body = Buffer.from(bytes.buffer, bytes.byteOffset - startBytes, startBytes + bytes.length + 1);
  body.write(start, 'utf8');
  body[body.length - 1] = CLOSE;
  return { method: 'POST', path, headers: samplingHeaders(request.routingKey), body, writtenIds };
}

/** Routers in front of engines pin a session by its key. */
const samplingHeaders = (routingKey: string): Record<string, string> => ({
  'content-type': 'application/json',
  accept: 'application/json',
  'x-session-id': routingKey,
  'x-smg-routing-key': routingKey,
});
