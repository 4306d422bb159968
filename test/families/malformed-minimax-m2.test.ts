import { malformedTable, type Row } from './malformed-table.js';

const ROWS: readonly Row[] = [
  [
    'no closing section tag',
    '<minimax:tool_call>\n<invoke name="look_up">\n<parameter name="s">a</parameter>\n</invoke>',
    { ill: true, calls: ['look_up {"s": "a"}'] },
  ],
  [
    'no closing call tag',
    '<minimax:tool_call>\n<invoke name="look_up">\n<parameter name="s">a</parameter>\n</minimax:tool_call>',
    { ill: true, calls: ['look_up {"s": "a"}'] },
  ],
  [
    'no closing call tag before another',
    '<minimax:tool_call>\n<invoke name="look_up">\n<parameter name="s">a</parameter>\n<invoke name="get_time">\n</invoke>\n</minimax:tool_call>',
    { ill: true, calls: ['look_up {"s": "a"}', 'get_time {}'] },
  ],
  [
    'no closing parameter tag',
    '<minimax:tool_call>\n<invoke name="look_up">\n<parameter name="s">a\n</invoke>\n</minimax:tool_call>',
    { ill: true, calls: ['look_up {"s": "a\\n"}'] },
  ],
  [
    'cut inside a value',
    '<minimax:tool_call>\n<invoke name="look_up">\n<parameter name="s">rm -rf /tm',
    { ill: true, content: '<minimax:tool_call>\n<invoke name="look_up">\n<parameter name="s">rm -rf /tm' },
  ],
  [
    'cut behind the first call',
    '<minimax:tool_call>\n<invoke name="look_up">\n</invoke>\n<invoke name="get',
    { ill: true, content: '<invoke name="get', calls: ['look_up {}'] },
  ],
  ['cut behind the section tag', '<minimax:tool_call>\n', { ill: true, content: '<minimax:tool_call>\n' }],
  ['no section', '<invoke name="look_up">\n<parameter name="s">a</parameter>\n</invoke>', { ill: true, calls: ['look_up {"s": "a"}'] }],
  [
    'no opening section tag',
    '<invoke name="look_up">\n<parameter name="s">a</parameter>\n</invoke>\n</minimax:tool_call>',
    { ill: true, calls: ['look_up {"s": "a"}'] },
  ],
  ['an empty section', '<minimax:tool_call>\n</minimax:tool_call>', { ill: true, content: '<minimax:tool_call>\n</minimax:tool_call>' }],
  [
    'no name',
    '<minimax:tool_call>\n<invoke name="">\n</invoke>\n</minimax:tool_call>',
    { ill: true, content: '<minimax:tool_call>\n<invoke name="">\n</invoke>\n</minimax:tool_call>' },
  ],
  [
    'a name without quotes',
    '<minimax:tool_call>\n<invoke name=look_up>\n</invoke>\n</minimax:tool_call>',
    { ill: true, content: '<minimax:tool_call>\n<invoke name=look_up>\n</invoke>\n</minimax:tool_call>' },
  ],
  [
    'a parameter without a name',
    '<minimax:tool_call>\n<invoke name="look_up">\n<parameter>a</parameter>\n</invoke>\n</minimax:tool_call>',
    { ill: true, content: '<minimax:tool_call>\n<invoke name="look_up">\n<parameter>a</parameter>\n</invoke>\n</minimax:tool_call>' },
  ],
  [
    'words between calls',
    '<minimax:tool_call>\n<invoke name="look_up">\n</invoke>\nand then\n<invoke name="get_time">\n</invoke>\n</minimax:tool_call>',
    { ill: true, content: 'and then\n', calls: ['look_up {}', 'get_time {}'] },
  ],
  [
    'words in a call',
    '<minimax:tool_call>\n<invoke name="look_up">\nwith s\n<parameter name="s">a</parameter>\n</invoke>\n</minimax:tool_call>',
    {
      ill: true,
      content: '<minimax:tool_call>\n<invoke name="look_up">\nwith s\n<parameter name="s">a</parameter>\n</invoke>\n</minimax:tool_call>',
    },
  ],
  [
    'a bad call before a good one',
    '<minimax:tool_call>\n<invoke name="look_up">\n<parameter>a</parameter>\n</invoke>\n<invoke name="get_time">\n</invoke>\n</minimax:tool_call>',
    { ill: true, content: '<invoke name="look_up">\n<parameter>a</parameter>\n</invoke>', calls: ['get_time {}'] },
  ],
  [
    'JSON in the section',
    '<minimax:tool_call>\n{"name": "look_up", "arguments": {}}\n</minimax:tool_call>',
    { ill: true, content: '<minimax:tool_call>\n{"name": "look_up", "arguments": {}}\n</minimax:tool_call>' },
  ],
  [
    'a string that looks like a number',
    '<minimax:tool_call>\n<invoke name="look_up">\n<parameter name="s">7</parameter>\n</invoke>\n</minimax:tool_call>',
    { calls: ['look_up {"s": "7"}'] },
  ],
  [
    'an integer that is none',
    '<minimax:tool_call>\n<invoke name="look_up">\n<parameter name="n">seven</parameter>\n</invoke>\n</minimax:tool_call>',
    { calls: ['look_up {"n": "seven"} !schema_mismatch'] },
  ],
  [
    'white space around a value',
    '<minimax:tool_call>\n<invoke name="look_up">\n<parameter name="s">\n a\n</parameter>\n</invoke>\n</minimax:tool_call>',
    { calls: ['look_up {"s": "\\n a\\n"}'] },
  ],
  [
    'the closing tag in a value',
    '<minimax:tool_call>\n<invoke name="look_up">\n<parameter name="s">a </parameter> b</parameter>\n</invoke>\n</minimax:tool_call>',
    { calls: ['look_up {"s": "a </parameter> b"}'] },
  ],
  [
    'another section behind the first',
    '<minimax:tool_call>\n<invoke name="look_up">\n</invoke>\n</minimax:tool_call>\n<minimax:tool_call>\n<invoke name="get_time">\n</invoke>\n</minimax:tool_call>',
    { calls: ['look_up {}', 'get_time {}'] },
  ],
  [
    'words behind the section',
    '<minimax:tool_call>\n<invoke name="look_up">\n</invoke>\n</minimax:tool_call>\nDone.',
    { content: '\nDone.', calls: ['look_up {}'] },
  ],
  ['stray closing tags', 'Hi </invoke> there </minimax:tool_call>', { ill: true, content: 'Hi </invoke> there </minimax:tool_call>' }],
];

malformedTable('minimax-m2', ROWS);
