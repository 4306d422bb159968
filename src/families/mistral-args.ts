import { type BlockContext, type BlockGrammar, blockFamily } from './block-reader.js';
import type { FamilyEntry, MakeFamily } from './family-entry.js';
import { jsonCall } from './json-call.js';
import { locateJson } from './json-scan.js';
import type { Hit } from './marker-scan.js';
import { tightTags } from './reasoning-split.js';
import { FIRST_TOOL } from './template-probe.js';

const OPEN = '[TOOL_CALLS]';
const ID = '[CALL_ID]';
const ARGS = '[ARGS]';

const GRAMMAR: BlockGrammar = {
  name: 'mistral-args',
  callEnd: null,
  nativeIds: true,
  openers: [OPEN],
  strays: [ARGS, ID],
  readBlock: readCall,
};
const make: MakeFamily = (shape) => blockFamily(GRAMMAR, shape);

/** Mistral since v11: `[TOOL_CALLS]f[CALL_ID]id[ARGS]{…}`, repeated; the id is left out by newer templates. A call ends with its JSON. */
export const mistralArgs: FamilyEntry = {
  name: GRAMMAR.name,
  make,
  usual: { reasoning: tightTags('[THINK]', '[/THINK]'), callLead: '', stops: ['</s>'] },
  recognise: ({ text }) => (new RegExp(`\\[TOOL_CALLS\\]\\s*${FIRST_TOOL}.*\\[ARGS\\]`).test(text) ? make : null),
};

function readCall(context: BlockContext, opener: Hit): void {
  const { scan, builder } = context;
  const next = scan.next(OPEN, opener.end);
  const limit = next < 0 ? builder.end : next;
  const args = scan.next(ARGS, opener.end);
  const json = args >= 0 && args < limit ? locateJson(scan.body, scan.skipSpace(args + ARGS.length)) : null;
  const [name, id] = scan.body.slice(opener.end, Math.max(args, opener.end)).split(ID, 2);
  if (json === null || name === undefined || name.trim() === '' || name.includes('\n')) builder.unparsed(limit);
  else builder.call(json.end, jsonCall(name.trim(), scan.body.slice(json.start, json.end), json.value, id?.trim() ?? null));
}
