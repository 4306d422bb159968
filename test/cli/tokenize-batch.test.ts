import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tokenizeBatch } from '../../src/cli/tokenize-batch.js';
import { loadModelDirectory } from '../../src/rendering/model-directory.js';
import { loadTokenizer } from '../../src/rendering/tokenizer.js';
import { FIXTURES, readExpected } from '../support/tokenizer-fixtures.js';

const tokenizer = loadTokenizer(loadModelDirectory(join(FIXTURES, 'qwen-style')));
const expected = readExpected('qwen-style');

async function run(...lines: readonly string[]): Promise<readonly string[]> {
  const answers: string[] = [];
  async function* source(): AsyncGenerator<string> {
    yield* lines;
  }
  for await (const line of tokenizeBatch(source(), tokenizer)) answers.push(line);
  return answers;
}

describe('tokenize --batch', () => {
  it('answers texts with ids and ids with texts, in order', async () => {
    const requests = expected.texts.flatMap(({ text, ids }, id) => [JSON.stringify({ id, text }), JSON.stringify({ id: `${id}`, ids })]);
    const answers = expected.texts.flatMap(({ ids, decoded }, id) => [
      { id, ids },
      { id: `${id}`, text: decoded },
    ]);
    expect((await run(...requests)).map((line) => JSON.parse(line))).toEqual(answers);
  });

  it('echoes any id as it was spelled', async () => {
    const ids = ['1.0', '12345678901234567890', '{"2":1,"1":[null,"\\ud83d"]}', 'null', '""'];
    const answers = await run(...ids.map((id) => `{"id": ${id}, "text": "a"}`));
    const a = tokenizer.encode('a')[0];
    expect(answers).toEqual(ids.map((id) => `{"id":${id},"ids":[${a}]}`));
  });

  it('answers what it cannot read with an error and goes on', async () => {
    const bad = ['{', '[1]', '{"id":1}', '{"id":2,"text":"a","ids":[1]}', '{"id":3,"text":4}', '{"id":4,"ids":7}', '{"id":5,"ids":[-1]}'];
    const more = ['{"id":6,"ids":[1.5]}', '{"id":7,"ids":[1000000]}', '{"id":8,"ids":["1"]}', '', '{"id":9,"ids":[]}'];
    const answers = (await run(...bad, ...more)).map((line) => JSON.parse(line));
    const codes = answers.slice(0, -1).map(({ ok, error }) => [ok, error.code]);
    expect(codes).toEqual([[false, 'invalid_json'], [false, 'invalid_json'], ...new Array(8).fill([false, 'invalid_request'])]);
    expect(answers.map(({ id }) => id)).toEqual([null, null, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(answers.at(-1)).toEqual({ id: 9, text: '' });
  });
});
