import { malformedTable, type Row } from './malformed-table.js';

const DEEPSEEK: readonly Row[] = [
  [
    'arguments that are no JSON',
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{oops}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    { ill: true, content: '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{oops}<｜tool▁call▁end｜><｜tool▁calls▁end｜>' },
  ],
  [
    'arguments that are words',
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>ls -l<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    { ill: true, content: '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>ls -l<｜tool▁call▁end｜><｜tool▁calls▁end｜>' },
  ],
  [
    'cut inside the arguments',
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{"s": "a',
    { ill: true, content: '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{"s": "a' },
  ],
  [
    'cut behind the arguments',
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{"s": "a"}',
    { ill: true, calls: ['f {"s": "a"}'] },
  ],
  [
    'no closing section marker',
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{}<｜tool▁call▁end｜>',
    { ill: true, calls: ['f {}'] },
  ],
  [
    'no closing call marker',
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{}<｜tool▁calls▁end｜>',
    { ill: true, calls: ['f {}'] },
  ],
  [
    'no closing call marker before another',
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{}<｜tool▁call▁begin｜>g<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    { ill: true, calls: ['f {}', 'g {}'] },
  ],
  ['no section', '<｜tool▁call▁begin｜>f<｜tool▁sep｜>{}<｜tool▁call▁end｜>', { ill: true, calls: ['f {}'] }],
  [
    'no opening section marker',
    '<｜tool▁call▁begin｜>f<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    { ill: true, calls: ['f {}'] },
  ],
  ['an empty section', '<｜tool▁calls▁begin｜><｜tool▁calls▁end｜>', { ill: true, content: '<｜tool▁calls▁begin｜><｜tool▁calls▁end｜>' }],
  ['cut behind the section marker', 'Hi<｜tool▁calls▁begin｜>', { ill: true, content: 'Hi<｜tool▁calls▁begin｜>' }],
  [
    'cut inside the name',
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>loo',
    { ill: true, content: '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>loo' },
  ],
  [
    'no separator',
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    { ill: true, content: '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>' },
  ],
  [
    'no name',
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜><｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    { ill: true, content: '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜><｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>' },
  ],
  [
    'words behind the arguments',
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{} now<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    { ill: true, content: '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{} now<｜tool▁call▁end｜><｜tool▁calls▁end｜>' },
  ],
  [
    'words between calls',
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{}<｜tool▁call▁end｜>and<｜tool▁call▁begin｜>g<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    { ill: true, content: 'and', calls: ['f {}', 'g {}'] },
  ],
  [
    'a bad call before a good one',
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{bad<｜tool▁call▁end｜><｜tool▁call▁begin｜>g<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    { ill: true, content: '<｜tool▁call▁begin｜>f<｜tool▁sep｜>{bad<｜tool▁call▁end｜>', calls: ['g {}'] },
  ],
  [
    'the fence of V3',
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    {
      ill: true,
      content:
        '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    },
  ],
  [
    'arguments as a JSON text in a string',
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>"{\\"s\\": 1}"<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    { calls: ['f "{\\"s\\": 1}" => {"s": 1}'] },
  ],
  [
    'arguments that are a list',
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>[1]<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    { calls: ['f [1] !arguments_not_object'] },
  ],
  [
    'line breaks around the arguments',
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>\n{}\n<｜tool▁call▁end｜>\n<｜tool▁calls▁end｜>',
    { calls: ['f {}'] },
  ],
  [
    'two sections',
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>\n<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>g<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    { calls: ['f {}', 'g {}'] },
  ],
  [
    'words behind the section',
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜> Done.',
    { content: ' Done.', calls: ['f {}'] },
  ],
  [
    'stray markers',
    'Hi<｜tool▁call▁end｜> there<｜tool▁calls▁end｜>',
    { ill: true, content: 'Hi<｜tool▁call▁end｜> there<｜tool▁calls▁end｜>' },
  ],
];

const DEEPSEEK_V3: readonly Row[] = [
  [
    'a fence without a language',
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    { calls: ['f {}'] },
  ],
  [
    'no closing fence',
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{}\n<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    {
      ill: true,
      content: '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{}\n<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    },
  ],
  [
    'no fence',
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    { ill: true, content: '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>' },
  ],
  [
    'no kind',
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜><｜tool▁sep｜>f\n```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    { calls: ['f {}'] },
  ],
  [
    'cut inside the fence',
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{"s": ',
    { ill: true, content: '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{"s": ' },
  ],
];

malformedTable('deepseek-v3.1', DEEPSEEK);
malformedTable('deepseek-v3', DEEPSEEK_V3);
