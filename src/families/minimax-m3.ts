import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../canonical/json-value.js';
import { writeJson } from '../canonical/json-write.js';
import { type BlockContext, type BlockGrammar, blockFamily } from './block-reader.js';
import type { FamilyEntry, MakeFamily } from './family-entry.js';
import type { MarkerScan } from './marker-scan.js';
import { tightTags } from './reasoning-split.js';
import { parameterSchema, typedValue } from './schema-typing.js';
import { type CallAt, readSection, type Section } from './section-reader.js';
import { FIRST_TOOL } from './template-probe.js';

/** Stands before every tag of a call, so that text never looks like one. */
const NS = ']<]minimax[>[';

const SECTION: Section = {
  open: [`${NS}<tool_call>`],
  close: [`${NS}</tool_call>`],
  callOpen: `${NS}<invoke name=`,
  callClose: `${NS}</invoke>`,
  callAt,
};

const GRAMMAR: BlockGrammar = {
  name: 'minimax-m3',
  callEnd: SECTION.callClose,
  nativeIds: false,
  openers: [...SECTION.open, SECTION.callOpen],
  strays: [...SECTION.close, SECTION.callClose],
  readBlock: (context, opener) => readSection(context, opener, SECTION),
};

const make: MakeFamily = (shape) => blockFamily(GRAMMAR, shape);

/** MiniMax M3: parameters are tags of their own name, objects are nested tags and lists `<item>`s; null members are left out. */
export const minimaxM3: FamilyEntry = {
  name: GRAMMAR.name,
  make,
  usual: { reasoning: tightTags('<mm:think>', '</mm:think>'), stops: ['[e~['] },
  recognise: ({ text }) => (text.includes(`${NS}<invoke name="${FIRST_TOOL}">`) ? make : null),
};

const CALL_OPEN = new RegExp(`${literal(NS)}<invoke name="([^"<>\\n]+)">`, 'y');
const TAG = new RegExp(`${literal(NS)}<([^<>/\\s][^<>]*)>`, 'y');
const MAX_DEPTH = 100;

function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

function callAt({ scan, tool }: BlockContext, start: number): CallAt | null {
  CALL_OPEN.lastIndex = start;
  const name = CALL_OPEN.exec(scan.body)?.[1]?.trim();
  if (name === undefined || name === '') return null;
  const read = readNodes(scan, CALL_OPEN.lastIndex, 0);
  if (read === null) return null;
  const behind = scan.skipSpace(read.end);
  const ended = scan.here(SECTION.callClose, behind);
  if (!ended && behind < scan.body.length && !scan.body.startsWith(NS, behind)) return null;

  const definition = tool(name);
  const value = new Map<string, JsonValue>();
  const wrong: string[] = [];
  for (const node of read.nodes) {
    const typed = typedNode(node, parameterSchema(definition, node.tag));
    value.set(node.tag, typed.value);
    if (typed.mismatch !== null) wrong.push(`${node.tag} is not ${typed.mismatch}`);
  }
  const error = wrong.length === 0 ? null : { code: 'schema_mismatch', message: wrong.join('; ') };
  const call = { name, arguments: writeJson(value), value, error, id: null };
  return { call, end: ended ? behind + SECTION.callClose.length : read.end, closed: ended && read.closed };
}

interface Node {
  readonly tag: string;
  /** Text between the tags. */
  readonly text: string;
  readonly children: readonly Node[];
}

interface ReadNodes {
  readonly nodes: readonly Node[];
  readonly end: number;
  /** Whether no text holds a tag that was not closed. */
  readonly closed: boolean;
}

/** Reads sibling tags until something else comes; `null` where one is not closed. */
function readNodes(scan: MarkerScan, start: number, depth: number): ReadNodes | null {
  if (depth > MAX_DEPTH) return null;
  const nodes: Node[] = [];
  let closed = true;
  let end = start;
  for (;;) {
    TAG.lastIndex = scan.skipSpace(end);
    const at = TAG.lastIndex;
    const tag = TAG.exec(scan.body)?.[1];
    if (tag === undefined || scan.here(SECTION.callOpen, at) || scan.here(SECTION.open[0]!, at)) return { nodes, end, closed };
    const from = TAG.lastIndex;
    const close = `${NS}</${tag}>`;
    const inner = readNodes(scan, from, depth + 1);
    const children = inner !== null && inner.nodes.length > 0 && scan.here(close, scan.skipSpace(inner.end)) ? inner.nodes : [];
    const closeAt = children.length > 0 && inner !== null ? scan.skipSpace(inner.end) : scan.body.indexOf(close, from);
    if (closeAt < 0) return null;
    const text = scan.body.slice(from, closeAt);
    if (children.length === 0 ? text.includes(NS) : inner?.closed === false) closed = false;
    nodes.push({ tag, text, children });
    end = closeAt + close.length;
  }
}

interface TypedNode {
  readonly value: JsonValue;
  readonly mismatch: string | null;
}

function typedNode(node: Node, schema: JsonValue | undefined): TypedNode {
  if (node.children.length === 0) {
    // An empty object and an empty list are both printed as nothing.
    const empty = node.text.trim() === '' && isJsonObject(schema) ? EMPTY.get(schema.get('type')) : undefined;
    return empty !== undefined ? { value: empty, mismatch: null } : typedValue(node.text, schema);
  }
  const asList = node.children.every((child) => child.tag === 'item') && !(isJsonObject(schema) && isJsonObject(schema.get('properties')));
  const wrong: string[] = [];
  const typed = node.children.map((child): [string, JsonValue] => {
    const inner = typedNode(child, asList ? memberOf(schema, 'items') : memberOf(memberOf(schema, 'properties'), child.tag));
    if (inner.mismatch !== null) wrong.push(inner.mismatch);
    return [child.tag, inner.value];
  });
  const value: JsonValue = asList ? typed.map(([, item]) => item) : (new Map(typed) as JsonObject);
  return { value, mismatch: wrong[0] ?? null };
}

const EMPTY: ReadonlyMap<JsonValue | undefined, JsonValue> = new Map<JsonValue | undefined, JsonValue>([
  ['object', new Map()],
  ['array', []],
]);

const memberOf = (schema: JsonValue | undefined, key: string): JsonValue | undefined =>
  isJsonObject(schema) && !isJsonArray(schema) ? schema.get(key) : undefined;
