import { malformedTable, type Row } from './malformed-table.js';

const ROWS: readonly Row[] = [
  [
    'arguments that are no JSON',
    '<tool_call>\n{"name":"f","arguments":{oops}\n</tool_call>',
    { ill: true, content: '<tool_call>\n{"name":"f","arguments":{oops}\n</tool_call>' },
  ],
  [
    'arguments that are no JSON between words',
    'Look.\n<tool_call>\n{"name":"f","arguments":{oops}}\n</tool_call>\nDone.',
    { ill: true, content: 'Look.\n<tool_call>\n{"name":"f","arguments":{oops}}\n</tool_call>\nDone.' },
  ],
  [
    'cut inside the arguments',
    '<tool_call>\n{"name": "f", "arguments": {"s": "echo tr',
    { ill: true, content: '<tool_call>\n{"name": "f", "arguments": {"s": "echo tr' },
  ],
  ['cut inside the name', '<tool_call>\n{"name": "f', { ill: true, content: '<tool_call>\n{"name": "f' }],
  ['cut behind the opening tag', 'Hi\n<tool_call>\n', { ill: true, content: 'Hi\n<tool_call>\n' }],
  ['cut inside the opening tag', 'Hi\n<tool_c', { content: 'Hi\n<tool_c' }],
  ['no closing tag', '<tool_call>\n{"name": "f", "arguments": {"s": "a"}}', { ill: true, calls: ['f {"s": "a"}'] }],
  [
    'no closing tag before another call',
    '<tool_call>\n{"name": "f", "arguments": {}}\n<tool_call>\n{"name": "g", "arguments": {}}\n</tool_call>',
    { ill: true, calls: ['f {}', 'g {}'] },
  ],
  [
    'no closing tag before words',
    '<tool_call>\n{"name": "f", "arguments": {}}\nThat was it.',
    { ill: true, content: '\nThat was it.', calls: ['f {}'] },
  ],
  ['a closing tag that closes nothing', 'Hi </tool_call> there', { ill: true, content: 'Hi </tool_call> there' }],
  [
    'no name',
    '<tool_call>\n{"arguments": {"s": "a"}}\n</tool_call>',
    { ill: true, content: '<tool_call>\n{"arguments": {"s": "a"}}\n</tool_call>' },
  ],
  [
    'an empty name',
    '<tool_call>\n{"name": "", "arguments": {}}\n</tool_call>',
    { ill: true, content: '<tool_call>\n{"name": "", "arguments": {}}\n</tool_call>' },
  ],
  [
    'a name that is a number',
    '<tool_call>\n{"name": 7, "arguments": {}}\n</tool_call>',
    { ill: true, content: '<tool_call>\n{"name": 7, "arguments": {}}\n</tool_call>' },
  ],
  ['no arguments', '<tool_call>\n{"name": "f"}\n</tool_call>', { ill: true, calls: ['f {} !missing_arguments'] }],
  ['arguments under another word', '<tool_call>\n{"name": "f", "parameters": {"s": "a"}}\n</tool_call>', { calls: ['f {"s": "a"}'] }],
  [
    'arguments as a JSON text in a string',
    '<tool_call>\n{"name": "f", "arguments": "{\\"s\\": \\"a\\"}"}\n</tool_call>',
    { calls: ['f "{\\"s\\": \\"a\\"}" => {"s": "a"}'] },
  ],
  [
    'arguments as a string that is no JSON',
    '<tool_call>\n{"name": "f", "arguments": "ls -l"}\n</tool_call>',
    { calls: ['f "ls -l" !arguments_not_object'] },
  ],
  [
    'arguments that are a list',
    '<tool_call>\n{"name": "f", "arguments": [1, 2]}\n</tool_call>',
    { calls: ['f [1, 2] !arguments_not_object'] },
  ],
  ['arguments that are null', '<tool_call>\n{"name": "f", "arguments": null}\n</tool_call>', { calls: ['f null !arguments_not_object'] }],
  [
    'one brace too many',
    '<tool_call>\n{"name": "f", "arguments": {}}}\n</tool_call>',
    { ill: true, content: '<tool_call>\n{"name": "f", "arguments": {}}}\n</tool_call>' },
  ],
  [
    'one brace too few',
    '<tool_call>\n{"name": "f", "arguments": {"s": "a"}\n</tool_call>',
    { ill: true, content: '<tool_call>\n{"name": "f", "arguments": {"s": "a"}\n</tool_call>' },
  ],
  [
    'a line break inside a string',
    '<tool_call>\n{"name": "f", "arguments": {"s": "a\nb"}}\n</tool_call>',
    { ill: true, content: '<tool_call>\n{"name": "f", "arguments": {"s": "a\nb"}}\n</tool_call>' },
  ],
  [
    'single quotes',
    "<tool_call>\n{'name': 'f', 'arguments': {}}\n</tool_call>",
    { ill: true, content: "<tool_call>\n{'name': 'f', 'arguments': {}}\n</tool_call>" },
  ],
  [
    'a comma too many',
    '<tool_call>\n{"name": "f", "arguments": {"s": "a",}}\n</tool_call>',
    { ill: true, content: '<tool_call>\n{"name": "f", "arguments": {"s": "a",}}\n</tool_call>' },
  ],
  [
    'a list of calls in one block',
    '<tool_call>\n[{"name": "f", "arguments": {}}, {"name": "g", "arguments": {}}]\n</tool_call>',
    { ill: true, content: '<tool_call>\n[{"name": "f", "arguments": {}}, {"name": "g", "arguments": {}}]\n</tool_call>' },
  ],
  [
    'two objects in one block',
    '<tool_call>\n{"name": "f", "arguments": {}}\n{"name": "g", "arguments": {}}\n</tool_call>',
    { ill: true, content: '<tool_call>\n{"name": "f", "arguments": {}}\n{"name": "g", "arguments": {}}\n</tool_call>' },
  ],
  ['words in the block', '<tool_call>\nI will call f\n</tool_call>', { ill: true, content: '<tool_call>\nI will call f\n</tool_call>' }],
  ['an empty block', '<tool_call>\n\n</tool_call>', { ill: true, content: '<tool_call>\n\n</tool_call>' }],
  [
    'a bad call between good ones',
    '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>\n<tool_call>\n{bad}\n</tool_call>\n<tool_call>\n{"name": "g", "arguments": {}}\n</tool_call>',
    { ill: true, content: '\n<tool_call>\n{bad}\n</tool_call>', calls: ['f {}', 'g {}'] },
  ],
  [
    'repeated members',
    '<tool_call>\n{"name": "f", "name": "g", "arguments": {"s": 1, "s": 2}}\n</tool_call>',
    { calls: ['g {"s": 1, "s": 2} => {"s": 2}'] },
  ],
  [
    'the tags inside an argument',
    '<tool_call>\n{"name": "f", "arguments": {"s": "<tool_call></tool_call>"}}\n</tool_call>',
    { calls: ['f {"s": "<tool_call></tool_call>"}'] },
  ],
  [
    'the other grammar in the block',
    '<tool_call>\n<function=f>\n<parameter=s>\na\n</parameter>\n</function>\n</tool_call>',
    { ill: true, content: '<tool_call>\n<function=f>\n<parameter=s>\na\n</parameter>\n</function>\n</tool_call>' },
  ],
  ['no line breaks at all', '<tool_call>{"name":"f","arguments":{"s":"a"}}</tool_call>', { calls: ['f {"s":"a"} => {"s": "a"}'] }],
  ['an unknown function', '<tool_call>\n{"name": "nope", "arguments": {}}\n</tool_call>', { calls: ['nope {}'] }],
  ['a call without tags', '{"name": "f", "arguments": {}}', { content: '{"name": "f", "arguments": {}}' }],
];

malformedTable('hermes', ROWS);
