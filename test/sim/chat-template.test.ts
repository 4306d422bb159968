import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../src/canonical/json-parse.js';
import { isJsonArray, isJsonObject, type JsonObject } from '../../src/canonical/json-value.js';
import { localTime } from '../../src/jinja/strftime.js';
import { compileTemplate } from '../../src/jinja/template.js';
import { SIM_MODEL_DIR } from '../../src/sim/model-dir.js';

const fixture = parseJson(readFileSync(new URL('../fixtures/sim-model/python.json', import.meta.url), 'utf8'));
const template = compileTemplate(readFileSync(`${SIM_MODEL_DIR}/chat_template.jinja`, 'utf8'));

const render = (given: JsonObject): string => template.render(given, { now: () => localTime(0) });

interface Render {
  readonly given: JsonObject;
  readonly text: string;
}

function renders(): readonly Render[] {
  const list = isJsonObject(fixture) ? fixture.get('renders') : undefined;
  if (!isJsonArray(list)) throw new Error('python.json has no renders');
  return list.map((entry) => {
    if (!isJsonObject(entry)) throw new Error('a render is an object');
    return { given: entry.get('given') as JsonObject, text: entry.get('text') as string };
  });
}

describe('the embedded model’s chat template', () => {
  it.each(renders().map(({ given, text }, i) => [i, given, text] as const))('renders conversation %i as Python does', (_, given, text) => {
    expect(render(given)).toBe(text);
  });

  it('only ever appends to what was said', () => {
    let before = '';
    for (const { given } of renders()) {
      const messages = given.get('messages');
      if (isJsonArray(messages) && messages.length === 1) before = '';
      const text = render(new Map([...given, ['add_generation_prompt', false]]));
      expect(text.startsWith(before)).toBe(true);
      before = text;
    }
  });
});
