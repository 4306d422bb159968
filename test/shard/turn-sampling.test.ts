import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { TurnRequest } from '../../src/canonical/turn.js';
import { resolveSettings } from '../../src/config-load.js';
import type { LoadedModel } from '../../src/rendering/model.js';
import { turnSampling } from '../../src/shard/begin-turn.js';
import { implicitSession, Session } from '../../src/shard/session.js';
import type { ShardContext } from '../../src/shard/shard-context.js';
import { embeddedTemplate, modelWithTemplate } from '../support/history-world.js';

const settings = resolveSettings({});
const session = new Session(implicitSession('s'), settings, 0, true);

function stopsOf(model: LoadedModel, more: Partial<TurnRequest> = {}): readonly number[] {
  const request = { protocol: 'openai-chat', parallelToolCalls: false, toolChoice: 'auto', sampling: {}, stopStrings: [], ...more };
  return turnSampling(session, request as unknown as TurnRequest, 100, { model, settings } as unknown as ShardContext).stopTokenIds;
}

test('the least number of tokens is not above what fits behind the prompt', () => {
  const model = modelWithTemplate(embeddedTemplate(), true);
  const request = { protocol: 'openai-chat', parallelToolCalls: true, toolChoice: 'auto', sampling: { minTokens: 50 }, stopStrings: [] };
  const sampling = (roomTokens: number) =>
    turnSampling(session, request as unknown as TurnRequest, roomTokens, { model, settings } as unknown as ShardContext);
  expect(sampling(100)).toMatchObject({ maxTokens: 100, minTokens: 50 });
  expect(sampling(7)).toMatchObject({ maxTokens: 7, minTokens: 7 });
});

describe('one call at a time', () => {
  const ownTemplate = modelWithTemplate(embeddedTemplate(), true);
  const fixture = new URL('../fixtures/families/templates/own__llama3_pythonic.jinja', import.meta.url);
  const lettersOnly = modelWithTemplate(readFileSync(fixture, 'utf8'), true);

  test('stops at the token that ends a call', () => {
    expect(stopsOf(ownTemplate)).toContain(ownTemplate.tokenizer.idOf('</tool_call>'));
    expect(stopsOf(ownTemplate, { parallelToolCalls: true })).not.toContain(ownTemplate.tokenizer.idOf('</tool_call>'));
  });

  test('is refused by its name where letters end a call, and needs nothing where calls are hidden', () => {
    const refusal = (field: string) => expect.objectContaining({ code: 'unsupported_feature', message: expect.stringContaining(field) });
    expect(() => stopsOf(lettersOnly)).toThrow(refusal('`parallel_tool_calls`'));
    expect(() => stopsOf(lettersOnly, { protocol: 'anthropic-messages' })).toThrow(refusal('`tool_choice.disable_parallel_tool_use`'));
    expect(stopsOf(lettersOnly, { toolChoice: 'none' })).toEqual(lettersOnly.stopTokenIds);
    expect(stopsOf(lettersOnly, { parallelToolCalls: true })).toEqual(lettersOnly.stopTokenIds);
  });
});
