/** Properties of the repository itself: who imports whom, one door per package, and every fact written once. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';

/** All files below these folders, with the paths that `git` would give them. */
const files = ['src', 'test', 'bench', 'scripts', '.ci', '.github']
  .filter((folder) => existsSync(folder))
  .flatMap((folder) => readdirSync(folder, { recursive: true, withFileTypes: true }))
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name));
const contents = new Map<string, string>();
const read = (path: string): string => {
  let text = contents.get(path);
  if (text === undefined) {
    text = readFileSync(path, 'utf8');
    contents.set(path, text);
  }
  return text;
};
const sources = files.filter((path) => path.startsWith('src/') && path.endsWith('.ts'));

interface Import {
  readonly from: string;
  readonly specifier: string;
  readonly isType: boolean;
}

const importsOf = (path: string): Import[] => {
  const statements = [...read(path).matchAll(/^(?:import|export)\b([^;'"]*?)from\s+'([^']+)'|\bimport\('([^']+)'\)|^import\s+'([^']+)'/gm)];
  return statements.map(([, clause = '', named, dynamic, bare]) => ({
    from: path,
    specifier: (named ?? dynamic ?? bare)!,
    isType: /^\s*type\b/.test(clause),
  }));
};
const imports = sources.flatMap(importsOf);

/** `src/front/server.ts` → `front`; a file at the top is its own place. */
const placeOf = (path: string): string => path.split('/')[path.split('/').length > 2 ? 1 : 1]!.replace(/\.ts$/, '');
const targetOf = ({ from, specifier }: Import): string =>
  placeOf(new URL(specifier, `file:///${from}`).pathname.slice(1).replace(/\.js$/, '.ts'));

/** What each place may import besides itself. `shard:types` allows only the types of messages. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  canonical: [],
  memory: [],
  errors: [],
  config: [],
  'config-load': ['config', 'errors'],
  protocols: ['canonical', 'errors'],
  families: ['canonical', 'errors'],
  engines: ['canonical', 'errors', 'memory'],
  jinja: ['canonical', 'errors'],
  trajectory: ['canonical'],
  telemetry: [],
  rendering: ['canonical', 'errors', 'config', 'families', 'engines', 'jinja', 'trajectory'],
  trainer: ['canonical', 'errors', 'config', 'protocols'],
  backend: ['canonical', 'errors', 'config', 'engines', 'memory', 'telemetry', 'shard:types'],
  shard: [
    'canonical',
    'errors',
    'config',
    'protocols',
    'families',
    'engines',
    'rendering',
    'trajectory',
    'trainer',
    'memory',
    'backend',
    'telemetry',
  ],
  front: ['canonical', 'errors', 'config', 'config-load', 'protocols', 'trainer', 'memory', 'telemetry', 'shard'],
  sim: [],
  core: ['canonical', 'trajectory'],
  'engine-control': ['errors', 'trainer', 'shard'],
  sessions: ['canonical', 'errors', 'config', 'trainer', 'shard'],
  gateway: ['canonical', 'errors', 'config', 'config-load', 'engine-control', 'front', 'sessions', 'shard', 'telemetry'],
  cli: [
    'canonical',
    'errors',
    'config',
    'config-load',
    'gateway',
    'protocols',
    'families',
    'jinja',
    'rendering',
    'sim',
    'telemetry',
    'trainer',
    'trajectory',
  ],
  main: ['cli'],
};

/** The only places that may import a package. */
const DOORS: Readonly<Record<string, readonly string[]>> = {
  'uWebSockets.js': ['front'],
  piscina: ['shard'],
  msgpackr: ['shard'],
  undici: ['backend'],
  '@huggingface/tokenizers': ['rendering'],
  pino: ['telemetry'],
  'prom-client': ['telemetry'],
  zod: ['config', 'trainer'],
  commander: ['cli'],
  'cli-progress': ['cli'],
  picocolors: ['cli', 'main'],
  // Devices of the demo: official clients, loaded where they are installed.
  openai: ['cli'],
  '@anthropic-ai/sdk': ['cli'],
};

describe('imports', () => {
  test('point one way', () => {
    const wrong = imports
      .filter(({ specifier }) => specifier.startsWith('.'))
      .filter((it) => {
        const [place, target] = [placeOf(it.from), targetOf(it)];
        const allowed = MAY_IMPORT[place] ?? [];
        const isMessageType = it.isType && it.specifier.endsWith('shard/messages.js') && allowed.includes('shard:types');
        return target !== place && !allowed.includes(target) && !isMessageType;
      });
    expect(wrong.map(({ from, specifier }) => `${from} imports ${specifier}`)).toEqual([]);
  });

  test('name every place of src, so that a new one gets its rule', () => {
    expect([...new Set(sources.map(placeOf))].filter((place) => MAY_IMPORT[place] === undefined)).toEqual([]);
  });

  test('reach each package through its door', () => {
    const packages = imports.filter(({ specifier }) => !specifier.startsWith('.') && !specifier.startsWith('node:'));
    const wrong = packages.filter(({ from, specifier }) => {
      const name = specifier
        .split('/')
        .slice(0, specifier.startsWith('@') ? 2 : 1)
        .join('/');
      return !(DOORS[name] ?? []).includes(placeOf(from));
    });
    expect(wrong.map(({ from, specifier }) => `${from} imports ${specifier}`)).toEqual([]);
  });

  test('are of declared packages', () => {
    const manifest = JSON.parse(read('package.json')) as Record<'dependencies' | 'devDependencies', Record<string, string>>;
    const declared = { ...manifest.dependencies, ...manifest.devDependencies };
    expect(Object.keys(DOORS).filter((name) => declared[name] === undefined)).toEqual([]);
  });

  test('of the light core load no server, thread pool, HTTP client or tokenizer', () => {
    const loadedBy = (specifier: string): readonly string[] => {
      const probe = `await import(${JSON.stringify(specifier)}); process.stdout.write(JSON.stringify(process.moduleLoadList));`;
      return JSON.parse(execFileSync(process.execPath, ['--input-type=module', '-e', probe], { encoding: 'utf8' })) as readonly string[];
    };
    const before = new Set(loadedBy('data:text/javascript,'));
    const heavy = /^NativeModule (?:http|https|http2|net|worker_threads|child_process)$/;
    const loaded = loadedBy(new URL('../dist/core.js', import.meta.url).href).filter((name) => !before.has(name));
    expect(loaded.filter((name) => heavy.test(name))).toEqual([]);
    const reached = new Set<string>();
    const follow = (path: string): void => {
      if (reached.has(path)) return;
      reached.add(path);
      for (const it of importsOf(path))
        if (it.specifier.startsWith('.')) follow(new URL(it.specifier, `file:///${path}`).pathname.slice(1).replace(/\.js$/, '.ts'));
    };
    follow('src/core.ts');
    expect([...reached].flatMap(importsOf).filter(({ specifier }) => !specifier.startsWith('.'))).toEqual([]);
  });
});

describe('files', () => {
  test('are named by their subject, in kebab case', () => {
    const attic = /^(?:index|utils?|common|helpers?|shared|types|misc)\.ts$/;
    const wrong = sources.filter((path) => attic.test(basename(path)) || !/^[a-z0-9]+(?:-[a-z0-9]+)*\.ts$/.test(basename(path)));
    expect(wrong).toEqual([]);
  });

  test('re-export only from the two entries of the library', () => {
    const entries = ['src/gateway.ts', 'src/core.ts'];
    const barrels = sources.filter((path) => !entries.includes(path) && /^export \* from/m.test(read(path)));
    expect(barrels).toEqual([]);
  });

  test('of src stay readable in one sitting', () => {
    const long = sources
      .map((path) => `${path} has ${read(path).split('\n').length - 1} lines`)
      .filter((line) => Number(/(\d+) lines/.exec(line)![1]) > LINES_MAX);
    expect(long).toEqual([]);
  });

  test('hold no work in progress and no path of a machine', () => {
    const marks = new RegExp(['TO', 'DO|FIX', 'ME|X', 'XX\\b'].join(''));
    const machine = new RegExp(['/ho', 'me/\\w|/wo', 'rk/\\w|/ro', 'ot/\\w'].join(''));
    const ours = files.filter(
      (path) => /^(?:src|test|bench|scripts|\.ci|\.github)\/.*\.(?:ts|mjs|py|md|yml)$/.test(path) && !path.startsWith('test/fixtures/'),
    );
    expect(ours.filter((path) => marks.test(read(path)) || machine.test(read(path)))).toEqual([]);
  });
});

/** About 250 is the aim; a parser or a state machine may be longer where cutting it would hide its order. */
const LINES_MAX = 370;

describe('facts', () => {
  test('of settings, errors and routes are the same in README and code', () => {
    const { status, stderr } = spawnSync(process.execPath, ['scripts/readme-tables.mjs', '--check'], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  });
});
