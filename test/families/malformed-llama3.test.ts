import { malformedTable, type Row } from './malformed-table.js';

const LLAMA3_JSON: readonly Row[] = [
  ['another word for arguments', '{"name": "f", "arguments": {}}', { calls: ['f {}'] }],
  ['a type first', '{"type": "function", "name": "f", "parameters": {}}', { calls: ['f {}'] }],
  ['two objects', '{"name": "f", "parameters": {}}; {"name": "g", "parameters": {}}', { calls: ['f {}', 'g {}'] }],
  ['two objects side by side', '{"name": "f", "parameters": {}}{"name": "g", "parameters": {}}', { calls: ['f {}', 'g {}'] }],
  ['words behind the object', '{"name": "f", "parameters": {}} Done.', { content: ' Done.', calls: ['f {}'] }],
  ['words before the object', 'Look: {"name": "f", "parameters": {}}', { content: 'Look: {"name": "f", "parameters": {}}' }],
  ['an answer in JSON', '{"answer": 42}', { content: '{"answer": 42}' }],
  ['an answer with a name', '{"name": "Bob", "age": 3}', { content: '{"name": "Bob", "age": 3}' }],
  ['cut inside the parameters', '{"name": "f", "parameters": {"s": "a', { ill: true, content: '{"name": "f", "parameters": {"s": "a' }],
  ['cut inside the name', '{"name": "f', { content: '{"name": "f' }],
  ['parameters that are no JSON', '{"name": "f", "parameters": {oops}}', { ill: true, content: '{"name": "f", "parameters": {oops}}' }],
  ['an empty name', '{"name": "", "parameters": {}}', { ill: true, content: '{"name": "", "parameters": {}}' }],
  ['no name', '{"parameters": {}}', { content: '{"parameters": {}}' }],
  ['a list of objects', '[{"name": "f", "parameters": {}}]', { calls: ['f {}'] }],
  ['parameters as a JSON text in a string', '{"name": "f", "parameters": "{\\"s\\": 1}"}', { calls: ['f "{\\"s\\": 1}" => {"s": 1}'] }],
  ['the tag before the object', '<|python_tag|>{"name": "f", "parameters": {}}', { calls: ['f {}'] }],
  ['a built-in tool', '<|python_tag|>brave_search.call(query="x")', { calls: ['brave_search {"query": "x"}'] }],
  ['code behind the tag', '<|python_tag|>print(1)\nprint(2)', { ill: true, content: '<|python_tag|>print(1)\nprint(2)' }],
  [
    'the tag behind words',
    'Hi <|python_tag|>{"name": "f", "parameters": {}}',
    { ill: true, content: 'Hi <|python_tag|>{"name": "f", "parameters": {}}' },
  ],
  ['the tag alone', '<|python_tag|>', { ill: true, content: '<|python_tag|>' }],
  ['a semicolon too many', '{"name": "f", "parameters": {}};', { calls: ['f {}'] }],
  [
    'an object and a broken one',
    '{"name": "f", "parameters": {}}; {"name": "g", "parameters": {bad}}',
    { ill: true, content: '; {"name": "g", "parameters": {bad}}', calls: ['f {}'] },
  ],
];

const LLAMA3_PYTHONIC: readonly Row[] = [
  ['a list of numbers', '[1, 2]', { content: '[1, 2]' }],
  ['no closing bracket', '[f(s=1)', { ill: true, content: '[f(s=1)' }],
  ['cut inside an argument', '[f(s="a', { ill: true, content: '[f(s="a' }],
  ['a positional argument', '[f(1)]', { ill: true, content: '[f(1)]' }],
  ['words behind the list', '[f()] Done.', { content: ' Done.', calls: ['f {}'] }],
  ['words before the list', 'Look: [f()]', { content: 'Look: [f()]' }],
  ['the tag before the list', '<|python_tag|>[f()]', { calls: ['f {}'] }],
];

malformedTable('llama3-json', LLAMA3_JSON);
malformedTable('llama3-pythonic', LLAMA3_PYTHONIC);
