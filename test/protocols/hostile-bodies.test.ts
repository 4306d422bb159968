import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromPlain } from '../../src/canonical/json-plain.js';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../src/canonical/json-value.js';
import type { ProtocolName, TurnRequest } from '../../src/canonical/turn.js';
import { GatewayError } from '../../src/errors.js';
import { parseBody } from '../../src/protocols/request-body.js';
import { options, protocols } from './requests.js';

const folder = new URL('../fixtures/protocols/', import.meta.url);
const bodies: readonly JsonObject[] = readdirSync(folder)
  .filter((file) => file.endsWith('.json'))
  .map((file) => parseBody(readFileSync(new URL(file, folder)), 128).get('body') as JsonObject);

/** The value with one of its parts, chosen by `at`, replaced or left out. */
function damaged(value: JsonValue, at: () => number, part: JsonValue | undefined): JsonValue | undefined {
  const stop = at() % 3 === 0;
  if (isJsonArray(value) && value.length > 0) {
    const i = at() % value.length;
    const changed = stop ? part : damaged(value[i]!, at, part);
    return [...value.slice(0, i), ...(changed === undefined ? [] : [changed]), ...value.slice(i + 1)];
  }
  if (isJsonObject(value) && value.size > 0) {
    const name = [...value.keys()][at() % value.size]!;
    const changed = stop ? part : damaged(value.get(name)!, at, part);
    const members = new Map(value);
    if (changed === undefined) members.delete(name);
    else members.set(name, changed);
    return members;
  }
  return part;
}

const typesOf = ({ messages, tools, sampling, stopStrings }: TurnRequest): boolean =>
  messages.every(
    (message) =>
      (typeof message.content === 'string' || (message.role === 'assistant' && message.content === null)) &&
      (message.role !== 'assistant' ||
        message.toolCalls.every((call) => typeof call.name === 'string' && typeof call.arguments === 'string')),
  ) &&
  tools.every((tool) => typeof tool.name === 'string' && (tool.parameters === undefined || isJsonObject(tool.parameters))) &&
  Object.values(sampling).every((x) => Number.isFinite(x)) &&
  stopStrings.every((stop) => typeof stop === 'string' && stop !== '');

describe.each(['openai-chat', 'anthropic-messages'] as ProtocolName[])('%s', (name) => {
  it('reads or refuses whatever comes, and never fails otherwise', () => {
    const part = fc.option(fc.jsonValue({ maxDepth: 3 }), { nil: undefined });
    let refused = 0;
    let read = 0;
    fc.assert(
      fc.property(fc.constantFrom(...bodies), fc.array(fc.nat(), { minLength: 30, maxLength: 30 }), part, (body, choices, replacement) => {
        let i = 0;
        const changed = damaged(body, () => choices[i++ % choices.length]!, replacement === undefined ? undefined : fromPlain(replacement));
        try {
          const request = protocols[name].parseRequest(changed as JsonObject, options);
          expect(typesOf(request)).toBe(true);
          read++;
        } catch (error) {
          if (!(error instanceof GatewayError)) throw error;
          expect(['invalid_request', 'unsupported_feature', 'thread_unsupported_request']).toContain(error.code);
          expect(error.message).toMatch(/^`/);
          expect(error.message.length).toBeLessThan(400);
          refused++;
        }
      }),
      { numRuns: 1500 },
    );
    expect(refused).toBeGreaterThan(100);
    expect(read).toBeGreaterThan(100);
  });
});
