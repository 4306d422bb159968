import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { afterAll, describe, expect, it } from 'vitest';
import { renderBatch } from '../../src/cli/render-batch.js';

const folder = mkdtempSync(path.join(tmpdir(), 'render-batch-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function answers(input: string | readonly string[]): Promise<string[]> {
  const output = new PassThrough();
  const chunks: string[] = [];
  output.setEncoding('utf8').on('data', (chunk: string) => chunks.push(chunk));
  const source = typeof input === 'string' ? Readable.from([Buffer.from(input)]) : linesOf(input);
  await renderBatch(source, output);
  output.end();
  await once(output, 'end');
  const text = chunks.join('');
  expect(text === '' || text.endsWith('\n')).toBe(true);
  return text.split('\n').slice(0, -1);
}

async function* linesOf(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

describe('render --batch', () => {
  it('answers each line in order and takes the context from its text', async () => {
    const lines = await answers(
      '{"id":1,"chat_template":"{{ x }}","context":{"x":1.0}}\n{"id":{"b":1.0,"a":2},"chat_template":"{{ x|tojson }}","context":{"x":{"10":1e16,"2":-0.0}}}\n',
    );
    expect(lines).toEqual([
      '{"id":1,"ok":true,"text":"1.0"}',
      '{"id":{"b":1.0,"a":2},"ok":true,"text":"{\\"10\\": 1e+16, \\"2\\": -0.0}"}',
    ]);
  });

  it('answers what makes no sense with an error and goes on', async () => {
    const lines = await answers([
      'nonsense',
      '[]',
      '{"id":"a"}',
      '{"id":"b","context":{}}',
      '{"id":"c","context":{},"chat_template":"x","template_file":"y"}',
      '{"id":"d","context":{},"template_file":"/no/such/file"}',
      '{"id":"e","context":{},"chat_template":"x","now":"yesterday"}',
      '{"id":"f","context":{},"chat_template":"\\n{% if %}"}',
      '{"id":"g","context":{},"chat_template":"\\n\\n{{ raise_exception(\'no tools\') }}"}',
      '{"id":"h","context":{},"chat_template":"fine"}',
    ]);
    const parsed = lines.map((line) => JSON.parse(line) as { id: unknown; ok: boolean; error?: { code: string; message: string } });
    expect(parsed.map(({ id, ok, error }) => [id, ok, error?.code])).toEqual([
      [null, false, 'invalid_json'],
      [null, false, 'invalid_json'],
      ['a', false, 'invalid_request'],
      ['b', false, 'invalid_request'],
      ['c', false, 'invalid_request'],
      ['d', false, 'invalid_request'],
      ['e', false, 'invalid_request'],
      ['f', false, 'template_error'],
      ['g', false, 'template_error'],
      ['h', true, undefined],
    ]);
    expect(parsed[8]!.error!.message).toBe('TemplateError: no tools (line 3)');
  });

  it('cuts lines at \\n only, whatever the chunks are, and keeps odd characters', async () => {
    const request = JSON.stringify({ id: 'x', chat_template: '{{ s }}', context: { s: 'a\u2028b\u0085c\ufeffd😀' } });
    const bytes = Buffer.from(`${request}\n${request}`);
    const output = new PassThrough();
    const collected: Buffer[] = [];
    output.on('data', (chunk: Buffer) => collected.push(chunk));
    await renderBatch(Readable.from(Array.from(bytes, (byte) => Buffer.from([byte]))), output);
    const lines = Buffer.concat(collected).toString('utf8').trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { text: string }).text)).toEqual(Array(2).fill('a\u2028b\u0085c\ufeffd😀'));
  });

  it('reads template files as bytes, and writes lone surrogates as escapes', async () => {
    const file = path.join(folder, 'crlf.jinja');
    writeFileSync(file, '{% if true %}\r\n{{ s }}\r\n{% endif %}\r\n');
    const lines = await answers([`{"id":0,"template_file":${JSON.stringify(file)},"context":{"s":"\\ud83d"}}`]);
    expect(lines).toEqual(['{"id":0,"ok":true,"text":"\\ud83d\\n"}']);
  });

  it('uses the given wall-clock time', async () => {
    const lines = await answers([
      '{"id":0,"chat_template":"{{ strftime_now(\'%d %B %Y %H:%M:%S\') }}","now":"2024-02-29T23:59:58","context":{}}',
    ]);
    expect(JSON.parse(lines[0]!)).toMatchObject({ text: '29 February 2024 23:59:58' });
  });

  it('waits for a slow reader', async () => {
    const output = new PassThrough({ highWaterMark: 16 });
    let produced = 0;
    async function* requests(): AsyncGenerator<string> {
      for (; produced < 100; produced++) yield `{"id":${produced},"chat_template":"${'x'.repeat(64)}","context":{}}`;
    }
    const done = renderBatch(requests(), output);
    await new Promise((resolve) => setImmediate(resolve));
    expect(produced).toBeLessThan(5);
    output.resume();
    await done;
    expect(produced).toBe(100);
  });
});
