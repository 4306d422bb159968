import { malformedTable, type Row } from './malformed-table.js';

const ROWS: readonly Row[] = [
  [
    'no closing parameter tag before another',
    '<tool_call>\n<function=look_up>\n<parameter=s>\na\n<parameter=n>\n7\n</parameter>\n</function>\n</tool_call>',
    { ill: true, calls: ['look_up {"s": "a", "n": 7}'] },
  ],
  [
    'no closing parameter tag before the end',
    '<tool_call>\n<function=look_up>\n<parameter=s>\na\n</function>\n</tool_call>',
    { ill: true, calls: ['look_up {"s": "a"}'] },
  ],
  [
    'no closing function tag',
    '<tool_call>\n<function=look_up>\n<parameter=s>\na\n</parameter>\n</tool_call>',
    { ill: true, calls: ['look_up {"s": "a"}'] },
  ],
  [
    'no closing tag of the block',
    '<tool_call>\n<function=look_up>\n<parameter=s>\na\n</parameter>\n</function>',
    { ill: true, calls: ['look_up {"s": "a"}'] },
  ],
  [
    'cut behind a parameter',
    '<tool_call>\n<function=look_up>\n<parameter=s>\na\n</parameter>',
    { ill: true, calls: ['look_up {"s": "a"}'] },
  ],
  [
    'cut inside a value',
    '<tool_call>\n<function=look_up>\n<parameter=s>\nrm -rf /tm',
    { ill: true, content: '<tool_call>\n<function=look_up>\n<parameter=s>\nrm -rf /tm' },
  ],
  [
    'cut inside a parameter tag',
    '<tool_call>\n<function=look_up>\n<parameter=s',
    { ill: true, content: '<tool_call>\n<function=look_up>\n<parameter=s' },
  ],
  ['cut inside the function tag', '<tool_call>\n<function=look', { ill: true, content: '<tool_call>\n<function=look' }],
  ['cut behind the opening tag', '<tool_call>', { ill: true, content: '<tool_call>' }],
  ['no outer tag', '<function=look_up>\n<parameter=s>\na\n</parameter>\n</function>', { ill: true, calls: ['look_up {"s": "a"}'] }],
  [
    'no outer opening tag',
    '<function=look_up>\n<parameter=s>\na\n</parameter>\n</function>\n</tool_call>',
    { ill: true, calls: ['look_up {"s": "a"}'] },
  ],
  [
    'no name',
    '<tool_call>\n<function=>\n<parameter=s>\na\n</parameter>\n</function>\n</tool_call>',
    { ill: true, content: '<tool_call>\n<function=>\n<parameter=s>\na\n</parameter>\n</function>\n</tool_call>' },
  ],
  [
    'a parameter without a name',
    '<tool_call>\n<function=look_up>\n<parameter=>\na\n</parameter>\n</function>\n</tool_call>',
    { ill: true, content: '<tool_call>\n<function=look_up>\n<parameter=>\na\n</parameter>\n</function>\n</tool_call>' },
  ],
  [
    'a parameter tag that is not closed',
    '<tool_call>\n<function=look_up>\n<parameter=s\na\n</parameter>\n</function>\n</tool_call>',
    { ill: true, content: '<tool_call>\n<function=look_up>\n<parameter=s\na\n</parameter>\n</function>\n</tool_call>' },
  ],
  [
    'words between parameters',
    '<tool_call>\n<function=look_up>\nnow s\n<parameter=s>\na\n</parameter>\n</function>\n</tool_call>',
    { ill: true, content: '<tool_call>\n<function=look_up>\nnow s\n<parameter=s>\na\n</parameter>\n</function>\n</tool_call>' },
  ],
  [
    'JSON in the block',
    '<tool_call>\n{"name": "look_up", "arguments": {}}\n</tool_call>',
    { ill: true, content: '<tool_call>\n{"name": "look_up", "arguments": {}}\n</tool_call>' },
  ],
  [
    'JSON in the function',
    '<tool_call>\n<function=look_up>\n{"s": "a"}\n</function>\n</tool_call>',
    { ill: true, content: '<tool_call>\n<function=look_up>\n{"s": "a"}\n</function>\n</tool_call>' },
  ],
  ['no parameters', '<tool_call>\n<function=look_up>\n</function>\n</tool_call>', { calls: ['look_up {}'] }],
  [
    'an integer that is none',
    '<tool_call>\n<function=look_up>\n<parameter=n>\n2026-01-15\n</parameter>\n</function>\n</tool_call>',
    { calls: ['look_up {"n": "2026-01-15"} !schema_mismatch'] },
  ],
  [
    'a boolean that is none',
    '<tool_call>\n<function=look_up>\n<parameter=b>\nyes\n</parameter>\n</function>\n</tool_call>',
    { calls: ['look_up {"b": "yes"} !schema_mismatch'] },
  ],
  [
    'an object that is none',
    '<tool_call>\n<function=look_up>\n<parameter=o>\n{"a": \n</parameter>\n</function>\n</tool_call>',
    { calls: ['look_up {"o": "{\\"a\\": "} !schema_mismatch'] },
  ],
  [
    "an object in Python's words",
    "<tool_call>\n<function=look_up>\n<parameter=o>\n{'a': True, 'b': None}\n</parameter>\n</function>\n</tool_call>",
    { calls: ['look_up {"o": {"a": true, "b": null}}'] },
  ],
  [
    'a number without a fraction and with one',
    '<tool_call>\n<function=look_up>\n<parameter=n>\n5.0\n</parameter>\n<parameter=x>\n5\n</parameter>\n</function>\n</tool_call>',
    { calls: ['look_up {"n": 5.0, "x": 5}'] },
  ],
  [
    'an undeclared parameter',
    '<tool_call>\n<function=look_up>\n<parameter=q>\n7\n</parameter>\n</function>\n</tool_call>',
    { calls: ['look_up {"q": "7"}'] },
  ],
  [
    'an unknown function',
    '<tool_call>\n<function=nope>\n<parameter=n>\n7\n</parameter>\n</function>\n</tool_call>',
    { calls: ['nope {"n": "7"}'] },
  ],
  [
    'a value on the line of its tag',
    '<tool_call>\n<function=look_up>\n<parameter=s>a</parameter>\n</function>\n</tool_call>',
    { calls: ['look_up {"s": "a"}'] },
  ],
  [
    'white space around a value',
    '<tool_call>\n<function=look_up>\n<parameter=s>\n\n  a  \n\n</parameter>\n</function>\n</tool_call>',
    { calls: ['look_up {"s": "\\n  a  \\n"}'] },
  ],
  [
    'an empty value',
    '<tool_call>\n<function=look_up>\n<parameter=s>\n\n</parameter>\n</function>\n</tool_call>',
    { calls: ['look_up {"s": ""}'] },
  ],
  [
    'the closing tag in a value',
    '<tool_call>\n<function=look_up>\n<parameter=s>\na </parameter> b\n</parameter>\n</function>\n</tool_call>',
    { calls: ['look_up {"s": "a </parameter> b"}'] },
  ],
  [
    'all tags in a value',
    '<tool_call>\n<function=look_up>\n<parameter=s>\nwrite <tool_call><function=x></function></tool_call> here\n</parameter>\n</function>\n</tool_call>',
    { calls: ['look_up {"s": "write <tool_call><function=x></function></tool_call> here"}'] },
  ],
  [
    'a parameter twice',
    '<tool_call>\n<function=look_up>\n<parameter=s>\na\n</parameter>\n<parameter=s>\nb\n</parameter>\n</function>\n</tool_call>',
    { calls: ['look_up {"s": "b"}'] },
  ],
  [
    'two functions in one block',
    '<tool_call>\n<function=look_up>\n</function>\n<function=get_time>\n</function>\n</tool_call>',
    { ill: true, calls: ['look_up {}', 'get_time {}'] },
  ],
  [
    'words behind the call',
    '<tool_call>\n<function=look_up>\n</function>\n</tool_call>\nDone.',
    { content: '\nDone.', calls: ['look_up {}'] },
  ],
  [
    'words between calls',
    '<tool_call>\n<function=look_up>\n</function>\n</tool_call>\nand\n<tool_call>\n<function=get_time>\n</function>\n</tool_call>',
    { content: '\nand\n', calls: ['look_up {}', 'get_time {}'] },
  ],
  ['a stray closing tag', 'Hi </function> there </tool_call>', { ill: true, content: 'Hi </function> there </tool_call>' }],
];

malformedTable('qwen3-coder', ROWS);
