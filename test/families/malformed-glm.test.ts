import { malformedTable, type Row } from './malformed-table.js';

const ROWS: readonly Row[] = [
  ['no arguments', '<tool_call>get_time\n</tool_call>', { calls: ['get_time {}'] }],
  ['no arguments and no line break', '<tool_call>get_time</tool_call>', { calls: ['get_time {}'] }],
  [
    'a value without its opening tag',
    '<tool_call>look_up\n<arg_key>s</arg_key>\na</arg_value>\n</tool_call>',
    { ill: true, content: '<tool_call>look_up\n<arg_key>s</arg_key>\na</arg_value>\n</tool_call>' },
  ],
  [
    'a closing value tag in the name',
    '<tool_call>look_up</arg_value>\n<arg_key>s</arg_key>\n<arg_value>a</arg_value>\n</tool_call>',
    { ill: true, content: '<tool_call>look_up</arg_value>\n<arg_key>s</arg_key>\n<arg_value>a</arg_value>\n</tool_call>' },
  ],
  [
    'a key without a value',
    '<tool_call>look_up\n<arg_key>s</arg_key>\n</tool_call>',
    { ill: true, content: '<tool_call>look_up\n<arg_key>s</arg_key>\n</tool_call>' },
  ],
  [
    'a value without a key',
    '<tool_call>look_up\n<arg_value>a</arg_value>\n</tool_call>',
    { ill: true, content: '<tool_call>look_up\n<arg_value>a</arg_value>\n</tool_call>' },
  ],
  [
    'a key that is not closed',
    '<tool_call>look_up\n<arg_key>s\n<arg_value>a</arg_value>\n</tool_call>',
    { ill: true, content: '<tool_call>look_up\n<arg_key>s\n<arg_value>a</arg_value>\n</tool_call>' },
  ],
  [
    'an empty key',
    '<tool_call>look_up\n<arg_key></arg_key>\n<arg_value>a</arg_value>\n</tool_call>',
    { ill: true, content: '<tool_call>look_up\n<arg_key></arg_key>\n<arg_value>a</arg_value>\n</tool_call>' },
  ],
  [
    'no closing value tag',
    '<tool_call>look_up\n<arg_key>s</arg_key>\n<arg_value>a\n</tool_call>',
    { ill: true, calls: ['look_up {"s": "a\\n"}'] },
  ],
  [
    'no closing value tag before a key',
    '<tool_call>look_up\n<arg_key>s</arg_key>\n<arg_value>a\n<arg_key>n</arg_key>\n<arg_value>7</arg_value>\n</tool_call>',
    { ill: true, calls: ['look_up {"s": "a\\n", "n": 7}'] },
  ],
  ['no closing tag', '<tool_call>look_up\n<arg_key>s</arg_key>\n<arg_value>a</arg_value>', { ill: true, calls: ['look_up {"s": "a"}'] }],
  [
    'no closing tag before another call',
    '<tool_call>look_up\n<arg_key>s</arg_key>\n<arg_value>a</arg_value>\n<tool_call>get_time\n</tool_call>',
    { ill: true, calls: ['look_up {"s": "a"}', 'get_time {}'] },
  ],
  [
    'cut inside a value',
    '<tool_call>look_up\n<arg_key>s</arg_key>\n<arg_value>rm -rf /tm',
    { ill: true, content: '<tool_call>look_up\n<arg_key>s</arg_key>\n<arg_value>rm -rf /tm' },
  ],
  ['cut inside a key', '<tool_call>look_up\n<arg_key>s', { ill: true, content: '<tool_call>look_up\n<arg_key>s' }],
  ['cut inside the name', '<tool_call>look', { ill: true, content: '<tool_call>look' }],
  ['cut behind the opening tag', '<tool_call>', { ill: true, content: '<tool_call>' }],
  [
    'no name',
    '<tool_call>\n<arg_key>s</arg_key>\n<arg_value>a</arg_value>\n</tool_call>',
    { ill: true, content: '<tool_call>\n<arg_key>s</arg_key>\n<arg_value>a</arg_value>\n</tool_call>' },
  ],
  [
    'words between arguments',
    '<tool_call>look_up\nwith s\n<arg_key>s</arg_key>\n<arg_value>a</arg_value>\n</tool_call>',
    { ill: true, content: '<tool_call>look_up\nwith s\n<arg_key>s</arg_key>\n<arg_value>a</arg_value>\n</tool_call>' },
  ],
  [
    'JSON instead of keys',
    '<tool_call>{"name": "look_up", "arguments": {"s": "a"}}</tool_call>',
    { ill: true, content: '<tool_call>{"name": "look_up", "arguments": {"s": "a"}}</tool_call>' },
  ],
  [
    'an integer that is none',
    '<tool_call>look_up\n<arg_key>n</arg_key>\n<arg_value>seven</arg_value>\n</tool_call>',
    { calls: ['look_up {"n": "seven"} !schema_mismatch'] },
  ],
  [
    'a string that looks like a number',
    '<tool_call>look_up\n<arg_key>s</arg_key>\n<arg_value>7</arg_value>\n</tool_call>',
    { calls: ['look_up {"s": "7"}'] },
  ],
  [
    'a quoted string',
    '<tool_call>look_up\n<arg_key>s</arg_key>\n<arg_value>"a"</arg_value>\n</tool_call>',
    { calls: ['look_up {"s": "\\"a\\""}'] },
  ],
  [
    'a closing value tag in a value',
    '<tool_call>look_up\n<arg_key>s</arg_key>\n<arg_value>a </arg_value> b</arg_value>\n</tool_call>',
    { calls: ['look_up {"s": "a </arg_value> b"}'] },
  ],
  [
    'white space around a value',
    '<tool_call>look_up\n<arg_key>s</arg_key>\n<arg_value> a \n</arg_value>\n</tool_call>',
    { calls: ['look_up {"s": " a \\n"}'] },
  ],
  ['words behind the call', '<tool_call>get_time\n</tool_call>\nDone.', { content: '\nDone.', calls: ['get_time {}'] }],
  ['stray closing tags', 'Hi </tool_call> there', { ill: true, content: 'Hi </tool_call> there' }],
  [
    'calls of a prompt without line breaks',
    '<tool_call>look_up<arg_key>s</arg_key><arg_value>a</arg_value></tool_call><tool_call>get_time</tool_call>',
    { calls: ['look_up {"s": "a"}', 'get_time {}'] },
  ],
];

malformedTable('glm-4.5', ROWS);
