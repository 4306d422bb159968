import { expect, test } from 'vitest';
import { createLog, errorFields, sessionTag } from '../../src/telemetry/log.js';

test('sessionTag is short, equal for equal ids and does not hold the id', () => {
  expect(sessionTag('secret-key')).toBe(sessionTag('secret-key'));
  expect(sessionTag('secret-key')).not.toBe(sessionTag('secret-kex'));
  expect(sessionTag('ab')).toMatch(/^[0-9a-f]{8}$/);
});

test('errorFields keeps code and message and drops the rest of the error', () => {
  const error = Object.assign(new Error('no'), { code: 'E1', headers: { authorization: 'Bearer s' } });
  expect(errorFields(error)).toMatchObject({ error: 'no', name: 'Error', code: 'E1' });
  expect(JSON.stringify(errorFields(error))).not.toContain('Bearer');
  expect(errorFields('text')).toEqual({ error: 'text' });
});

test('createLog writes one JSON line an event with thread and level by name, from its level on', () => {
  const lines: string[] = [];
  const log = createLog('info', 'front', { write: (line) => void lines.push(line) });
  log.debug('quiet');
  log.warn({ session: sessionTag('s') }, 'loud');
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0]!)).toMatchObject({ level: 'warn', thread: 'front', session: sessionTag('s'), msg: 'loud' });
});
