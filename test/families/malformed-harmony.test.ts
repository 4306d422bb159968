import { malformedTable, type Row } from './malformed-table.js';

const ROWS: readonly Row[] = [
  ['no header at all', 'Hello', { ill: true, content: 'Hello' }],
  ['a channel without a message', '<|channel|>final', { ill: true, content: '<|channel|>final' }],
  [
    'words before the header',
    'Hello <|channel|>final<|message|>Hi<|return|>',
    { ill: true, content: 'Hello <|channel|>final<|message|>Hi<|return|>' },
  ],
  ['analysis that is not closed', '<|channel|>analysis<|message|>hm', { ill: true, reasoning: 'hm' }],
  ['a final that is not closed', '<|channel|>final<|message|>Hi', { content: 'Hi' }],
  ['an unknown channel', '<|channel|>notes<|message|>Hi<|end|>', { ill: true, content: 'Hi' }],
  ['no channel', '<|message|>Hi<|end|>', { ill: true, content: 'Hi' }],
  ['a recipient behind the channel', '<|channel|>commentary to=functions.f <|constrain|>json<|message|>{}<|call|>', { calls: ['f {}'] }],
  ['a recipient before the channel', ' to=functions.f<|channel|>commentary json<|message|>{}<|call|>', { calls: ['f {}'] }],
  ['a recipient and no channel', ' to=functions.f<|message|>{}<|call|>', { ill: true, calls: ['f {}'] }],
  [
    'the constraint before the channel',
    ' to=functions.f<|constrain|>json<|channel|>commentary<|message|>{}<|call|>',
    { ill: true, content: ' to=functions.f<|constrain|>json<|channel|>commentary<|message|>{}<|call|>' },
  ],
  ['a call in analysis', '<|channel|>analysis to=functions.f<|message|>{}<|call|>', { calls: ['f {}'] }],
  ['a recipient without its prefix', '<|channel|>commentary to=f<|message|>{}<|call|>', { calls: ['f {}'] }],
  [
    'an empty recipient',
    '<|channel|>commentary to=functions.<|message|>{}<|call|>',
    { ill: true, content: '<|channel|>commentary to=functions.<|message|>{}<|call|>' },
  ],
  [
    'arguments that are no JSON',
    '<|channel|>commentary to=functions.f<|message|>{oops<|call|>',
    { ill: true, content: '<|channel|>commentary to=functions.f<|message|>{oops<|call|>' },
  ],
  [
    'cut inside the arguments',
    '<|channel|>commentary to=functions.f<|message|>{"s": "a',
    { ill: true, content: '<|channel|>commentary to=functions.f<|message|>{"s": "a' },
  ],
  ['a call that is not closed', '<|channel|>commentary to=functions.f<|message|>{}', { ill: true, calls: ['f {}'] }],
  ['a call that ends like a message', '<|channel|>commentary to=functions.f<|message|>{}<|end|>', { calls: ['f {}'] }],
  [
    'words behind the arguments',
    '<|channel|>commentary to=functions.f<|message|>{} ok<|call|>',
    { ill: true, content: '<|channel|>commentary to=functions.f<|message|>{} ok<|call|>' },
  ],
  [
    'a preamble and a call',
    '<|channel|>commentary<|message|>Look.<|end|><|start|>assistant<|channel|>commentary to=functions.f<|message|>{}<|call|>',
    { content: 'Look.', calls: ['f {}'] },
  ],
  [
    'code for a built-in tool',
    '<|channel|>analysis to=python code<|message|>print(1)<|call|>',
    { ill: true, content: '<|channel|>analysis to=python code<|message|>print(1)<|call|>' },
  ],
  [
    'another role',
    '<|channel|>final<|message|>Hi<|end|><|start|>user<|message|>Thanks<|end|>',
    { ill: true, content: 'Hi<|start|>user<|message|>Thanks<|end|>' },
  ],
  [
    'words between messages',
    '<|channel|>final<|message|>Hi<|end|> and <|start|>assistant<|channel|>final<|message|>you<|return|>',
    { ill: true, content: 'Hi and you' },
  ],
  [
    'a message that the next one ends',
    '<|channel|>analysis<|message|>hm<|start|>assistant<|channel|>final<|message|>Hi<|return|>',
    { ill: true, reasoning: 'hm', content: 'Hi' },
  ],
  [
    'two analyses',
    '<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>analysis<|message|>b<|end|><|start|>assistant<|channel|>final<|message|>c<|return|>',
    { reasoning: 'ab', content: 'c' },
  ],
  [
    'a word too many in the header',
    '<|channel|>commentary to=functions.f json please<|message|>{}<|call|>',
    { ill: true, calls: ['f {}'] },
  ],
  [
    'the channel twice',
    '<|channel|>analysis<|channel|>final<|message|>Hi<|return|>',
    { ill: true, content: '<|channel|>analysis<|channel|>final<|message|>Hi<|return|>' },
  ],
  [
    'open analysis of the prompt',
    'hm<|end|><|start|>assistant<|channel|>final<|message|>Hi<|return|>',
    { reasoning: 'hm', content: 'Hi' },
    'reasoning open',
  ],
  ['a start without a header', '<|channel|>final<|message|>Hi<|end|><|start|>', { ill: true, content: 'Hi<|start|>' }],
  ['end markers only', '<|end|><|return|>', { ill: true, content: '<|end|><|return|>' }],
];

malformedTable('harmony', ROWS);
