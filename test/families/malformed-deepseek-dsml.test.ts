import { malformedTable, type Row } from './malformed-table.js';

const ROWS: readonly Row[] = [
  [
    'the section of V4',
    '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="look_up">\n<｜DSML｜parameter name="n" string="false">7</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>',
    { calls: ['look_up {"n": 7}'] },
  ],
  [
    'no closing section tag',
    '<｜DSML｜function_calls>\n<｜DSML｜invoke name="look_up">\n<｜DSML｜parameter name="s" string="true">a</｜DSML｜parameter>\n</｜DSML｜invoke>',
    { ill: true, calls: ['look_up {"s": "a"}'] },
  ],
  [
    'no closing call tag',
    '<｜DSML｜function_calls>\n<｜DSML｜invoke name="look_up">\n<｜DSML｜parameter name="s" string="true">a</｜DSML｜parameter>\n</｜DSML｜function_calls>',
    { ill: true, calls: ['look_up {"s": "a"}'] },
  ],
  [
    'no closing parameter tag',
    '<｜DSML｜function_calls>\n<｜DSML｜invoke name="look_up">\n<｜DSML｜parameter name="s" string="true">a\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
    { ill: true, calls: ['look_up {"s": "a\\n"}'] },
  ],
  [
    'closing tags without the mark',
    '<｜DSML｜function_calls>\n<｜DSML｜invoke name="look_up">\n<｜DSML｜parameter name="s" string="true">a</parameter>\n</invoke>\n</function_calls>',
    {
      ill: true,
      content:
        '<｜DSML｜function_calls>\n<｜DSML｜invoke name="look_up">\n<｜DSML｜parameter name="s" string="true">a</parameter>\n</invoke>\n</function_calls>',
    },
  ],
  [
    'a JSON value that is none',
    '<｜DSML｜function_calls>\n<｜DSML｜invoke name="look_up">\n<｜DSML｜parameter name="n" string="false">seven</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
    { calls: ['look_up {"n": "seven"} !schema_mismatch'] },
  ],
  [
    'a string that looks like a number',
    '<｜DSML｜function_calls>\n<｜DSML｜invoke name="look_up">\n<｜DSML｜parameter name="n" string="true">7</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
    { calls: ['look_up {"n": "7"}'] },
  ],
  [
    'no word about the kind',
    '<｜DSML｜function_calls>\n<｜DSML｜invoke name="look_up">\n<｜DSML｜parameter name="n">7</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
    { calls: ['look_up {"n": 7}'] },
  ],
  [
    'a wrong word about the kind',
    '<｜DSML｜function_calls>\n<｜DSML｜invoke name="look_up">\n<｜DSML｜parameter name="n" string="maybe">7</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
    {
      ill: true,
      content:
        '<｜DSML｜function_calls>\n<｜DSML｜invoke name="look_up">\n<｜DSML｜parameter name="n" string="maybe">7</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
    },
  ],
  [
    'cut inside a value',
    '<｜DSML｜function_calls>\n<｜DSML｜invoke name="look_up">\n<｜DSML｜parameter name="s" string="true">rm -rf /tm',
    {
      ill: true,
      content: '<｜DSML｜function_calls>\n<｜DSML｜invoke name="look_up">\n<｜DSML｜parameter name="s" string="true">rm -rf /tm',
    },
  ],
  ['cut behind the section tag', 'Hi\n\n<｜DSML｜function_calls>\n', { ill: true, content: 'Hi\n\n<｜DSML｜function_calls>\n' }],
  ['no section', '<｜DSML｜invoke name="look_up">\n</｜DSML｜invoke>', { ill: true, calls: ['look_up {}'] }],
  ['a closing section tag alone', 'Hi</｜DSML｜function_calls>', { ill: true, content: 'Hi</｜DSML｜function_calls>' }],
  ['a closing call tag alone', 'Hi</｜DSML｜invoke>', { ill: true, content: 'Hi</｜DSML｜invoke>' }],
  [
    'no name',
    '<｜DSML｜function_calls>\n<｜DSML｜invoke name="">\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
    { ill: true, content: '<｜DSML｜function_calls>\n<｜DSML｜invoke name="">\n</｜DSML｜invoke>\n</｜DSML｜function_calls>' },
  ],
  [
    'an empty section',
    '<｜DSML｜function_calls>\n</｜DSML｜function_calls>',
    { ill: true, content: '<｜DSML｜function_calls>\n</｜DSML｜function_calls>' },
  ],
  [
    'the closing tag of the other version',
    '<｜DSML｜function_calls>\n<｜DSML｜invoke name="look_up">\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>',
    { calls: ['look_up {}'] },
  ],
  [
    'plain tags',
    '<function_calls>\n<invoke name="look_up">\n</invoke>\n</function_calls>',
    { content: '<function_calls>\n<invoke name="look_up">\n</invoke>\n</function_calls>' },
  ],
  [
    'words between calls',
    '<｜DSML｜function_calls>\n<｜DSML｜invoke name="look_up">\n</｜DSML｜invoke>\nand\n<｜DSML｜invoke name="get_time">\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
    { ill: true, content: 'and\n', calls: ['look_up {}', 'get_time {}'] },
  ],
  [
    'words in a call',
    '<｜DSML｜function_calls>\n<｜DSML｜invoke name="look_up">\nhm\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
    { ill: true, content: '<｜DSML｜function_calls>\n<｜DSML｜invoke name="look_up">\nhm\n</｜DSML｜invoke>\n</｜DSML｜function_calls>' },
  ],
  [
    'JSON in the section',
    '<｜DSML｜function_calls>\n[{"name": "look_up"}]\n</｜DSML｜function_calls>',
    { ill: true, content: '<｜DSML｜function_calls>\n[{"name": "look_up"}]\n</｜DSML｜function_calls>' },
  ],
];

malformedTable('deepseek-dsml', ROWS);
