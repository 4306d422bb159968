import { z } from 'zod';
import { isHttpUrl, isRootUrl } from '../config.js';
import { GatewayError } from '../errors.js';
import { readBody } from './bodies.js';
import { closedObject } from './body-issues.js';
import type { EngineOrder } from './calls.js';
import { queryInteger, readQuery } from './query.js';

export type EngineRouteName = 'engines' | 'pause_engines' | 'resume_engines' | 'add_engine' | 'remove_engine';

export interface EngineHttp {
  readonly query: string;
  readonly body: Uint8Array;
  /** Nesting of a body. */
  readonly jsonDepth: number;
}

const MAX_WAIT_MS = 3_600_000;

export const PauseBody = closedObject({
  mode: z.enum(['wait', 'abort', 'keep']).nullish(),
  wait_ms: z.int().min(0).max(MAX_WAIT_MS).nullish(),
});
export const ResumeBody = closedObject({
  weight_version: z
    .union([z.string().min(1).max(256), z.int().transform(String)], { error: 'must be a string of 1 to 256 characters or a whole number' })
    .nullish(),
});
export const AddEngineBody = closedObject({ url: z.string() });

/**
 * Reads a trainer's order about the engines.
 * @throws GatewayError naming the field or parameter that is wrong
 */
export function readEngineOrder(route: EngineRouteName, http: EngineHttp): EngineOrder {
  switch (route) {
    case 'engines':
      readQuery(http.query, []);
      return { kind: 'tell' };
    case 'pause_engines': {
      const { body } = readBody(PauseBody, http.body, http.jsonDepth);
      return { kind: 'pause', mode: body.mode ?? 'wait', waitMs: body.wait_ms ?? MAX_WAIT_MS };
    }
    case 'resume_engines': {
      const { body } = readBody(ResumeBody, http.body, http.jsonDepth);
      return { kind: 'resume', weightVersion: body.weight_version ?? null };
    }
    case 'add_engine':
      return { kind: 'add_replica', url: engineUrl(readBody(AddEngineBody, http.body, http.jsonDepth).body.url) };
    case 'remove_engine': {
      const query = readQuery(http.query, ['url', 'wait_ms']);
      const url = query.get('url');
      if (url === undefined) throw new GatewayError('invalid_request', 'Cannot remove a replica: the query parameter `url` is missing.');
      return { kind: 'remove_replica', url: engineUrl(url), waitMs: queryInteger(query, 'wait_ms', MAX_WAIT_MS, 0, MAX_WAIT_MS) };
    }
  }
}

function engineUrl(url: string): string {
  if (isHttpUrl(url) && isRootUrl(url)) return url;
  if (isHttpUrl(url))
    throw new GatewayError('invalid_request', `\`url\` must be the engine's root without /v1, got "${url.slice(0, 200)}"`);
  throw new GatewayError('invalid_request', `\`url\` must be an http(s) URL without query or credentials, got "${url.slice(0, 200)}"`);
}
