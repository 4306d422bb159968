import { malformedTable, type Row } from './malformed-table.js';

const ROWS: readonly Row[] = [
  ['words and calls', '<|python_start|>Look.<|python_end|>{"name": "f", "parameters": {}}', { content: 'Look.', calls: ['f {}'] }],
  ['calls alone', '{"name": "f", "parameters": {}}{"name": "g", "parameters": {}}', { calls: ['f {}', 'g {}'] }],
  ['calls between the tags', '<|python_start|>{"name": "f", "parameters": {}}<|python_end|>', { calls: ['f {}'] }],
  ['Python calls between the tags', '<|python_start|>[f(s=1), g()]<|python_end|>', { calls: ['f {"s": 1}', 'g {}'] }],
  ['Python calls alone', '[f(s=1)]', { calls: ['f {"s": 1}'] }],
  ['words without tags', 'Hi', { content: 'Hi' }],
  ['tags that are not closed', '<|python_start|>Look.', { ill: true, content: 'Look.' }],
  ['tags that are not closed around a call', '<|python_start|>[f(s=1)]', { ill: true, calls: ['f {"s": 1}'] }],
  ['a call and words between the tags', '<|python_start|>[f(s=1)] ok<|python_end|>', { ill: true, content: ' ok', calls: ['f {"s": 1}'] }],
  ['empty tags', '<|python_start|><|python_end|>{"name": "f", "parameters": {}}', { calls: ['f {}'] }],
  [
    'a broken call behind words',
    '<|python_start|>Look.<|python_end|>{"name": "f", "parameters": {bad}}',
    { ill: true, content: 'Look.{"name": "f", "parameters": {bad}}' },
  ],
  [
    'a cut call behind words',
    '<|python_start|>Look.<|python_end|>{"name": "f", "parameters": {"s": "a',
    { ill: true, content: 'Look.{"name": "f", "parameters": {"s": "a' },
  ],
  ['a cut Python call', '[f(s="a', { ill: true, content: '[f(s="a' }],
  ['words behind a call', '{"name": "f", "parameters": {}} Done.', { content: ' Done.', calls: ['f {}'] }],
  ['words before a call', 'Hi {"name": "f", "parameters": {}}', { content: 'Hi {"name": "f", "parameters": {}}' }],
  ['an answer in JSON', '{"answer": 1}', { content: '{"answer": 1}' }],
  ['a list of numbers', '[1]', { content: '[1]' }],
  ['a closing tag alone', 'Hi<|python_end|>', { ill: true, content: 'Hi<|python_end|>' }],
  ['an opening tag behind words', 'Hi<|python_start|>[f()]<|python_end|>', { content: 'Hi', calls: ['f {}'] }],
  ['a nameless call', '{"parameters": {}}', { content: '{"parameters": {}}' }],
];

malformedTable('llama4', ROWS);
