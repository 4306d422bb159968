import { readFileSync } from 'node:fs';
import type { JsonObject, JsonValue } from '../canonical/json-value.js';
import { compactJson } from '../canonical/json-write.js';
import { GatewayError } from '../errors.js';
import type { Family, ParsedReply, ReplyText, Span } from '../families/family.js';
import type { FamilyEntry } from '../families/family-entry.js';
import { type RecognisedFamily, recogniseFamily } from '../families/probe.js';
import { usualFamily } from '../families/registry.js';
import type { RenderTemplate } from '../families/template-probe.js';
import { reasoningOpenAfter, type TemplateTraits } from '../families/template-traits.js';
import { invalid, readIds, readRequest, readTools, stringList, stringMember } from './parse-request.js';

/** What `parse` needs of a model's tokenizer. */
export interface ReplyTokenizer {
  /** Text of the ids with special tokens kept, and the UTF-16 offset where each one ends. */
  decodeWithOffsets(ids: ArrayLike<number>): { readonly text: string; readonly ends: Int32Array };
  /** Id of an added token by its exact content. */
  idOf(content: string): number | undefined;
  readonly endTokenIds: readonly number[];
  readonly vocabularySize: number;
}

export interface ParseBatchOptions {
  /** @throws whatever the template refuses; the message is shown */
  readonly compileTemplate: (source: string) => RenderTemplate;
  /** From `--model`: the tokenizer for requests with `ids`, and what its own template was recognised as. */
  readonly model?: { readonly tokenizer: ReplyTokenizer; readonly recognised: RecognisedFamily | null };
  /** From `--family`. */
  readonly family?: FamilyEntry;
  /** Reads a template file relative to the current folder. */
  readonly readTemplate?: (path: string) => string;
}

/**
 * Answers requests of `parse --batch`, one JSON line each, in their order. Nothing a line holds ends the run: what is
 * wrong with it is its answer.
 */
export async function* parseBatch(lines: AsyncIterable<string>, options: ParseBatchOptions): AsyncGenerator<string> {
  const parser = new BatchParser(options);
  for await (const line of lines) if (line.trim() !== '') yield parser.answer(line);
}

/** How a reply is read: by which family, and how its end and its beginning are found. */
interface Reading {
  readonly family: Family;
  readonly traits: Pick<TemplateTraits, 'reasoning' | 'assistantOpener'>;
  readonly stops: readonly string[];
}

/** More templates than this in one run are recognised again. */
const TEMPLATES_KEPT = 64;

export class BatchParser {
  private readonly byTemplate = new Map<string, Reading>();

  constructor(private readonly options: ParseBatchOptions) {}

  /** One request line → one answer line, without the line's end. */
  answer(line: string): string {
    let id: JsonValue = null;
    try {
      const request = readRequest(line);
      id = request.get('id') ?? null;
      return encode(new Map<string, JsonValue>([['id', id], ['ok', true], ...this.parse(request)]));
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      const failure = new Map<string, JsonValue>([
        ['code', error.code],
        ['message', error.message],
      ]);
      return encode(
        new Map<string, JsonValue>([
          ['id', id],
          ['ok', false],
          ['error', failure],
        ]),
      );
    }
  }

  private parse(request: JsonObject): [string, JsonValue][] {
    const reading = this.reading(request);
    const tools = readTools(request.get('tools') ?? null);
    const tail = stringMember(request, 'prompt_tail') ?? '';
    const stops = [...reading.stops, ...stringList(request, 'stop_tokens')];
    const reasoningOpen = reasoningOpenAfter(tail, reading.traits);
    const ids = request.get('ids');
    if (ids !== undefined) {
      const reply = this.replyOfIds(ids, stops);
      const parsed = reading.family.parse({ ...reply, reasoningOpen, tools });
      return answerOf(parsed, tokenSpans(parsed.spans, reply.ends));
    }
    const text = stringMember(request, 'text');
    if (text === null) throw invalid('the request has neither `text` nor `ids`; give one of them');
    const parsed = reading.family.parse({ text, stopStart: stopStart(text, stops), isMarker: () => true, reasoningOpen, tools });
    return answerOf(parsed, parsed.spans);
  }

  private reading(request: JsonObject): Reading {
    const source = this.templateSource(request);
    if (source !== null) return this.readingOfTemplate(source);
    if (this.options.family !== undefined) {
      const { family, shape, stops } = usualFamily(this.options.family);
      return { family, stops, traits: { reasoning: this.options.family.reasoning ?? shape.reasoning, assistantOpener: '' } };
    }
    const recognised = this.options.model?.recognised;
    if (recognised === undefined || recognised === null) {
      throw invalid('no grammar to read the reply by: give `chat_template` or `template_file`, or start with --model or --family');
    }
    return readingOf(recognised);
  }

  private templateSource(request: JsonObject): string | null {
    const source = stringMember(request, 'chat_template');
    const path = stringMember(request, 'template_file');
    if (source !== null || path === null) return source;
    try {
      return (this.options.readTemplate ?? readUtf8)(path);
    } catch (error) {
      throw invalid(`\`template_file\` ${path} cannot be read: ${(error as Error).message}`);
    }
  }

  private readingOfTemplate(source: string): Reading {
    const known = this.byTemplate.get(source);
    if (known !== undefined) return known;
    const family = this.options.family === undefined ? {} : { family: this.options.family };
    const reading = readingOf(recogniseFamily(this.compile(source), family));
    if (this.byTemplate.size >= TEMPLATES_KEPT) this.byTemplate.clear();
    this.byTemplate.set(source, reading);
    return reading;
  }

  private compile(source: string): RenderTemplate {
    try {
      return this.options.compileTemplate(source);
    } catch (error) {
      throw new GatewayError('template_error', error instanceof Error ? error.message : String(error));
    }
  }

  private replyOfIds(
    value: JsonValue,
    stops: readonly string[],
  ): Pick<ReplyText, 'text' | 'stopStart' | 'isMarker'> & { ends: Int32Array } {
    const tokenizer = this.options.model?.tokenizer;
    if (tokenizer === undefined) throw invalid('`ids` need a tokenizer: start with --model DIR, or give `text`');
    const ids = readIds(value, tokenizer.vocabularySize);
    const { text, ends } = tokenizer.decodeWithOffsets(ids);
    const ending = new Set([...tokenizer.endTokenIds, ...stops.map((stop) => tokenizer.idOf(stop)).filter((id) => id !== undefined)]);
    const last = ids.at(-1);
    const stopped = last !== undefined && ending.has(last);
    return {
      text,
      ends,
      stopStart: stopped ? (ends[ids.length - 2] ?? 0) : text.length,
      isMarker: (marker, offset) => {
        const id = tokenizer.idOf(marker);
        return id === undefined || ids[tokensEndedBy(ends, offset)] === id;
      },
    };
  }
}

function readingOf(recognised: RecognisedFamily): Reading {
  const { family, traits } = recognised;
  const endless = traits.turnEnds.length === 0 && !traits.endsWithVariable;
  return { family, traits, stops: endless ? traits.nextTurnOpeners : traits.turnEnds };
}

/** Where the stop begins: the longest stop text that ends the reply, with white space that a template prints behind it. */
function stopStart(text: string, stops: readonly string[]): number {
  const end = text.trimEnd().length;
  let start = text.length;
  for (const stop of stops) {
    const shown = stop.trim();
    if (shown !== '' && text.slice(0, end).endsWith(shown)) start = Math.min(start, end - shown.length);
  }
  return start;
}

/** Number of tokens that end at or before `offset`. */
function tokensEndedBy(ends: Int32Array, offset: number): number {
  let low = 0;
  let high = ends.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ends[middle] ?? 0) <= offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Spans in token offsets. A token that reaches over a border belongs to the later span, and so do the tokens before it
 * that hold only a part of its first character.
 */
function tokenSpans(spans: readonly Span[], ends: Int32Array): Span[] {
  const mapped: Span[] = [];
  let start = 0;
  for (const [index, span] of spans.entries()) {
    let end = index === spans.length - 1 ? ends.length : tokensEndedBy(ends, span.end);
    while (end < ends.length && end > start && ends[end - 1] === (ends[end - 2] ?? 0)) end--;
    if (end > start) mapped.push({ kind: span.kind, start, end });
    start = Math.max(start, end);
  }
  // Ids whose bytes are no character yet have no text, and so no span.
  if (start < ends.length) mapped.push({ kind: 'content', start, end: ends.length });
  return mapped;
}

function answerOf(parsed: ParsedReply, spans: readonly Span[]): [string, JsonValue][] {
  const calls = parsed.toolCalls.map(
    (call) =>
      new Map<string, JsonValue>([
        ['name', call.name],
        ['arguments', call.arguments],
        ['value', call.value ?? null],
        ['error', call.error === null ? null : new Map(Object.entries(call.error))],
      ]),
  );
  return [
    ['family', parsed.family],
    ['reasoning', parsed.reasoning],
    ['content', parsed.content],
    ['tool_calls', calls],
    ['ill_formed', parsed.illFormed],
    ['spans', spans.map((span) => new Map<string, JsonValue>(Object.entries(span)))],
  ];
}

const readUtf8 = (path: string): string => readFileSync(path, 'utf8');

const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** One line; lone surrogates as escapes, since UTF-8 has no place for them. */
function encode(answer: JsonObject): string {
  const text = compactJson(answer);
  if (text.isWellFormed()) return text;
  return text.replace(LONE_SURROGATE, (unit) => `\\u${unit.charCodeAt(0).toString(16)}`);
}
