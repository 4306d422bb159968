import type { EngineHttpRequest, GenerateRequest } from './engine.js';
import { SpelledIds } from './spelled-ids.js';

/**
 * A sampling call whose body has the members of `head` and the prompt ids under `idsKey`, spelled from the typed array. With
 * `request.spelled` it is spelled there, and valid until that is used again.
 */
export function samplingCall(path: string, head: object, idsKey: string, request: GenerateRequest): EngineHttpRequest {
  const { spelled = new SpelledIds(), promptIds, routingKey } = request;
  spelled.become(promptIds);
  const body = spelled.body(`${JSON.stringify(head).slice(0, -1)},${JSON.stringify(idsKey)}:`);
  return { method: 'POST', path, headers: samplingHeaders(routingKey), body };
}

/** Routers in front of engines pin a session by its key. */
const samplingHeaders = (routingKey: string): Record<string, string> => ({
  'content-type': 'application/json',
  accept: 'application/json',
  'x-session-id': routingKey,
  'x-smg-routing-key': routingKey,
});
