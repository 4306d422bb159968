import { malformedTable, type Row } from './malformed-table.js';

const ROWS: readonly Row[] = [
  ['no space', '[TOOL_CALLS][{"name": "f", "arguments": {}}]', { calls: ['f {}'] }],
  ['one object without a list', '[TOOL_CALLS] {"name": "f", "arguments": {}}', { ill: true, calls: ['f {}'] }],
  [
    'a list that is not closed',
    '[TOOL_CALLS] [{"name": "f", "arguments": {}}',
    { ill: true, content: '[TOOL_CALLS] [{"name": "f", "arguments": {}}' },
  ],
  [
    'cut inside the arguments',
    '[TOOL_CALLS] [{"name": "f", "arguments": {"s": "a',
    { ill: true, content: '[TOOL_CALLS] [{"name": "f", "arguments": {"s": "a' },
  ],
  ['cut behind the marker', '[TOOL_CALLS]', { ill: true, content: '[TOOL_CALLS]' }],
  ['an empty list', '[TOOL_CALLS] []', { ill: true, content: '[TOOL_CALLS] []' }],
  ['a call without a name', '[TOOL_CALLS] [{"arguments": {}}]', { ill: true, content: '[TOOL_CALLS] [{"arguments": {}}]' }],
  ['a call without arguments', '[TOOL_CALLS] [{"name": "f"}]', { ill: true, calls: ['f {} !missing_arguments'] }],
  [
    'a good and a nameless call',
    '[TOOL_CALLS] [{"name": "f", "arguments": {}}, {"arguments": {}}]',
    { ill: true, content: '[TOOL_CALLS] [{"name": "f", "arguments": {}}, {"arguments": {}}]' },
  ],
  ['an id', '[TOOL_CALLS] [{"name": "f", "arguments": {}, "id": "abcdefghi"}]', { calls: ['f#abcdefghi {}'] }],
  [
    'arguments that are no JSON',
    '[TOOL_CALLS] [{"name": "f", "arguments": {oops}}]',
    { ill: true, content: '[TOOL_CALLS] [{"name": "f", "arguments": {oops}}]' },
  ],
  [
    'arguments as a JSON text in a string',
    '[TOOL_CALLS] [{"name": "f", "arguments": "{\\"s\\": 1}"}]',
    { calls: ['f "{\\"s\\": 1}" => {"s": 1}'] },
  ],
  ['words behind the list', '[TOOL_CALLS] [{"name": "f", "arguments": {}}] Done.', { content: ' Done.', calls: ['f {}'] }],
  ['words before the marker', 'Look. [TOOL_CALLS] [{"name": "f", "arguments": {}}]', { content: 'Look. ', calls: ['f {}'] }],
  ['words instead of a list', '[TOOL_CALLS] I call f', { ill: true, content: '[TOOL_CALLS] I call f' }],
  ['a list of strings', '[TOOL_CALLS] ["f"]', { ill: true, content: '[TOOL_CALLS] ["f"]' }],
  ['the newer grammar', '[TOOL_CALLS]f[ARGS]{}', { ill: true, content: '[TOOL_CALLS]f[ARGS]{}' }],
  [
    'the marker twice',
    '[TOOL_CALLS] [{"name": "f", "arguments": {}}][TOOL_CALLS] [{"name": "g", "arguments": {}}]',
    { calls: ['f {}', 'g {}'] },
  ],
  [
    'the marker twice, the first broken',
    '[TOOL_CALLS] [{bad}][TOOL_CALLS] [{"name": "g", "arguments": {}}]',
    { ill: true, content: '[TOOL_CALLS] [{bad}]', calls: ['g {}'] },
  ],
  [
    'single quotes',
    "[TOOL_CALLS] [{'name': 'f', 'arguments': {}}]",
    { ill: true, content: "[TOOL_CALLS] [{'name': 'f', 'arguments': {}}]" },
  ],
  [
    'an empty name',
    '[TOOL_CALLS] [{"name": " ", "arguments": {}}]',
    { ill: true, content: '[TOOL_CALLS] [{"name": " ", "arguments": {}}]' },
  ],
];

malformedTable('mistral', ROWS);
