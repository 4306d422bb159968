import { malformedTable, type Row } from './malformed-table.js';

const ROWS: readonly Row[] = [
  [
    'an equals sign',
    '<|tool_call>call:f{s=<|"|>a<|"|>}<tool_call|>',
    { ill: true, content: '<|tool_call>call:f{s=<|"|>a<|"|>}<tool_call|>' },
  ],
  ['a key with a space', '<|tool_call>call:f{my key:<|"|>a<|"|>}<tool_call|>', { calls: ['f {"my key": "a"}'] }],
  ['a quoted key', '<|tool_call>call:f{<|"|>s<|"|>:<|"|>a<|"|>}<tool_call|>', { calls: ['f {"s": "a"}'] }],
  ['plain quotes in a list', '<|tool_call>call:f{l:["a","b"]}<tool_call|>', { calls: ['f {"l": ["a", "b"]}'] }],
  ['plain quotes in a string', '<|tool_call>call:f{s:<|"|>say "hi", ok}<|"|>}<tool_call|>', { calls: ['f {"s": "say \\"hi\\", ok}"}'] }],
  ['JSON', '<|tool_call>call:f{"s":"a","n":1}<tool_call|>', { calls: ['f {"s": "a", "n": 1}'] }],
  ['a value without quotes', '<|tool_call>call:f{s:Paris}<tool_call|>', { calls: ['f {"s": "Paris"} !unquoted_value'] }],
  [
    'a value without quotes that has spaces',
    '<|tool_call>call:f{s:New York,n:1}<tool_call|>',
    { calls: ['f {"s": "New York", "n": 1} !unquoted_value'] },
  ],
  [
    'a string that is not closed',
    '<|tool_call>call:f{s:<|"|>a}<tool_call|>',
    { ill: true, content: '<|tool_call>call:f{s:<|"|>a}<tool_call|>' },
  ],
  [
    'no closing brace',
    '<|tool_call>call:f{s:<|"|>a<|"|><tool_call|>',
    { ill: true, content: '<|tool_call>call:f{s:<|"|>a<|"|><tool_call|>' },
  ],
  ['no closing marker', '<|tool_call>call:f{s:<|"|>a<|"|>}', { ill: true, calls: ['f {"s": "a"}'] }],
  ['no closing marker before another', '<|tool_call>call:f{}<|tool_call>call:g{}<tool_call|>', { ill: true, calls: ['f {}', 'g {}'] }],
  ['cut inside a string', '<|tool_call>call:f{s:<|"|>a', { ill: true, content: '<|tool_call>call:f{s:<|"|>a' }],
  ['cut behind the marker', '<|tool_call>', { ill: true, content: '<|tool_call>' }],
  ['no call:', '<|tool_call>f{}<tool_call|>', { ill: true, content: '<|tool_call>f{}<tool_call|>' }],
  ['no name', '<|tool_call>call:{}<tool_call|>', { ill: true, content: '<|tool_call>call:{}<tool_call|>' }],
  ['no braces', '<|tool_call>call:f<tool_call|>', { ill: true, content: '<|tool_call>call:f<tool_call|>' }],
  ['words behind the braces', '<|tool_call>call:f{} now<tool_call|>', { ill: true, content: '<|tool_call>call:f{} now<tool_call|>' }],
  ['words behind the call', '<|tool_call>call:f{}<tool_call|>Done.', { content: 'Done.', calls: ['f {}'] }],
  ['Python’s words', '<|tool_call>call:f{b:True,z:None}<tool_call|>', { calls: ['f {"b": true, "z": null}'] }],
  ['white space everywhere', '<|tool_call> call:f { s : <|"|>a<|"|> , n : 1 } <tool_call|>', { calls: ['f {"s": "a", "n": 1}'] }],
  ['a key twice', '<|tool_call>call:f{n:1,n:2}<tool_call|>', { calls: ['f {"n": 2}'] }],
  ['a comma too many', '<|tool_call>call:f{n:1,}<tool_call|>', { calls: ['f {"n": 1}'] }],
  [
    'nested containers',
    '<|tool_call>call:f{o:{a:[1,{b:<|"|>c<|"|>}],d:null}}<tool_call|>',
    { calls: ['f {"o": {"a": [1, {"b": "c"}], "d": null}}'] },
  ],
  ['a stray marker', 'Hi<tool_call|>', { ill: true, content: 'Hi<tool_call|>' }],
  [
    'reasoning that is not closed',
    '<|channel>thought\nhm<|tool_call>call:f{}<tool_call|>',
    { ill: true, reasoning: 'hm<|tool_call>call:f{}<tool_call|>' },
  ],
];

malformedTable('gemma4', ROWS);
