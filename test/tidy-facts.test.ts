/** Every error, setting and metric that is declared is used: raised, read, measured, and an error is tested. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SETTINGS } from '../src/config.js';
import { ERRORS } from '../src/errors.js';
import { METRICS } from '../src/telemetry/metric-catalogue.js';

/** All files below these folders, with the paths that `git` would give them. */
const files = ['src', 'test']
  .filter((folder) => existsSync(folder))
  .flatMap((folder) => readdirSync(folder, { recursive: true, withFileTypes: true }))
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name))
  .filter((path) => path.endsWith('.ts'));
/** A source without its comments. */
const code = (path: string): string => readFileSync(path, 'utf8').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
const sources = files.filter((path) => path.startsWith('src/'));
const tests = files.filter((path) => path.startsWith('test/'));

test('every error is raised somewhere and named in a test', () => {
  const raised = (name: string) => sources.some((path) => path !== 'src/errors.ts' && code(path).includes(`'${name}'`));
  const tested = (name: string) => tests.some((path) => code(path).includes(name));
  const names = Object.keys(ERRORS);
  expect({ neverRaised: names.filter((name) => !raised(name)), neverTested: names.filter((name) => !tested(name)) }).toEqual({
    neverRaised: [],
    neverTested: [],
  });
});

test('every setting is read somewhere', () => {
  const readers = sources.filter((path) => path !== 'src/config.ts').map(code);
  const isRead = (path: readonly string[]): boolean => readers.some((text) => path.every((part) => new RegExp(`\\b${part}\\b`).test(text)));
  expect(SETTINGS.filter(({ path }) => !isRead(path)).map(({ name }) => name)).toEqual([]);
});

test('every metric is measured somewhere', () => {
  const users = sources.filter((path) => path !== 'src/telemetry/metric-catalogue.ts').map(code);
  expect(Object.keys(METRICS).filter((name) => !users.some((text) => new RegExp(`\\b${name}\\b`).test(text)))).toEqual([]);
});
