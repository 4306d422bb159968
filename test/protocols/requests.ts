import { readFileSync } from 'node:fs';
import { fromPlain } from '../../src/canonical/json-plain.js';
import type { JsonObject } from '../../src/canonical/json-value.js';
import type { TurnRequest } from '../../src/canonical/turn.js';
import { GatewayError } from '../../src/errors.js';
import type { ParseOptions } from '../../src/protocols/protocol.js';
import { createProtocols } from '../../src/protocols/registry.js';
import { parseBody } from '../../src/protocols/request-body.js';

export const protocols = createProtocols({ reasoning: 'reasoning_content' });

/** Signatures of these tests are `sig:` and the turn's id. */
export const options: ParseOptions = { verifySignature: (signature) => (signature.startsWith('sig:') ? signature.slice(4) : null) };

export const bodyOf = (value: object | string): JsonObject =>
  typeof value === 'string' ? parseBody(new TextEncoder().encode(value), 128) : (fromPlain(value) as JsonObject);

export const chat = (value: object | string): TurnRequest => protocols['openai-chat'].parseRequest(bodyOf(value), options);
export const messages = (value: object | string): TurnRequest => protocols['anthropic-messages'].parseRequest(bodyOf(value), options);

/** A Chat request that says hi, with other members. */
export const chatHi = (members: object = {}): TurnRequest => chat({ model: 'm', messages: [{ role: 'user', content: 'hi' }], ...members });
export const messagesHi = (members: object = {}): TurnRequest =>
  messages({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], ...members });

/** A body as a client sent it, spelling kept. */
export function clientRequest(name: string): TurnRequest {
  const file = parseBody(readFileSync(new URL(`../fixtures/protocols/${name}.json`, import.meta.url)), 128);
  const body = file.get('body') as JsonObject;
  return protocols[String(file.get('client')).includes('Messages') ? 'anthropic-messages' : 'openai-chat'].parseRequest(body, options);
}

export function refusal(run: () => unknown): GatewayError {
  try {
    run();
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}
