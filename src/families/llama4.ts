import type { BlockContext } from './block-reader.js';
import type { FamilyEntry, MakeFamily } from './family-entry.js';
import { looksLikeObjectCall, readBareObjects } from './json-calls.js';
import { looksLikePythonCall } from './llama3.js';
import { putCalls, readPythonCalls } from './python-calls.js';
import { FIRST_TOOL } from './template-probe.js';
import { wholeTurnFamily } from './whole-turn.js';

const OPEN = '<|python_start|>';
const CLOSE = '<|python_end|>';

const make: MakeFamily = (shape) => wholeTurnFamily({ name: 'llama4', strays: [OPEN, CLOSE], readTurn }, shape);

/**
 * Llama 4: `<|python_start|>words<|python_end|>{"name": …, "parameters": {…}}{…}` as its template prints a turn with
 * calls; without words the objects alone, or a list of Python calls, between the same tags or bare.
 */
export const llama4: FamilyEntry = {
  name: 'llama4',
  make,
  usual: { reasoning: null, stops: ['<|eot|>', '<|eom|>'] },
  recognise: ({ text }) => (text.includes(OPEN) && text.includes(FIRST_TOOL) ? make : null),
};

function readTurn(context: BlockContext, start: number): void {
  const { scan, builder } = context;
  let at = start;
  const open = scan.next(OPEN, start);
  if (open >= 0) {
    builder.content(scan.isBlank(start, open) ? builder.position : open);
    at = open;
    builder.markup(at + OPEN.length);
    const close = scan.next(CLOSE, builder.position);
    const inner = scan.skipSpace(builder.position);
    const called = readCalls(context, inner);
    if (close < 0) {
      builder.illFormed();
      return;
    }
    if (called && !scan.isBlank(builder.position, close)) builder.unparsed(close);
    else if (!called) builder.content(close);
    builder.markup(close + CLOSE.length);
    at = scan.skipSpace(builder.position);
  }
  if (readCalls(context, at)) return;
  if (looksLikeObjectCall(scan.body, at) || looksLikePythonCall(scan.body, at)) builder.unparsed(builder.end);
}

function readCalls({ scan, builder }: BlockContext, at: number): boolean {
  const calls = readBareObjects(scan, at) ?? readPythonCalls(scan, at);
  if (calls === null) return false;
  putCalls(builder, calls);
  return true;
}
