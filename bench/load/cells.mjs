/**
 * The conversations that are measured: so many turns, whose prompts grow evenly until the last one and its reply fill the
 * context. Sizes are those of ../shared/peers-bench, so that figures can be laid side by side.
 */
export const CELLS = {
  '1k': { contextTokens: 1024, turns: 4, replyTokens: 64, sessions: 512 },
  '8k': { contextTokens: 8192, turns: 12, replyTokens: 128, sessions: 64 },
  '32k': { contextTokens: 32768, turns: 20, replyTokens: 128, sessions: 32 },
  '100k': { contextTokens: 100000, turns: 25, replyTokens: 128, sessions: 16 },
};

export const SYSTEM = 'You work on a large code base. Read before you change, keep every change small, and say what you did and why.';

const parameters = (properties, required) => ({ type: 'object', properties, required });
const TEXT = { type: 'string' };
const NUMBER = { type: 'integer' };

const FUNCTIONS = [
  { name: 'read_file', description: 'Lines of a file.', schema: parameters({ path: TEXT, from: NUMBER, to: NUMBER }, ['path']) },
  {
    name: 'run',
    description: 'Runs a command and returns what it printed.',
    schema: parameters({ command: TEXT, timeout_s: NUMBER }, ['command']),
  },
];

/** The tools in each dialect. */
export const TOOLS = {
  chat: FUNCTIONS.map(({ name, description, schema }) => ({ type: 'function', function: { name, description, parameters: schema } })),
  messages: FUNCTIONS.map(({ name, description, schema }) => ({ name, description, input_schema: schema })),
};

/** Python's spelling of JSON, which templates print. */
const spaced = (value) =>
  JSON.stringify(value, null, 1)
    .replace(/\n\s*/g, ' ')
    .replace(/([{[]) /g, '$1')
    .replace(/ ([}\]])/g, '$1');

/** What the bench's chat template puts around the texts; the tokens are counted with the model's own tokenizer. */
export const FRAME_TEXTS = {
  head: `<|im_start|>system\n${SYSTEM}\n\nFunctions that can be called, one JSON object a line:\n<tools>\n${TOOLS.chat.map(spaced).join('\n')}\n</tools>\nA call is one JSON object between two tags, and several calls are written one below the other:\n<tool_call>\n{"name": "function", "arguments": {"argument": "value"}}\n</tool_call><|im_end|>\n`,
  user: '<|im_start|>user\n\n\nNext comes tag<|im_end|>\n',
  assistant: '<|im_start|>assistant\n\n',
};

/** What stands before the tag word that ends each user text and chooses the reply. */
export const CUE = 'Next comes';

/** By turn: the planned length of the prompt in tokens. */
export function plannedPrompts({ contextTokens, turns, replyTokens }) {
  return Array.from({ length: turns }, (_, turn) => Math.round((contextTokens * (turn + 1)) / turns) - replyTokens);
}
