import { malformedTable, type Row } from './malformed-table.js';

const ROWS: readonly Row[] = [
  [
    'no parameters',
    ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="get_time">]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>',
    { calls: ['get_time {}'] },
  ],
  [
    'no first mark',
    '<tool_call>\n]<]minimax[>[<invoke name="get_time">]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>',
    { ill: true, content: '<tool_call>', calls: ['get_time {}'] },
  ],
  [
    'no closing section tag',
    ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="get_time">]<]minimax[>[</invoke>\n',
    { ill: true, calls: ['get_time {}'] },
  ],
  [
    'no closing call tag',
    ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="look_up">]<]minimax[>[<s>a]<]minimax[>[</s>\n]<]minimax[>[</tool_call>',
    { ill: true, calls: ['look_up {"s": "a"}'] },
  ],
  [
    'no closing parameter tag',
    ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="look_up">]<]minimax[>[<s>a]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>',
    {
      ill: true,
      content:
        ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="look_up">]<]minimax[>[<s>a]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>',
    },
  ],
  [
    'a closing tag without the mark',
    ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="look_up">]<]minimax[>[<s>a</s>]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>',
    {
      ill: true,
      content:
        ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="look_up">]<]minimax[>[<s>a</s>]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>',
    },
  ],
  [
    'cut inside a value',
    ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="look_up">]<]minimax[>[<s>rm -rf /tm',
    { ill: true, content: ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="look_up">]<]minimax[>[<s>rm -rf /tm' },
  ],
  ['cut behind the section tag', ']<]minimax[>[<tool_call>\n', { ill: true, content: ']<]minimax[>[<tool_call>\n' }],
  [
    'an empty section',
    ']<]minimax[>[<tool_call>\n]<]minimax[>[</tool_call>',
    { ill: true, content: ']<]minimax[>[<tool_call>\n]<]minimax[>[</tool_call>' },
  ],
  ['no section', ']<]minimax[>[<invoke name="get_time">]<]minimax[>[</invoke>', { ill: true, calls: ['get_time {}'] }],
  [
    'no name',
    ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="">]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>',
    { ill: true, content: ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="">]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>' },
  ],
  [
    'words in a call',
    ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="look_up">hm ]<]minimax[>[<s>a]<]minimax[>[</s>]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>',
    {
      ill: true,
      content:
        ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="look_up">hm ]<]minimax[>[<s>a]<]minimax[>[</s>]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>',
    },
  ],
  [
    'words between calls',
    ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="look_up">]<]minimax[>[</invoke>\nand\n]<]minimax[>[<invoke name="get_time">]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>',
    { ill: true, content: 'and\n', calls: ['look_up {}', 'get_time {}'] },
  ],
  [
    'tags of a page in a value',
    ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="look_up">]<]minimax[>[<s><b>x</b></s>]<]minimax[>[</s>]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>',
    { calls: ['look_up {"s": "<b>x</b></s>"}'] },
  ],
  [
    'an integer that is none',
    ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="look_up">]<]minimax[>[<n>seven]<]minimax[>[</n>]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>',
    { calls: ['look_up {"n": "seven"} !schema_mismatch'] },
  ],
  [
    'a string that looks like a number',
    ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="look_up">]<]minimax[>[<s>7]<]minimax[>[</s>]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>',
    { calls: ['look_up {"s": "7"}'] },
  ],
  [
    'a list',
    ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="look_up">]<]minimax[>[<l>]<]minimax[>[<item>a]<]minimax[>[</item>]<]minimax[>[<item>b]<]minimax[>[</item>]<]minimax[>[</l>]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>',
    { calls: ['look_up {"l": ["a", "b"]}'] },
  ],
  [
    'a list with an item that is not closed',
    ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="look_up">]<]minimax[>[<l>]<]minimax[>[<item>a]<]minimax[>[</l>]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>',
    { ill: true, calls: ['look_up {"l": "]<]minimax[>[<item>a"} !schema_mismatch'] },
  ],
  [
    'a parameter twice',
    ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="look_up">]<]minimax[>[<s>a]<]minimax[>[</s>]<]minimax[>[<s>b]<]minimax[>[</s>]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>',
    { calls: ['look_up {"s": "b"}'] },
  ],
  [
    'stray tags',
    'Hi ]<]minimax[>[</invoke> there ]<]minimax[>[</tool_call>',
    { ill: true, content: 'Hi ]<]minimax[>[</invoke> there ]<]minimax[>[</tool_call>' },
  ],
  ['the mark alone', 'Hi ]<]minimax[>[ there', { content: 'Hi ]<]minimax[>[ there' }],
];

malformedTable('minimax-m3', ROWS);
