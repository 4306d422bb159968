import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { parseJson } from '../canonical/json-parse.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../canonical/json-value.js';
import { compactJson } from '../canonical/json-write.js';
import { GatewayError } from '../errors.js';
import { type LocalTime, localTime, parseLocalTime } from '../jinja/strftime.js';
import { compileTemplate, type Template } from '../jinja/template.js';

/** Templates of one batch that are kept compiled. */
const CACHED_TEMPLATES = 64;

/**
 * The bare template step for a stream of requests, one JSON object a line: `{"id", "chat_template" | "template_file", "context",
 * "now"?}`. Each gives one line, in the same order: `{"id","ok":true,"text"}` or `{"id","ok":false,"error":{"code","message"}}`, also
 * where the line itself makes no sense. `template_file` is relative to the current folder; `now` is wall-clock time without a zone, by
 * default the clock of the machine. Waits for the output when it is slower.
 */
export async function renderBatch(input: AsyncIterable<string> | Readable, output: Writable): Promise<void> {
  const templates = new Map<string, Template>();
  for await (const line of linesOf(input)) {
    if (line.trim() === '') continue;
    if (!output.write(`${answer(line, templates)}\n`)) await once(output, 'drain');
  }
}

/** A stream is cut at `\n` only: the other characters that some readers take for line ends occur in texts. */
async function* linesOf(input: AsyncIterable<string> | Readable): AsyncIterable<string> {
  if (!('readableFlowing' in input)) return yield* input;
  (input as Readable).setEncoding('utf8');
  let rest = '';
  for await (const chunk of input as AsyncIterable<string>) {
    const parts = chunk.split('\n');
    parts[0] = rest + parts[0]!;
    rest = parts.pop()!;
    yield* parts;
  }
  if (rest !== '') yield rest;
}

function answer(line: string, templates: Map<string, Template>): string {
  let id: JsonValue = null;
  try {
    const request = parseJson(line);
    if (!isJsonObject(request)) throw new GatewayError('invalid_json', 'a request is a JSON object on one line');
    id = request.get('id') ?? null;
    const text = render(request, templates);
    return surrogateSafe(`{"id":${compactJson(id)},"ok":true,"text":${compactJson(text)}}`);
  } catch (error) {
    const code = error instanceof GatewayError ? error.code : 'invalid_json';
    const failure = new Map<string, JsonValue>([
      ['code', code],
      ['message', messageOf(error)],
    ]);
    return surrogateSafe(`{"id":${compactJson(id)},"ok":false,"error":${compactJson(failure)}}`);
  }
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { pythonClass, line } = error as { pythonClass?: string; line?: number | null };
  if (pythonClass === undefined) return error.message;
  return `${pythonClass}: ${error.message}${typeof line === 'number' ? ` (line ${line})` : ''}`;
}

/** Lone surrogates have no UTF-8; they leave as escapes. */
const surrogateSafe = (json: string): string =>
  json.isWellFormed() ? json : json.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, escapeUnit);
const escapeUnit = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

function render(request: JsonObject, templates: Map<string, Template>): string {
  const context = request.get('context');
  if (!isJsonObject(context)) throw new GatewayError('invalid_request', '`context` must be an object with the variables of the template');
  return templateOf(request, templates).render(context, { now: clockOf(request.get('now')) });
}

function clockOf(now: JsonValue | undefined): () => LocalTime {
  if (now === undefined || now === null) return () => localTime(Date.now());
  const time = typeof now === 'string' ? parseLocalTime(now) : null;
  if (time === null) throw new GatewayError('invalid_request', '`now` must be a wall-clock time without zone, as 2025-06-04T13:07:09');
  return () => time;
}

function templateOf(request: JsonObject, templates: Map<string, Template>): Template {
  const source = sourceOf(request);
  let template = templates.get(source);
  if (!template) {
    template = compileTemplate(source);
    if (templates.size >= CACHED_TEMPLATES) templates.delete(templates.keys().next().value!);
    templates.set(source, template);
  }
  return template;
}

function sourceOf(request: JsonObject): string {
  const [source, file] = [request.get('chat_template'), request.get('template_file')];
  if (typeof source === 'string' && file === undefined) return source;
  if (typeof file !== 'string' || source !== undefined)
    throw new GatewayError(
      'invalid_request',
      'give either `chat_template` (the text of a template) or `template_file` (its path), as a string',
    );
  try {
    return readFileSync(file).toString('utf8');
  } catch (error) {
    throw new GatewayError('invalid_request', `cannot read the template_file ${file}: ${(error as Error).message}`, { cause: error });
  }
}
