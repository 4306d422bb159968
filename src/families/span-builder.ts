import type { ParsedCall, ParsedReply, ReplyText, Span } from './family.js';

/** A call as a grammar reads it, before its place is known. */
export type ReadCall = Omit<ParsedCall, 'start' | 'end'>;

/**
 * Builds a {@link ParsedReply} from left to right. Every method takes the offset where its stretch ends and starts
 * where the one before ended, so that spans cover the reply once and in order whatever a grammar does.
 */
export class SpanBuilder {
  private readonly spans: Span[] = [];
  private readonly calls: ParsedCall[] = [];
  private contentText = '';
  private reasoningText: string | null = null;
  private wrong = false;
  private at = 0;
  private leadEnd = 0;

  /** `end` is where the sampled text ends and the stop begins. */
  constructor(
    private readonly text: string,
    readonly end: number,
  ) {}

  /** Where the next stretch begins; a lead lies before it. */
  get position(): number {
    return Math.max(this.at, this.leadEnd);
  }

  get callCount(): number {
    return this.calls.length;
  }

  /** Whether what was given last could not be read. */
  get endsUnparsed(): boolean {
    return this.spans.at(-1)?.kind === 'unparsed';
  }

  /** Delimiters and the white space that belongs to them. */
  markup(end: number): void {
    this.push('markup', end);
  }

  /** White space before a block: markup where the block is read, content where it is not. */
  lead(end: number): void {
    this.leadEnd = end;
  }

  content(end: number): void {
    this.contentText += this.push('content', end);
  }

  /** Also says that there was reasoning, be it empty. */
  reasoning(end: number): void {
    this.reasoningText = (this.reasoningText ?? '') + this.push('reasoning', end);
  }

  /** What the grammar cannot read: the client sees it as content, the reply is ill-formed. */
  unparsed(end: number): void {
    this.wrong = true;
    if (this.leadEnd > this.at) this.content(this.leadEnd);
    this.contentText += this.push('unparsed', end);
  }

  call(end: number, call: ReadCall): void {
    if (this.leadEnd > this.at) this.markup(this.leadEnd);
    const start = this.at;
    const stop = this.clamp(end);
    const { name, arguments: text, value, error, id } = call;
    this.calls.push({ name, arguments: text, value, error, id, start, end: stop });
    if (stop > start) this.spans.push({ kind: 'tool_call', start, end: stop });
    this.at = stop;
  }

  illFormed(): void {
    this.wrong = true;
  }

  finish(family: string): ParsedReply {
    this.content(this.end);
    if (this.text.length > this.end) this.spans.push({ kind: 'stop', start: this.end, end: this.text.length });
    return {
      family,
      reasoning: this.reasoningText,
      content: this.contentText,
      toolCalls: this.calls,
      illFormed: this.wrong,
      spans: this.spans,
    };
  }

  private clamp(end: number): number {
    return Math.min(Math.max(end, this.at), this.end);
  }

  private push(kind: Span['kind'], end: number): string {
    const start = this.at;
    const stop = this.clamp(end);
    if (stop === start) return '';
    const last = this.spans[this.spans.length - 1];
    if (last !== undefined && last.kind === kind) this.spans[this.spans.length - 1] = { kind, start: last.start, end: stop };
    else this.spans.push({ kind, start, end: stop });
    this.at = stop;
    return this.text.slice(start, stop);
  }
}

/** The part of a reply that a grammar reads: without the stop. */
export function bodyOf(reply: ReplyText): string {
  const end = Math.min(Math.max(reply.stopStart, 0), reply.text.length);
  return end === reply.text.length ? reply.text : reply.text.slice(0, end);
}
