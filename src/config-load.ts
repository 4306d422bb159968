/** Reads settings: command line > environment > file > default. Names that do not exist are refused, values are checked singly, then together. */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { isRootUrl, type NamedSetting, SETTINGS, type Settings, type SomeSettings } from './config.js';
import { GatewayError } from './errors.js';

export interface SettingSources {
  /** Values of options by name without dashes (`engine-url`); a list may be an array, a flag may be `true`. */
  readonly flags?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Path of a JSON file with nested objects, or the parsed object. */
  readonly file?: string | SomeSettings;
}

/** Variables with our prefix that hold a secret and are therefore no settings. */
const SECRET_VARIABLES = { adminToken: 'ROLLOUT_GATEWAY_ADMIN_TOKEN', engineKey: 'ROLLOUT_GATEWAY_ENGINE_KEY' } as const;
/** The variable that names the settings file. */
export const CONFIG_VARIABLE = 'ROLLOUT_GATEWAY_CONFIG';

const invalid = (message: string): GatewayError => new GatewayError('setting_invalid', message);
const shown = (value: unknown): string => {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value));
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
};

/** Text of a command line or variable as the setting's kind of value; what cannot be read stays text and fails the check. */
const fromText = (named: NamedSetting, value: unknown): unknown => {
  const { kind } = named.setting;
  if (kind === 'list') {
    const parts = Array.isArray(value) ? value : [value];
    return parts.flatMap((part) => (typeof part === 'string' ? part.split(/[\s,]+/).filter((item) => item !== '') : [part]));
  }
  if (typeof value !== 'string') return value;
  if (kind === 'boolean') return value === 'true' ? true : value === 'false' ? false : value;
  if (kind === 'integer' || kind === 'number')
    return /^[+-]?\d[\d_]*(\.\d+)?(e[+-]?\d+)?$/i.test(value) ? Number(value.replaceAll('_', '')) : value;
  return value;
};

const checked = (named: NamedSetting, value: unknown, source: string): unknown => {
  const plain = named.setting.kind === 'json' && typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
  const result = named.setting.schema.safeParse(plain);
  if (result.success) return result.data;
  throw invalid(`cannot use ${source}: ${named.name} is ${shown(value)}, it must be ${named.setting.bounds}`);
};

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The nested object's leaves by dotted name. */
const leaves = (tree: Record<string, unknown>, path: string, source: string): [NamedSetting, unknown][] =>
  Object.entries(tree).flatMap(([key, value]): [NamedSetting, unknown][] => {
    const name = path === '' ? key : `${path}.${key}`;
    const named = SETTINGS.find((candidate) => candidate.name === name);
    if (named !== undefined) return value === undefined ? [] : [[named, value]];
    if (isRecord(value) && SETTINGS.some((candidate) => candidate.name.startsWith(`${name}.`))) return leaves(value, name, source);
    throw invalid(`cannot use ${source}: no setting is called ${shown(name)}; --help lists them`);
  });

const readFile = (path: string): Record<string, unknown> => {
  let parsed: unknown;
  try {
    parsed = JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new GatewayError('setting_invalid', `cannot read the settings file ${path}: ${(cause as Error).message}`, { cause });
  }
  if (!isRecord(parsed)) throw invalid(`cannot use the settings file ${path}: it must hold one JSON object`);
  return parsed;
};

const freeze = <T>(value: T): T => {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) freeze(member);
  }
  return value;
};

const build = (values: ReadonlyMap<string, unknown>): Settings => {
  const root: Record<string, unknown> = {};
  for (const { name, path, setting } of SETTINGS) {
    let place = root;
    for (const part of path.slice(0, -1)) {
      place[part] ??= {};
      place = place[part] as Record<string, unknown>;
    }
    place[path[path.length - 1]!] = values.has(name) ? values.get(name) : structuredClone(setting.default);
  }
  if (root.shards === 0) root.shards = Math.max(1, availableParallelism() - 1);
  // Every leaf was checked by its schema and none is missing.
  return freeze(root as unknown as Settings);
};

const checkTogether = (settings: Settings): void => {
  const { window, history, realignTokensMax, limits, engineUrl } = settings;
  if (window.min > window.max) throw invalid(`window.min is ${window.min}, it must not be above window.max, ${window.max}`);
  if (window.initial < window.min || window.initial > window.max) {
    throw invalid(`window.initial is ${window.initial}, it must be from window.min, ${window.min}, to window.max, ${window.max}`);
  }
  if (realignTokensMax > 0 && history !== 'rerender') {
    throw invalid(`realignTokensMax is ${realignTokensMax}, it needs history: rerender, and history is ${history}`);
  }
  if (limits.bodyBytes > limits.bodiesInFlightBytes) {
    throw invalid(
      `limits.bodyBytes is ${limits.bodyBytes}, it must not be above limits.bodiesInFlightBytes, ${limits.bodiesInFlightBytes}`,
    );
  }
  const urls = engineUrl.map((url) => url.replace(/\/+$/, ''));
  const deep = urls.find((url) => !isRootUrl(url));
  if (deep !== undefined)
    throw invalid(
      `engineUrl is ${deep}, it must be the engine’s root, from which the gateway finds all routes: ${deep.slice(0, -'/v1'.length)}`,
    );
  const twice = urls.find((url, index) => urls.indexOf(url) !== index);
  if (twice !== undefined) throw invalid(`engineUrl names ${twice} twice, each replica must be named once`);
};

const finish = (values: ReadonlyMap<string, unknown>): Settings => {
  const settings = build(values);
  checkTogether(settings);
  return settings;
};

/**
 * All settings from their sources.
 * @throws GatewayError `setting_invalid` naming source, setting, value and what is allowed.
 */
export const loadSettings = (sources: SettingSources): Settings => {
  const { flags = {}, env = {} } = sources;
  const file = sources.file ?? env[CONFIG_VARIABLE];
  const values = new Map<string, unknown>();
  const fileName = typeof file === 'string' ? `the settings file ${file}` : 'the settings';
  const tree = typeof file === 'string' ? readFile(file) : ((file ?? {}) as Record<string, unknown>);
  for (const [named, value] of leaves(tree, '', fileName)) values.set(named.name, checked(named, value, fileName));

  const secrets: readonly string[] = Object.values(SECRET_VARIABLES);
  for (const [variable, value] of Object.entries(env)) {
    if (!variable.startsWith('ROLLOUT_GATEWAY_') || value === undefined) continue;
    if (variable === CONFIG_VARIABLE || secrets.includes(variable)) continue;
    const named = SETTINGS.find((candidate) => candidate.variable === variable);
    if (named === undefined) throw invalid(`cannot use the variable ${variable}: no setting is called so; --help lists them`);
    values.set(named.name, checked(named, fromText(named, value), `the variable ${variable}`));
  }
  for (const [option, value] of Object.entries(flags)) {
    if (value === undefined) continue;
    const named = SETTINGS.find((candidate) => candidate.option === option);
    if (named === undefined) throw invalid(`cannot use --${option}: no setting is called so; --help lists them`);
    values.set(named.name, checked(named, fromText(named, value), `--${option}`));
  }
  return finish(values);
};

export const defaultSettings = (): Settings => build(new Map());

/** Settings from a nested object, the rest by default; for callers in the same process. */
export const resolveSettings = (some: SomeSettings): Settings => loadSettings({ file: some });

/** What serving needs beyond the defaults. @throws GatewayError `setting_invalid` */
export const checkServable = (settings: Settings): void => {
  if (settings.engineUrl.length === 0)
    throw invalid('engineUrl is not set; give the engine’s root URL, such as --engine-url http://127.0.0.1:8000');
  const urls = settings.engineUrl.map((url) => url.replace(/\/+$/, ''));
  const twice = urls.find((url, at) => urls.indexOf(url) !== at);
  if (twice !== undefined) throw invalid(`engineUrl has ${twice} twice; every replica has a URL of its own`);
  if (settings.model === null) throw invalid('model is not set; give the model’s directory, such as --model ./my-model');
};

export interface Secrets {
  readonly adminToken: string | null;
  readonly engineKey: string | null;
}

const secret = (
  variable: string,
  path: string | null,
  setting: string,
  env: Readonly<Record<string, string | undefined>>,
): string | null => {
  const direct = env[variable]?.trim();
  if (direct !== undefined && direct !== '') return direct;
  if (path === null) return null;
  let content: string;
  try {
    content = readFileSync(path, 'utf8').trim();
  } catch (cause) {
    throw new GatewayError('setting_invalid', `cannot read ${setting} ${path}: ${(cause as Error).message}`, { cause });
  }
  if (content === '') throw invalid(`cannot use ${setting} ${path}: the file is empty`);
  return content;
};

/** Secrets come from the environment or a file, never from the command line, and are kept apart from what may be logged. */
export const loadSecrets = (settings: Settings, env: Readonly<Record<string, string | undefined>>): Secrets => ({
  adminToken: secret(SECRET_VARIABLES.adminToken, settings.adminTokenFile, 'adminTokenFile', env),
  engineKey: secret(SECRET_VARIABLES.engineKey, settings.engineKeyFile, 'engineKeyFile', env),
});
