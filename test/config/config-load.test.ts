import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { SETTINGS } from '../../src/config.js';
import { checkServable, defaultSettings, loadSecrets, loadSettings, resolveSettings } from '../../src/config-load.js';

const folder = mkdtempSync(join(tmpdir(), 'rollout-gateway-config-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = (name: string, content: string): string => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

describe('the settings table', () => {
  test('every default passes its own check and every entry has a sentence', () => {
    for (const { name, setting } of SETTINGS) {
      expect(setting.schema.safeParse(setting.default).success, name).toBe(true);
      expect(setting.meaning, name).toMatch(/^[A-Z`][\s\S]*\.$/);
      expect(setting.bounds, name).not.toBe('');
    }
  });

  test('names, options and variables are unique and follow one rule', () => {
    const idle = SETTINGS.find(({ name }) => name === 'sessions.idleTtlMs');
    expect(idle).toMatchObject({ option: 'sessions-idle-ttl-ms', variable: 'ROLLOUT_GATEWAY_SESSIONS_IDLE_TTL_MS' });
    for (const key of ['name', 'option', 'variable'] as const)
      expect(new Set(SETTINGS.map((entry) => entry[key])).size).toBe(SETTINGS.length);
  });
});

describe('loadSettings', () => {
  test('takes the line before the environment, that before the file, that before the default', () => {
    const path = file('a.json', JSON.stringify({ port: 1, host: 'file', sessions: { max: 11 }, limits: { queue: 5 } }));
    const env = { ROLLOUT_GATEWAY_PORT: '2', ROLLOUT_GATEWAY_SESSIONS_MAX: '22', PATH: '/bin' };
    const settings = loadSettings({ flags: { port: '3' }, env, file: path });
    expect([settings.port, settings.sessions.max, settings.limits.queue, settings.host, settings.sessions.implicit]).toEqual([
      3,
      22,
      5,
      'file',
      true,
    ]);
  });

  test('reads the file that the environment names', () => {
    const path = file('named.json', '{"models": {"strict": true}}');
    expect(loadSettings({ env: { ROLLOUT_GATEWAY_CONFIG: path } }).models.strict).toBe(true);
  });

  test('reads flags, lists, numbers and JSON objects from text', () => {
    const settings = loadSettings({
      flags: { 'sessions-implicit': 'false', 'wire-token-ids': true, 'engine-url': ['http://a:1', 'http://b:2'], 'sampling-top-p': '0.5' },
      env: { ROLLOUT_GATEWAY_TEMPLATE_KWARGS: '{"a": 1.0}', ROLLOUT_GATEWAY_LIMITS_QUEUE: '1e3' },
    });
    expect(settings.sessions.implicit).toBe(false);
    expect(settings.wire.tokenIds).toBe(true);
    expect(settings.engineUrl).toEqual(['http://a:1', 'http://b:2']);
    expect(settings.sampling.topP).toBe(0.5);
    expect(settings.templateKwargs).toBe('{"a": 1.0}');
    expect(settings.limits.queue).toBe(1000);
    expect(loadSettings({ env: { ROLLOUT_GATEWAY_ENGINE_URL: 'http://a:1,http://b:2' } }).engineUrl).toHaveLength(2);
    expect(resolveSettings({ templateKwargs: { enable_thinking: false } as unknown as string }).templateKwargs).toBe(
      '{"enable_thinking":false}',
    );
  });

  const refused: [string, Parameters<typeof loadSettings>[0], RegExp][] = [
    ['an unknown option', { flags: { 'no-such': '1' } }, /--no-such: no setting/],
    ['an unknown variable', { env: { ROLLOUT_GATEWAY_PROT: '1' } }, /ROLLOUT_GATEWAY_PROT: no setting/],
    ['an unknown name in the file', { file: { sessions: { maximum: 1 } } as object }, /no setting is called sessions\.maximum/],
    ['a prototype key in the file', { file: JSON.parse('{"__proto__": {"port": 1}}') as object }, /no setting is called __proto__/],
    ['a number that is none', { flags: { port: 'http' } }, /--port: port is http, it must be integer, 0 to 65535/],
    ['hexadecimal', { flags: { port: '0x10' } }, /port is 0x10/],
    ['an empty number', { flags: { port: '' } }, /port is , it must be/],
    ['a value beyond its bound', { env: { ROLLOUT_GATEWAY_PORT: '70000' } }, /variable ROLLOUT_GATEWAY_PORT: port is 70000/],
    ['an unknown choice', { flags: { engine: 'llama' } }, /engine is llama, it must be vllm, sglang/],
    ['a flag with another word', { flags: { 'models-strict': 'yes' } }, /true or false/],
    ['a URL of another kind', { flags: { 'engine-url': 'ftp://x' } }, /engineUrl/],
    ['a URL with credentials', { flags: { 'engine-url': 'http://u:p@x' } }, /engineUrl/],
    ['JSON that is no object', { flags: { 'template-kwargs': '[1]' } }, /JSON object/],
    [
      'a window that is upside down',
      { file: { window: { min: 5, max: 2, initial: 3 } } },
      /window\.min is 5, it must not be above window\.max, 2/,
    ],
    ['an initial window outside', { file: { window: { initial: 2000 } } }, /window\.initial is 2000/],
    ['realigning without rerender', { file: { realignTokensMax: 8 } }, /needs history: rerender/],
    ['bodies larger than all bodies together', { file: { limits: { bodiesInFlightBytes: 1048576 } } }, /limits\.bodyBytes/],
    ['the same replica twice', { flags: { 'engine-url': ['http://a:1', 'http://a:1/'] } }, /names http:\/\/a:1 twice/],
    [
      'an engine’s URL that ends in /v1',
      { flags: { 'engine-url': 'http://a:1/v1/' } },
      /engineUrl is http:\/\/a:1\/v1, .* root.*: http:\/\/a:1$/,
    ],
    ['reasoning by a name', { flags: { reasoning: 'think' } }, /reasoning is think, it must be none/],
    ['a file that is missing', { file: join(folder, 'none.json') }, /cannot read the settings file/],
    ['a file that is no object', { file: file('list.json', '[]') }, /one JSON object/],
  ];
  test.each(refused)('refuses %s in one line', (_name, sources, message) => {
    let caught: unknown;
    try {
      loadSettings(sources);
    } catch (error) {
      caught = error;
    }
    expect(caught).toMatchObject({ code: 'setting_invalid', message: expect.stringMatching(message) });
    expect((caught as Error).message).not.toContain('\n');
  });

  test('gives frozen values and a real number of shards', () => {
    const settings = defaultSettings();
    expect(Object.isFrozen(settings.sessions) && Object.isFrozen(settings) && Object.isFrozen(settings.engineUrl)).toBe(true);
    expect(settings.shards).toBe(Math.max(1, availableParallelism() - 1));
    expect(structuredClone(settings)).toEqual(settings);
  });
});

test('checkServable says which setting serving lacks', () => {
  expect(() => checkServable(defaultSettings())).toThrow(/engineUrl is not set/);
  expect(() => checkServable(resolveSettings({ engineUrl: ['http://a'] }))).toThrow(/model is not set/);
  expect(() => checkServable(resolveSettings({ engineUrl: ['http://a'], model: 'm' }))).not.toThrow();
});

test('loadSecrets reads the environment before the file and refuses an empty file', () => {
  const settings = resolveSettings({ adminTokenFile: file('token', 'from-file\n') });
  expect(loadSecrets(settings, {})).toEqual({ adminToken: 'from-file', engineKey: null });
  const env = { ROLLOUT_GATEWAY_ADMIN_TOKEN: 'from-env', ROLLOUT_GATEWAY_ENGINE_KEY: 'k' };
  expect(loadSecrets(settings, env)).toEqual({ adminToken: 'from-env', engineKey: 'k' });
  expect(loadSettings({ env }).host).toBe('127.0.0.1');
  expect(() => loadSecrets(resolveSettings({ adminTokenFile: file('empty', ' ') }), {})).toThrow(/the file is empty/);
  expect(() => loadSecrets(resolveSettings({ engineKeyFile: join(folder, 'none') }), {})).toThrow(/cannot read engineKeyFile/);
});
