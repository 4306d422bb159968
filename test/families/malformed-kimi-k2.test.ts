import { malformedTable, type Row } from './malformed-table.js';

const ROWS: readonly Row[] = [
  [
    'an id without functions.',
    '<|tool_calls_section_begin|><|tool_call_begin|>look_up:3<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>',
    { calls: ['look_up#look_up:3 {}'] },
  ],
  [
    'an id without an index',
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.look_up<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>',
    { calls: ['look_up#functions.look_up {}'] },
  ],
  [
    'an id that is a name only',
    '<|tool_calls_section_begin|><|tool_call_begin|>look_up<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>',
    { calls: ['look_up#look_up {}'] },
  ],
  [
    'an id in OpenAI’s style',
    '<|tool_calls_section_begin|><|tool_call_begin|>call_00003<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>',
    { calls: ['call_00003#call_00003 {}'] },
  ],
  [
    'white space around the id',
    '<|tool_calls_section_begin|><|tool_call_begin|> functions.look_up:0 <|tool_call_argument_begin|> {} <|tool_call_end|><|tool_calls_section_end|>',
    { calls: ['look_up#functions.look_up:0 {}'] },
  ],
  [
    'a dotted name',
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.fs.read:0<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>',
    { calls: ['fs.read#functions.fs.read:0 {}'] },
  ],
  [
    'an empty id',
    '<|tool_calls_section_begin|><|tool_call_begin|><|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>',
    {
      ill: true,
      content: '<|tool_calls_section_begin|><|tool_call_begin|><|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>',
    },
  ],
  [
    'no argument marker',
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0{}<|tool_call_end|><|tool_calls_section_end|>',
    { ill: true, content: '<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0{}<|tool_call_end|><|tool_calls_section_end|>' },
  ],
  [
    'arguments that are no JSON',
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{oops<|tool_call_end|><|tool_calls_section_end|>',
    {
      ill: true,
      content:
        '<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{oops<|tool_call_end|><|tool_calls_section_end|>',
    },
  ],
  [
    'arguments that do not begin with a brace',
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>s=1<|tool_call_end|><|tool_calls_section_end|>',
    {
      ill: true,
      content:
        '<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>s=1<|tool_call_end|><|tool_calls_section_end|>',
    },
  ],
  [
    'no arguments',
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|><|tool_call_end|><|tool_calls_section_end|>',
    {
      ill: true,
      content:
        '<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|><|tool_call_end|><|tool_calls_section_end|>',
    },
  ],
  [
    'cut inside the arguments',
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{"s": "a',
    { ill: true, content: '<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{"s": "a' },
  ],
  [
    'cut inside the id',
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.f',
    { ill: true, content: '<|tool_calls_section_begin|><|tool_call_begin|>functions.f' },
  ],
  [
    'no closing section marker',
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{}<|tool_call_end|>',
    { ill: true, calls: ['f#functions.f:0 {}'] },
  ],
  [
    'no closing call marker',
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{}<|tool_calls_section_end|>',
    { ill: true, calls: ['f#functions.f:0 {}'] },
  ],
  [
    'singular section markers',
    '<|tool_call_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_call_section_end|>',
    { calls: ['f#functions.f:0 {}'] },
  ],
  [
    'no section',
    '<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{}<|tool_call_end|>',
    { ill: true, calls: ['f#functions.f:0 {}'] },
  ],
  [
    'an empty section',
    '<|tool_calls_section_begin|><|tool_calls_section_end|>',
    { ill: true, content: '<|tool_calls_section_begin|><|tool_calls_section_end|>' },
  ],
  [
    'words between calls',
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{}<|tool_call_end|>and<|tool_call_begin|>functions.g:1<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>',
    { ill: true, content: 'and', calls: ['f#functions.f:0 {}', 'g#functions.g:1 {}'] },
  ],
  [
    'a bad call between good ones',
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_call_begin|>x<|tool_call_argument_begin|>{<|tool_call_end|><|tool_call_begin|>functions.g:1<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>',
    {
      ill: true,
      content: '<|tool_call_begin|>x<|tool_call_argument_begin|>{<|tool_call_end|>',
      calls: ['f#functions.f:0 {}', 'g#functions.g:1 {}'],
    },
  ],
  [
    'stray markers',
    'Hi<|tool_call_end|> there<|tool_calls_section_end|>',
    { ill: true, content: 'Hi<|tool_call_end|> there<|tool_calls_section_end|>' },
  ],
];

malformedTable('kimi-k2', ROWS);
