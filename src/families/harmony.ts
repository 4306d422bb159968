import type { Family, ParsedReply, ReplyText } from './family.js';
import type { FamilyEntry } from './family-entry.js';
import { jsonCall } from './json-call.js';
import { locateJson } from './json-scan.js';
import { MarkerScan } from './marker-scan.js';
import type { ReasoningTags } from './reasoning-split.js';
import { SpanBuilder } from './span-builder.js';
import { FIRST_TOOL } from './template-probe.js';

const START = '<|start|>';
const CHANNEL = '<|channel|>';
const CONSTRAIN = '<|constrain|>';
const MESSAGE = '<|message|>';
const ENDS = ['<|end|>', '<|call|>', '<|return|>'] as const;

/** Reasoning as the prompt can leave it open. */
const REASONING: ReasoningTags = {
  open: `${CHANNEL}analysis${MESSAGE}`,
  close: '<|end|>',
  openPad: '',
  closePad: '',
  afterPad: '',
  promptPad: '',
};

const FAMILY: Family = { name: 'harmony', callEnd: '<|call|>', nativeIds: false, parse };

/**
 * gpt-oss: a reply is a row of messages `<|start|>assistant HEADER<|message|>TEXT<|end|>`, the first without its
 * `<|start|>assistant`. Channel `analysis` is reasoning, `final` and `commentary` are content, a message to a
 * recipient (`to=functions.f`, before or behind the channel) is a call.
 */
export const harmony: FamilyEntry = {
  name: FAMILY.name,
  make: () => FAMILY,
  recognise: ({ text }) => (text.includes(CHANNEL) && new RegExp(`to=functions\\.${FIRST_TOOL}\\b`).test(text) ? () => FAMILY : null),
  reasoning: REASONING,
  turnEnds: ['<|call|>', '<|return|>'],
};

function parse(reply: ReplyText): ParsedReply {
  const scan = new MarkerScan(reply);
  const builder = new SpanBuilder(reply.text, scan.body.length);
  const stopped = scan.body.length < reply.text.length;
  let header: Header | null = reply.reasoningOpen ? { channel: 'analysis', recipient: null, odd: false } : null;
  while (builder.position < builder.end) {
    const start = builder.position;
    const first = start === 0;
    const opening = header === null ? openingAt(scan, start, first) : { header, textStart: start };
    header = null;
    if (opening === null) {
      builder.unparsed(scan.nearest([START], start + 1)?.start ?? builder.end);
      continue;
    }
    const end = scan.nearest([...ENDS, START], opening.textStart);
    const textEnd = end?.start ?? builder.end;
    const closed = end === null ? stopped : end.marker !== START;
    const behind = end === null || end.marker === START ? textEnd : end.end;
    readMessage(scan, builder, { ...opening, textEnd, behind, closed });
  }
  return builder.finish(FAMILY.name);
}

interface Header {
  readonly channel: string | null;
  readonly recipient: string | null;
  /** Whether it has words that the grammar does not. */
  readonly odd: boolean;
}

interface HarmonyMessage {
  readonly header: Header;
  readonly textStart: number;
  readonly textEnd: number;
  /** Behind the marker that ends the message. */
  readonly behind: number;
  readonly closed: boolean;
}

/** The header at `start`, `null` where none is finished there or where another role speaks. */
function openingAt(scan: MarkerScan, start: number, first: boolean): { header: Header; textStart: number } | null {
  const starts = scan.here(START, start);
  if (!first && !starts) return null;
  const from = starts ? start + START.length : start;
  const message = scan.nearest([MESSAGE, START, ...ENDS], from);
  if (message === null || message.marker !== MESSAGE) return null;
  const header = readHeader(scan.body.slice(from, message.start), starts);
  return header === null ? null : { header, textStart: message.end };
}

const TO = /(?:^|\s)to=([^\s<]+)/;

function readHeader(text: string, named: boolean): Header | null {
  const [before = '', ...behind] = text.split(CHANNEL);
  if (behind.length > 1) return null;
  const lead = before.trim();
  if (named ? !/^assistant(?:\s|$)/.test(lead) : lead !== '' && !/^(?:assistant\b\s*)?(?:to=[^\s<]+)?$/.test(lead)) return null;
  const [channelText = '', ...constrain] = (behind[0] ?? '').split(CONSTRAIN);
  const channel = /^\s*([A-Za-z]+)/.exec(channelText)?.[1] ?? null;
  const recipient = TO.exec(lead)?.[1] ?? TO.exec(channelText)?.[1] ?? null;
  const rest = `${lead.replace(/^assistant\b/, '')} ${channelText.replace(/^\s*[A-Za-z]+/, '')} ${constrain.join(' ')}`.replace(
    /\bto=[^\s<]+/g,
    '',
  );
  const odd = constrain.length > 1 || !/^\s*(?:[A-Za-z]+\s*)?$/.test(rest) || channel === null;
  return { channel, recipient, odd };
}

function readMessage(scan: MarkerScan, builder: SpanBuilder, message: HarmonyMessage): void {
  const { header, textStart, textEnd, behind } = message;
  if (header.odd) builder.illFormed();
  if (header.recipient !== null && header.recipient !== 'assistant' && header.recipient !== 'user') {
    readCall(scan, builder, message, header.recipient);
    return;
  }
  builder.markup(textStart);
  if (header.channel === 'analysis') {
    builder.reasoning(textEnd);
    if (!message.closed) builder.illFormed();
  } else {
    builder.content(textEnd);
    if (header.channel !== 'final' && header.channel !== 'commentary') builder.illFormed();
  }
  builder.markup(behind);
}

function readCall(scan: MarkerScan, builder: SpanBuilder, message: HarmonyMessage, recipient: string): void {
  const name = recipient.replace(/^functions\./, '');
  const json = locateJson(scan.body, scan.skipSpace(message.textStart), message.textEnd);
  if (name === '' || json === null || !scan.isBlank(json.end, message.textEnd)) {
    builder.unparsed(message.behind);
    return;
  }
  if (scan.here(START, builder.position)) builder.markup(builder.position + START.length + 'assistant'.length);
  if (!message.closed) builder.illFormed();
  builder.call(message.behind, jsonCall(name, scan.body.slice(json.start, json.end), json.value, null));
}
