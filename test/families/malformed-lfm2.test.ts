import { malformedTable, type Row } from './malformed-table.js';

const ROWS: readonly Row[] = [
  ['no closing marker', '<|tool_call_start|>[f(s=1)]', { ill: true, calls: ['f {"s": 1}'] }],
  [
    'no closing bracket',
    '<|tool_call_start|>[f(s=1)<|tool_call_end|>',
    { ill: true, content: '<|tool_call_start|>[f(s=1)<|tool_call_end|>' },
  ],
  ['no brackets', '<|tool_call_start|>f(s=1)<|tool_call_end|>', { ill: true, content: '<|tool_call_start|>f(s=1)<|tool_call_end|>' }],
  ['cut inside an argument', "<|tool_call_start|>[f(s='a", { ill: true, content: "<|tool_call_start|>[f(s='a" }],
  ['cut behind the marker', '<|tool_call_start|>', { ill: true, content: '<|tool_call_start|>' }],
  ['an empty list', '<|tool_call_start|>[]<|tool_call_end|>', { ill: true, content: '<|tool_call_start|>[]<|tool_call_end|>' }],
  [
    'a positional argument',
    '<|tool_call_start|>[f(1)]<|tool_call_end|>',
    { ill: true, content: '<|tool_call_start|>[f(1)]<|tool_call_end|>' },
  ],
  ['no parentheses', '<|tool_call_start|>[f]<|tool_call_end|>', { ill: true, content: '<|tool_call_start|>[f]<|tool_call_end|>' }],
  ['a quote inside a string', "<|tool_call_start|>[f(s='it's', n=1)]<|tool_call_end|>", { calls: ['f {"s": "it\'s", "n": 1}'] }],
  ['a quote inside the last string', "<|tool_call_start|>[f(s='it's')]<|tool_call_end|>", { calls: ['f {"s": "it\'s"}'] }],
  [
    'a string that is not closed',
    "<|tool_call_start|>[f(s='a)]<|tool_call_end|>",
    { ill: true, content: "<|tool_call_start|>[f(s='a)]<|tool_call_end|>" },
  ],
  [
    'an expression',
    '<|tool_call_start|>[f(n=1+1)]<|tool_call_end|>',
    { ill: true, content: '<|tool_call_start|>[f(n=1+1)]<|tool_call_end|>' },
  ],
  [
    'a name as a value',
    '<|tool_call_start|>[f(s=foo)]<|tool_call_end|>',
    { ill: true, content: '<|tool_call_start|>[f(s=foo)]<|tool_call_end|>' },
  ],
  ['JSON’s words', '<|tool_call_start|>[f(b=true, z=null)]<|tool_call_end|>', { calls: ['f {"b": true, "z": null}'] }],
  [
    'JSON in the block',
    '<|tool_call_start|>[{"name": "f", "arguments": {}}]<|tool_call_end|>',
    { ill: true, content: '<|tool_call_start|>[{"name": "f", "arguments": {}}]<|tool_call_end|>' },
  ],
  ['a dotted name', '<|tool_call_start|>[fs.read(s="a")]<|tool_call_end|>', { calls: ['fs.read {"s": "a"}'] }],
  [
    'nested containers',
    '<|tool_call_start|>[f(o={"a": [1, (2, 3)], \'b\': {1: None}})]<|tool_call_end|>',
    { calls: ['f {"o": {"a": [1, [2, 3]], "b": {"1": null}}}'] },
  ],
  ['an argument twice', '<|tool_call_start|>[f(s=1, s=2)]<|tool_call_end|>', { calls: ['f {"s": 2}'] }],
  ['commas too many', '<|tool_call_start|>[f(s=1,), g(),]<|tool_call_end|>', { calls: ['f {"s": 1}', 'g {}'] }],
  [
    'words between calls',
    '<|tool_call_start|>[f() and g()]<|tool_call_end|>',
    { ill: true, content: '<|tool_call_start|>[f() and g()]<|tool_call_end|>' },
  ],
  [
    'words in the block',
    '<|tool_call_start|>I call f<|tool_call_end|>',
    { ill: true, content: '<|tool_call_start|>I call f<|tool_call_end|>' },
  ],
  ['words behind the block', '<|tool_call_start|>[f()]<|tool_call_end|> Done.', { content: ' Done.', calls: ['f {}'] }],
  ['a stray marker', 'Hi<|tool_call_end|>', { ill: true, content: 'Hi<|tool_call_end|>' }],
  ['two blocks', '<|tool_call_start|>[f()]<|tool_call_end|>\n<|tool_call_start|>[g()]<|tool_call_end|>', { calls: ['f {}', 'g {}'] }],
];

malformedTable('lfm2', ROWS);
