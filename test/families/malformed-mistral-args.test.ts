import { malformedTable, type Row } from './malformed-table.js';

const ROWS: readonly Row[] = [
  ['arguments that are no JSON', '[TOOL_CALLS]f[ARGS]{oops}', { ill: true, content: '[TOOL_CALLS]f[ARGS]{oops}' }],
  ['cut inside the arguments', '[TOOL_CALLS]f[ARGS]{"s": "a', { ill: true, content: '[TOOL_CALLS]f[ARGS]{"s": "a' }],
  ['cut behind the argument marker', '[TOOL_CALLS]f[ARGS]', { ill: true, content: '[TOOL_CALLS]f[ARGS]' }],
  ['cut inside the name', '[TOOL_CALLS]loo', { ill: true, content: '[TOOL_CALLS]loo' }],
  ['cut behind the marker', '[TOOL_CALLS]', { ill: true, content: '[TOOL_CALLS]' }],
  ['no name', '[TOOL_CALLS][ARGS]{}', { ill: true, content: '[TOOL_CALLS][ARGS]{}' }],
  ['no argument marker', '[TOOL_CALLS]f{}', { ill: true, content: '[TOOL_CALLS]f{}' }],
  [
    'no argument marker before another call',
    '[TOOL_CALLS]f{}[TOOL_CALLS]g[ARGS]{}',
    { ill: true, content: '[TOOL_CALLS]f{}', calls: ['g {}'] },
  ],
  ['an id', '[TOOL_CALLS]f[CALL_ID]abcdefghi[ARGS]{}', { calls: ['f#abcdefghi {}'] }],
  ['an empty id', '[TOOL_CALLS]f[CALL_ID][ARGS]{}', { calls: ['f# {}'] }],
  ['words behind the arguments', '[TOOL_CALLS]f[ARGS]{} and done', { content: ' and done', calls: ['f {}'] }],
  ['words before the call', 'Look.[TOOL_CALLS]f[ARGS]{}', { content: 'Look.', calls: ['f {}'] }],
  ['white space everywhere', '[TOOL_CALLS] f [ARGS] {} ', { calls: ['f {}'] }],
  ['a line break in the name', '[TOOL_CALLS]I call\nf[ARGS]{}', { ill: true, content: '[TOOL_CALLS]I call\nf[ARGS]{}' }],
  ['the argument marker twice', '[TOOL_CALLS]f[ARGS]{}[ARGS]{}', { ill: true, content: '[ARGS]{}', calls: ['f {}'] }],
  ['the argument marker alone', '[ARGS]{}', { ill: true, content: '[ARGS]{}' }],
  [
    'the older grammar',
    '[TOOL_CALLS] [{"name": "f", "arguments": {}}]',
    { ill: true, content: '[TOOL_CALLS] [{"name": "f", "arguments": {}}]' },
  ],
  ['arguments that are a list', '[TOOL_CALLS]f[ARGS][1]', { calls: ['f [1] !arguments_not_object'] }],
  ['two calls', '[TOOL_CALLS]f[ARGS]{"s": 1}[TOOL_CALLS]g[ARGS]{}', { calls: ['f {"s": 1}', 'g {}'] }],
  [
    'a bad call between good ones',
    '[TOOL_CALLS]f[ARGS]{}[TOOL_CALLS]g[ARGS]{bad}[TOOL_CALLS]h[ARGS]{}',
    { ill: true, content: '[TOOL_CALLS]g[ARGS]{bad}', calls: ['f {}', 'h {}'] },
  ],
  ['reasoning that is not closed', '[THINK]hm[TOOL_CALLS]f[ARGS]{}', { ill: true, reasoning: 'hm[TOOL_CALLS]f[ARGS]{}' }],
  ['the marker in an argument', '[TOOL_CALLS]f[ARGS]{"s": "[TOOL_CALLS]"}', { calls: ['f {"s": "[TOOL_CALLS]"}'] }],
];

malformedTable('mistral-args', ROWS);
