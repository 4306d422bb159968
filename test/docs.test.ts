/** README and AGENTS.md name only what there is, name all of it where they say so, and their examples run. */
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SETTINGS } from '../src/config.js';
import { loadSettings } from '../src/config-load.js';
import { ERRORS } from '../src/errors.js';
import { FAMILIES } from '../src/families/registry.js';
import { matchRoute } from '../src/front/routes.js';
import type { SimEngine } from '../src/sim/engine-server.js';
import { SIM_MODEL_DIR } from '../src/sim/model-dir.js';
import { METRICS, wireName } from '../src/telemetry/metric-catalogue.js';
import { CreateBody, FinishBody } from '../src/trainer/bodies.js';
import { startFlow, startSim } from './support/flow.js';

const readme = readFileSync('README.md', 'utf8');
const agents = readFileSync('AGENTS.md', 'utf8');
const run = promisify(execFile);

interface Block {
  readonly language: string;
  readonly text: string;
}

const blocksOf = (text: string): Block[] =>
  [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language, body]) => ({ language: language!, text: body! }));
const blocks = [...blocksOf(readme), ...blocksOf(agents)];
/** What stands between two marks. */
const between = (start: string, end: string): string => {
  const [from, to] = [readme.indexOf(start), readme.indexOf(end, readme.indexOf(start))];
  if (from < 0 || to < from) throw new Error(`README.md lacks ${start} … ${end}`);
  return readme.slice(from + start.length, to);
};
/** Text without its blocks of code. */
const proseOf = (text: string): string => text.replace(/^```[\s\S]*?^```$/gm, '');
const prose = proseOf(readme) + proseOf(agents);
const codesIn = (text: string): string[] => [...text.matchAll(/`([^`\n]+)`/g)].map(([, code]) => code!);
/** Backticked names in the first column of a table. */
const firstColumn = (table: string): string[] =>
  table
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .flatMap((line) => codesIn(line.split('|')[1]!));
/** Command lines of a block, continuations joined. */
const commandsOf = (text: string): string[] => text.replaceAll('\\\n', ' ').split('\n');

describe('names', () => {
  test('of routes in the code blocks exist, with their methods', () => {
    const paths = blocks.flatMap(({ text }) => [
      ...text.matchAll(/\/(?:v1\/(?:chat|messages|models)|sessions|traces|engines|healthz|readyz|metrics)\b[\w/{}-]*/g),
    ]);
    const unknown = paths.map(([path]) => path).filter((path) => matchRoute('GET', path).kind === 'not_found');
    expect([paths.length > 5, unknown]).toEqual([true, []]);
  });

  test('of routes in the text exist with their methods', () => {
    const named = [...`${readme}${agents}`.matchAll(/`(GET|POST|DELETE) (\/[\w/{}.-]*)/g)];
    const wrong = named.filter(([, method, path]) => matchRoute(method!, path!.replace(/\{id(?:\.\.\.)?\}/, 'x')).kind !== 'route');
    expect([named.length > 10, wrong.map(([name]) => name)]).toEqual([true, []]);
  });

  test('of options belong to their command', () => {
    const helps = new Map<string, string>();
    const helpOf = (command: string): string => {
      const known = helps.get(command) ?? spawnSync(process.execPath, ['dist/main.js', command, '--help'], { encoding: 'utf8' }).stdout;
      helps.set(command, known);
      return known;
    };
    const wrong: string[] = [];
    for (const line of blocks.flatMap(({ text }) => commandsOf(text))) {
      const [, command, rest] = /(?:dist\/main\.js|^rollout-gateway) ([a-z-]+)(.*)$/.exec(line) ?? [];
      if (command === undefined) continue;
      expect(helpOf(command), line).toContain(`Usage: rollout-gateway ${command}`);
      for (const [option] of rest!.matchAll(/--[a-z-]+/g)) if (!helpOf(command).includes(`${option} `)) wrong.push(`${command} ${option}`);
    }
    expect([helps.size > 5, wrong]).toEqual([true, []]);
  });

  test('of settings, inline and in files of settings, exist', () => {
    const groups = new Set(SETTINGS.filter(({ path }) => path.length > 1).map(({ path }) => path[0]!));
    const inline = codesIn(prose).filter((code) => /^[a-z]+\.(?!ts$)[a-zA-Z]+$/.test(code) && groups.has(code.split('.')[0]!));
    const known = new Set(SETTINGS.map(({ name }) => name));
    expect([inline.length > 10, inline.filter((name) => !known.has(name))]).toEqual([true, []]);
    for (const { text } of blocks.filter(({ language }) => language === 'json')) loadSettings({ file: JSON.parse(text) as object });
  });

  test('of variables are settings or secrets', () => {
    const variables = new Set([...`${readme}${agents}`.matchAll(/\bROLLOUT_GATEWAY_[A-Z_]+/g)].map(([name]) => name));
    const others = ['ADMIN_TOKEN', 'ENGINE_KEY', 'CONFIG', 'LIVE_DIR'].map((name) => `ROLLOUT_GATEWAY_${name}`);
    const settings = SETTINGS.map(({ option }) => `ROLLOUT_GATEWAY_${option.replaceAll('-', '_').toUpperCase()}`);
    expect([...variables].filter((name) => ![...others, ...settings].includes(name))).toEqual([]);
  });

  test('of imports exist', async () => {
    const packages: Readonly<Record<string, string>> = { 'rollout-gateway': 'gateway', 'rollout-gateway/core': 'core' };
    const imports = blocks
      .filter(({ language }) => language === 'js')
      .flatMap(({ text }) => [...text.matchAll(/import \{([^}]+)\} from '(rollout-gateway[^']*)'/g)]);
    expect(imports.length).toBeGreaterThan(0);
    for (const [, names, from] of imports) {
      const entry = packages[from!];
      expect(entry, from).toBeDefined();
      const exported = (await import(String(new URL(`../dist/${entry}.js`, import.meta.url)))) as object;
      for (const name of names!.split(',')) expect(Object.keys(exported)).toContain(name.trim());
    }
  });

  test('of npm scripts exist', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly scripts: Readonly<Record<string, string>> };
    const named = [...`${readme}${agents}`.matchAll(/npm (?:run ([\w:-]+)|(test)\b)/g)].map(([, script, plain]) => script ?? plain!);
    expect([named.length > 3, named.filter((name) => scripts[name] === undefined)]).toEqual([true, []]);
  });

  test('of files exist', () => {
    const links = [...`${readme}${agents}`.matchAll(/\]\((?!https?:|#)([^)#]+)\)/g)].map(([, path]) => path!);
    const paths = codesIn(proseOf(agents)).filter(
      (code) => /^(?:src|test|bench|scripts|examples|\.ci)\/[\w./-]+$/.test(code) && !code.includes('NAME'),
    );
    expect([...links, ...paths].filter((path) => !existsSync(path))).toEqual([]);
  });
});

describe('lists are whole:', () => {
  test('every error code has its place under "When things go wrong", and no other', () => {
    const heads = [...between('<!-- failures -->', '<!-- end of failures -->').matchAll(/^- \*\*.+?\*\*(.*)\\?$/gm)];
    const codes = heads.flatMap(([, rest]) => codesIn(rest!));
    expect([...new Set(codes)].sort()).toEqual(Object.keys(ERRORS).sort());
  });

  test('every family is named, and no other', () => {
    const [, names] = /`--family` names a grammar instead \(([^)]*)\)/.exec(readme)!;
    expect(names!.split(', ')).toEqual(FAMILIES.map(({ name }) => name));
  });

  test('every metric is named, and no other', () => {
    const table = between('<!-- metrics -->', '<!-- end of metrics -->');
    const listed = codesIn(table).map((name) => `rollout_gateway_${name}`);
    const known = Object.keys(METRICS).map(wireName);
    expect(listed.sort()).toEqual(known.sort());
    const inline = [...readme.matchAll(/`(rollout_gateway_\w+)/g)].map(([, name]) => name!);
    expect(inline.filter((name) => name !== 'rollout_gateway_' && !known.includes(name))).toEqual([]);
  });

  test('every field of a row and of a turn is in its table', () => {
    const schema = JSON.parse(readFileSync('src/canonical/trace.schema.json', 'utf8')) as {
      readonly properties: object;
      readonly $defs: { readonly turn: { readonly properties: object }; readonly quality: { readonly properties: object } };
    };
    const rows = between('<!-- fields: row -->', '<!-- end of fields -->');
    expect(firstColumn(rows).sort()).toEqual(Object.keys(schema.properties).sort());
    expect(firstColumn(between('<!-- fields: turn -->', '<!-- end of fields -->')).sort()).toEqual(
      Object.keys(schema.$defs.turn.properties).sort(),
    );
    const quality = rows.split('\n').find((line) => line.startsWith('| `quality`'))!;
    for (const name of Object.keys(schema.$defs.quality.properties)) expect(codesIn(quality)).toContain(name);
  });

  test('every field that a session is created and finished with is in its table', () => {
    const create = between('`POST /sessions` answers', '`POST /sessions/{id}/finish`');
    expect(firstColumn(create).sort()).toEqual(Object.keys(CreateBody.shape).sort());
    const finish = between('`POST /sessions/{id}/finish` waits', '### Scraping');
    expect(firstColumn(finish).sort()).toEqual(Object.keys(FinishBody.shape).sort());
  });
});

describe('examples', () => {
  let sim: SimEngine;
  beforeAll(async () => {
    sim = await startSim({ seed: 1 });
  });
  afterAll(() => sim.close());

  /** Longer than a slow machine needs; a program that hangs is ended before its test is. */
  const PLAY_MS = 90_000;
  const play = async (path: string, variables: Readonly<Record<string, string>> = {}): Promise<string> => {
    const env = { ...process.env, ...variables, ENGINE_URL: sim.url, MODEL_DIR: SIM_MODEL_DIR };
    return (await run(process.execPath, [path], { env, timeout: 60_000 })).stdout;
  };

  test('stand in the README as they are', () => {
    const { status, stderr } = spawnSync(process.execPath, ['scripts/readme-examples.mjs', '--check'], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  });

  test('the first rollout', async () => {
    const flow = await startFlow();
    try {
      expect(await play('examples/first-rollout.mjs', { GATEWAY_URL: flow.url })).toBe(/^reward 1: .*$/m.exec(readme)![0].concat('\n'));
    } finally {
      await flow.close();
    }
  });

  test('the gateway in process', async () => {
    expect(await play('examples/in-process.mjs')).toMatch(
      /^main: \d+ tokens, [1-9]\d* trained, first logprob -[\d.e-]+\ncapture yield 1\n$/,
    );
  });

  test(
    'the recording part alone',
    async () => {
      expect(await play('examples/core.mjs')).toBe('main: tokens 1 2 3 4 0 5 6 7 0, mask 110011 behind 3\ncapture yield 1\n');
    },
    PLAY_MS,
  );
});
