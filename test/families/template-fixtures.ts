import { readFileSync } from 'node:fs';
import { parseJson } from '../../src/canonical/json-parse.js';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../src/canonical/json-value.js';
import type { ToolDefinition } from '../../src/canonical/message.js';
import { type RecognisedFamily, recogniseFamily } from '../../src/families/probe.js';
import type { RenderTemplate } from '../../src/families/template-probe.js';
import { compileTemplate } from '../../src/jinja/template.js';

const FOLDER = new URL('../fixtures/families/', import.meta.url);
export const NOW = { year: 2025, month: 6, day: 4, hour: 13, minute: 7, second: 9, microsecond: 0 };

const readFixture = (name: string): string => readFileSync(new URL(name, FOLDER), 'utf8');

/** A turn of `cases.json`. */
export interface TurnCase {
  readonly name: string;
  readonly content: string;
  readonly reasoning: string | null;
  readonly calls: readonly { readonly name: string; readonly value: JsonObject }[];
}

export const TURN_CASES: readonly TurnCase[] = list(parseJson(readFixture('cases.json'))).map((item) => {
  const calls = list(member(item, 'calls')).map((call) => ({ name: list(call)[0] as string, value: list(call)[1] as JsonObject }));
  return {
    name: member(item, 'name') as string,
    content: member(item, 'content') as string,
    reasoning: member(item, 'reasoning') as string | null,
    calls,
  };
});

const TOOLS_JSON = list(parseJson(readFixture('tools.json')));
export const TOOLS: readonly ToolDefinition[] = TOOLS_JSON.map((tool) => ({
  name: member(tool, 'name') as string,
  parameters: member(tool, 'parameters'),
}));
export const WIRE_TOOLS: readonly JsonValue[] = TOOLS_JSON.map(
  (tool) =>
    new Map<string, JsonValue>([
      ['type', 'function'],
      ['function', tool],
    ]),
);

/** What Python printed for a case. */
export type Print =
  | { readonly prompt_tail: string; readonly reply: string }
  | { readonly refused: string }
  | { readonly contradicts: string };

export const PRINTS: Readonly<Record<string, Readonly<Record<string, Print>>>> = JSON.parse(readFixture('prints.json')).prints;

export function renderFixture(name: string): RenderTemplate {
  const template = compileTemplate(readFixture(`templates/${name}.jinja`));
  return (context) => template.render(context, { now: () => NOW });
}

const recognised = new Map<string, RecognisedFamily>();

/** What the probe finds in a template of the fixtures. */
export function recogniseFixture(name: string): RecognisedFamily {
  let found = recognised.get(name);
  if (found === undefined) {
    found = recogniseFamily(renderFixture(name));
    recognised.set(name, found);
  }
  return found;
}

function list(value: JsonValue): readonly JsonValue[] {
  if (!isJsonArray(value)) throw new Error('the fixture is not a list');
  return value;
}

function member(value: JsonValue, name: string): JsonValue {
  const found = isJsonObject(value) ? value.get(name) : undefined;
  if (found === undefined) throw new Error(`the fixture has no ${name}`);
  return found;
}
