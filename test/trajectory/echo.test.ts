import { describe, expect, test } from 'vitest';
import type { AssistantMessage } from '../../src/canonical/message.js';
import { echoFit, echoHash } from '../../src/trajectory/echo.js';
import { assistant, call } from '../support/trajectory-fixtures.js';

const ARGS = '{ "city":"Z\\u00fcrich0" ,  "days":1.0 }';
const shown = assistant('let me look \n', { reasoning: 'think \n', toolCalls: [call('look', ARGS, 'call_1'), call('stop', '', 'call_2')] });

const fitOf = (echo: Partial<AssistantMessage>, known: boolean) => echoFit({ ...shown, ...echo }, shown, known);

describe('what a client made of a reply', () => {
  test.each<[string, Partial<AssistantMessage>, byContent: string, byHandle: string]>([
    ['verbatim', {}, 'exact', 'exact'],
    [
      'arguments written anew',
      { toolCalls: [call('look', '{"city":"Zürich0","days":1}', 'call_1'), call('stop', '{}', 'call_2')] },
      'exact',
      'exact',
    ],
    ['ids renamed', { toolCalls: [call('look', ARGS, 'x'), call('stop', '', 'y')] }, 'exact', 'exact'],
    ['text trimmed', { content: 'let me look' }, 'close', 'close'],
    ['reasoning trimmed', { reasoning: 'think' }, 'close', 'close'],
    ['reasoning dropped', { reasoning: null }, 'close', 'close'],
    ['text dropped beside calls', { content: null }, 'none', 'close'],
    ['other reasoning', { reasoning: 'I think' }, 'none', 'none'],
    ['other text', { content: 'let me see' }, 'none', 'none'],
    ['a call dropped', { toolCalls: shown.toolCalls.slice(0, 1) }, 'none', 'none'],
    ['all calls dropped with the text', { toolCalls: [], content: null }, 'none', 'none'],
    ['a call renamed', { toolCalls: [call('invalid', ARGS, 'call_1'), shown.toolCalls[1]!] }, 'none', 'none'],
    ['other arguments', { toolCalls: [call('look', '{"city":"Bern","days":1}', 'call_1'), shown.toolCalls[1]!] }, 'none', 'none'],
  ])('%s', (_, echo, byContent, byHandle) => {
    expect(fitOf(echo, false)).toBe(byContent);
    expect(fitOf(echo, true)).toBe(byHandle);
    if (byContent !== 'none') expect(echoHash({ ...shown, ...echo })).toBe(echoHash(shown));
  });

  const numbers = assistant('x', { toolCalls: [call('look', '{"id": 1234567890123456789, "far": [1e400], "n": 2}', 'call_1')] });
  test.each<[string, string, id: string, byHandle: string]>([
    ['read as doubles', '{"id":1234567890123456800,"far":[null],"n":2}', 'call_1', 'close'],
    ['read as doubles, under another id', '{"id":1234567890123456800,"far":[null],"n":2}', 'x', 'none'],
    ['another number', '{"id":1234567890123457000,"far":[null],"n":2}', 'call_1', 'none'],
  ])('numbers beyond doubles, %s', (_, args, id, byHandle) => {
    const echo = assistant('x', { toolCalls: [call('look', args, id)] });
    expect(echoFit(echo, numbers, true)).toBe(byHandle);
    expect(echoFit(echo, numbers, false)).toBe('none');
  });

  const broken = assistant('x', { toolCalls: [call('look', '{"city": "Zü', 'call_1')] });
  test.each<[string, AssistantMessage, string]>([
    ['replaced by {}', assistant('x', { toolCalls: [call('look', '{}', 'call_1')] }), 'close'],
    ['wrapped in a note', assistant('x', { toolCalls: [call('look', '{"__unparsedToolInput":{"raw":"{","len":1}}', 'call_1')] }), 'close'],
    ['renamed to invalid', assistant('x', { toolCalls: [call('invalid', '{"error":"no JSON"}', 'call_1')] }), 'close'],
    ['repaired', assistant('x', { toolCalls: [call('look', '{"city": "Zü"}', 'call_1')] }), 'close'],
    ['renamed otherwise', assistant('x', { toolCalls: [call('see', '{}', 'call_1')] }), 'none'],
    ['under another id', assistant('x', { toolCalls: [call('look', '{}', 'call_2')] }), 'none'],
  ])('arguments that are not JSON, %s', (_, echo, byHandle) => {
    expect(echoFit(echo, broken, true)).toBe(byHandle);
    expect(echoFit(echo, broken, false)).toBe('none');
  });
});
