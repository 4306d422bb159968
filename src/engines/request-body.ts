import type { GenerateRequest } from './engine.js';
import { promptIdsJson } from './prompt-ids-json.js';

/**
 * The JSON body of a request: the members of `head`, then the prompt ids under `idsKey`, spelled from the typed array or
 * copied from `request.promptJson`. Members that are `undefined` are left out.
 */
export function requestBody(head: object, idsKey: string, request: GenerateRequest): Uint8Array {
  const start = `${JSON.stringify(head).slice(0, -1)},${JSON.stringify(idsKey)}:`;
  const ids = request.promptJson ?? promptIdsJson(request.promptIds).bytes;
  const startBytes = Buffer.byteLength(start);
  const body = Buffer.allocUnsafeSlow(startBytes + ids.length + 1);
  body.write(start, 0, 'utf8');
  body.set(ids, startBytes);
  body[startBytes + ids.length] = 0x7d;
  return body;
}

/** Headers of a call; routers in front of engines pin a session by them. */
export const jsonHeaders = (routingKey: string): Record<string, string> => ({
  'content-type': 'application/json',
  accept: 'application/json',
  'x-session-id': routingKey,
  'x-smg-routing-key': routingKey,
});
