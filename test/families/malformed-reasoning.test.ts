import { malformedTable, type Row } from './malformed-table.js';

const ROWS: readonly Row[] = [
  ['not closed', '<think>\nI was cut', { ill: true, reasoning: 'I was cut' }],
  ['open in the prompt and not closed', 'I was cut', { ill: true, reasoning: 'I was cut' }, 'reasoning open'],
  ['open in the prompt and closed', 'plan\n</think>\n\nHi', { reasoning: 'plan', content: 'Hi' }, 'reasoning open'],
  ['open in the prompt and opened again', '<think>\nplan\n</think>\n\nHi', { reasoning: 'plan', content: 'Hi' }, 'reasoning open'],
  ['empty', '<think>\n\n</think>\n\nHi', { reasoning: '', content: 'Hi' }],
  ['empty without line breaks', '<think></think>Hi', { reasoning: '', content: 'Hi' }],
  ['open in the prompt and closed at once', '\n</think>\n\nHi', { reasoning: '', content: 'Hi' }, 'reasoning open'],
  ['closed without having been opened', 'plan\n</think>\n\nHi', { ill: true, content: 'plan\n</think>\n\nHi' }],
  ['behind words', 'Hi <think>plan</think> there', { ill: true, content: 'Hi <think>plan</think> there' }],
  ['twice', '<think>\na\n</think>\n\nHi <think>b</think>', { ill: true, reasoning: 'a', content: 'Hi <think>b</think>' }],
  ['opened twice', '<think>\na <think> b\n</think>\n\nHi', { reasoning: 'a <think> b', content: 'Hi' }],
  ['closed twice', '<think>\na\n</think>\n\nHi </think> there', { ill: true, reasoning: 'a', content: 'Hi </think> there' }],
  [
    'a call inside',
    '<think>\n<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>',
    { ill: true, reasoning: '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>' },
  ],
  [
    'a call inside, then closed',
    '<think>\n<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>\n</think>\n\nHi',
    { reasoning: '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>', content: 'Hi' },
  ],
  [
    'directly before a call',
    '<think>\nplan\n</think>\n\n<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>',
    { reasoning: 'plan', calls: ['f {}'] },
  ],
  [
    'directly before a call without line breaks',
    '<think>plan</think><tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>',
    { reasoning: 'plan', calls: ['f {}'] },
  ],
  ['line breaks of its own', '<think>\n\n\nplan\n\n\n</think>\n\n\n\nHi', { reasoning: '\n\nplan\n\n', content: '\n\nHi' }],
  ['spaces before the tag', '  \n<think>\nplan\n</think>\n\nHi', { reasoning: 'plan', content: 'Hi' }],
  ['a cut closing tag', '<think>\nplan\n</thi', { ill: true, reasoning: 'plan\n</thi' }],
  ['a closing tag in capitals', '<think>\nplan\n</THINK>\n\nHi', { ill: true, reasoning: 'plan\n</THINK>\n\nHi' }],
  ['nothing at all', '', {}],
  ['white space only', ' \n', { content: ' \n' }],
];

malformedTable('hermes', ROWS);
