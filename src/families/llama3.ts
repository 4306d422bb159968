import type { BlockContext } from './block-reader.js';
import type { FamilyEntry, MakeFamily } from './family-entry.js';
import { looksLikeObjectCall, readBareObjects } from './json-calls.js';
import { type CallItems, putCalls, readPythonCall, readPythonCalls } from './python-calls.js';
import { FIRST_TOOL } from './template-probe.js';
import { wholeTurnFamily } from './whole-turn.js';

const PYTHON_TAG = '<|python_tag|>';

/** A print that begins with a call, or with a list of calls. */
const BARE_CALL = new RegExp(`^\\s*\\[?\\s*\\{\\s*"name"\\s*:\\s*"${FIRST_TOOL}"\\s*,\\s*"(?:parameters|arguments)"`);

const makeJson: MakeFamily = (shape) => wholeTurnFamily({ name: 'llama3-json', strays: [PYTHON_TAG], readTurn: readJsonTurn }, shape);

/** Llama 3.1 to 3.3: the turn is one JSON object; `<|python_tag|>` comes before built-in tools, `brave_search.call(query="x")`. */
export const llama3Json: FamilyEntry = {
  name: 'llama3-json',
  make: makeJson,
  usual: { reasoning: null, stops: ['<|eot_id|>'] },
  recognise: ({ text }) => (BARE_CALL.test(text) ? makeJson : null),
  turnEnds: ['<|eom_id|>'],
};

const makePython: MakeFamily = (shape) =>
  wholeTurnFamily({ name: 'llama3-pythonic', strays: [PYTHON_TAG], readTurn: readPythonTurn }, shape);

/** Llama 3.2 and whoever writes the turn as a list of Python calls, `[f(a=1), g()]`. */
export const llama3Pythonic: FamilyEntry = {
  name: 'llama3-pythonic',
  make: makePython,
  usual: { reasoning: null, stops: ['<|eot_id|>'] },
  recognise: ({ text }) => (new RegExp(`\\[\\s*${FIRST_TOOL}\\(`).test(text) ? makePython : null),
  turnEnds: ['<|eom_id|>'],
};

function readJsonTurn(context: BlockContext, start: number): void {
  const { scan, builder } = context;
  const tagged = scan.here(PYTHON_TAG, start);
  const at = tagged ? scan.skipSpace(start + PYTHON_TAG.length) : start;
  const calls = readBareObjects(scan, at) ?? (tagged ? builtinCall(context, at) : null);
  if (calls !== null) {
    putCalls(builder, calls);
    const next = scan.skipSpace(calls.end);
    const behind = scan.body[next] === ';' ? scan.skipSpace(next + 1) : next;
    if (looksLikeObjectCall(scan.body, behind)) builder.unparsed(builder.end);
    else if (behind >= builder.end) builder.markup(behind);
  } else if (tagged || looksLikeObjectCall(scan.body, at)) builder.unparsed(builder.end);
}

function builtinCall({ scan }: BlockContext, start: number): CallItems | null {
  const item = readPythonCall(scan, start);
  if (item === null) return null;
  return { items: [{ ...item, call: { ...item.call, name: item.call.name.replace(/\.call$/, '') } }], end: item.end };
}

function readPythonTurn({ scan, builder }: BlockContext, start: number): void {
  const at = scan.here(PYTHON_TAG, start) ? scan.skipSpace(start + PYTHON_TAG.length) : start;
  const calls = readPythonCalls(scan, at);
  if (calls !== null) putCalls(builder, calls);
  else if (at > start || looksLikePythonCall(scan.body, at)) builder.unparsed(builder.end);
}

/** Whether a list of calls seems to have been begun at `start`. */
export const looksLikePythonCall = (text: string, start: number): boolean => {
  BEGUN.lastIndex = start;
  return BEGUN.test(text);
};
const BEGUN = /\[\s*[\p{L}_][\p{L}\p{N}_.-]*\(/uy;
