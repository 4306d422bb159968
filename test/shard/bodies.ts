/** Bodies as agents send them, for tests that compare reading with and without a memory. */

export type Random = () => number;

/** Numbers in [0, 1), the same for the same seed. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let x = Math.imul(state ^ (state >>> 15), 1 | state);
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x;
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const below = (random: Random, n: number): number => Math.floor(random() * n);
export const oneOf = <T>(random: Random, items: readonly T[]): T => items[below(random, items.length)]!;

const TEXTS = [
  'plain',
  'with "quotes" and \\ slashes',
  'line\nline\ttab',
  'ümlaut → 值 😀',
  '\ufffd',
  '}],{["',
  '',
  '\\"',
  ' '.repeat(20),
  'x'.repeat(300),
];
const text = (random: Random): string => oneOf(random, TEXTS) + (random() < 0.5 ? below(random, 50) : '');

/** A Chat message of any role, its calls and results paired only by chance. */
export function chatMessage(random: Random): object {
  switch (below(random, 4)) {
    case 0:
      return { role: 'user', content: random() < 0.3 ? [{ type: 'text', text: text(random) }] : text(random) };
    case 1:
      return { role: 'tool', tool_call_id: `c${below(random, 9)}`, content: text(random) };
    case 2:
      return {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: `c${below(random, 9)}`, type: 'function', function: { name: 'f', arguments: JSON.stringify({ a: text(random) }) } },
        ],
      };
    default:
      return { role: 'assistant', content: text(random), reasoning_content: text(random) };
  }
}

export const chatTool = (i: number): object => ({
  type: 'function',
  function: {
    name: `tool_${i}`,
    description: 'Does a thing.',
    parameters: { type: 'object', properties: { a: { type: 'string', minimum: 1.0 } } },
  },
});

/** An entry of Messages of any role: several results in any order, references to tools, signed thinking, cache markers. */
export function messagesEntry(random: Random, signature: string): object {
  const marker = random() < 0.2 ? { cache_control: { type: 'ephemeral' } } : {};
  const calls = Array.from({ length: 1 + below(random, 3) }, (_, i) => `t${(i + below(random, 3)) % 4}`);
  switch (below(random, 5)) {
    case 0:
      return { role: 'user', content: random() < 0.5 ? text(random) : [{ type: 'text', text: text(random), ...marker }] };
    case 1:
      return {
        role: 'user',
        content: [
          ...calls.map((id) => ({
            type: 'tool_result',
            tool_use_id: id,
            content: resultContent(random),
            is_error: random() < 0.2,
            ...marker,
          })),
          ...(random() < 0.3 ? [{ type: 'text', text: text(random) }] : []),
        ],
      };
    case 2:
      return { role: 'system', content: text(random) };
    default:
      return {
        role: 'assistant',
        content: [
          ...(random() < 0.4 ? [{ type: 'thinking', thinking: text(random), signature: random() < 0.7 ? signature : 'not ours' }] : []),
          { type: 'text', text: text(random) },
          ...calls.map((id) => ({ type: 'tool_use', id, name: 'f', input: { a: text(random), n: 1.0 }, ...marker })),
        ],
      };
  }
}

const resultContent = (random: Random): unknown =>
  random() < 0.3
    ? [
        { type: 'text', text: text(random) },
        { type: 'tool_reference', tool_name: `tool_${below(random, 3)}` },
      ]
    : text(random);

export const messagesTool = (i: number): object => ({
  name: `tool_${i}`,
  description: 'Does a thing.',
  input_schema: { type: 'object', properties: { a: { type: 'string' } } },
  ...(i === 2 ? { defer_loading: true } : {}),
});

/** The text of a body with its members in an order and a spelling of its own. */
export function bodyText(members: readonly (readonly [string, unknown])[], spaced: boolean): string {
  const body = Object.fromEntries(members);
  return spaced ? JSON.stringify(body, null, 1) : JSON.stringify(body);
}

export const utf8 = (body: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(body);
