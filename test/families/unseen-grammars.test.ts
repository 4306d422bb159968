import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/canonical/json-value.js';
import { writeJson } from '../../src/canonical/json-write.js';
import { recogniseFamily } from '../../src/families/probe.js';
import { plainReply } from '../../src/families/reply-shape.js';
import { compileTemplate } from '../../src/jinja/template.js';
import { NOW } from './template-fixtures.js';

/** A chat template whose assistant prints `content` and `calls`, both in Jinja. */
const template = (content: string, calls: string): string => `
{%- for message in messages -%}
<|im_start|>{{ message.role }}
{% if message.role == 'assistant' -%}
${content}
{%- if message.tool_calls -%}
${calls}
{%- endif -%}
{%- else -%}
{{ message.content }}
{%- endif -%}
<|im_end|>
{% endfor -%}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}`;

const WORDS = "{{ message.content or '' }}";
const each = (call: string, between = ''): string =>
  `{%- for call in message.tool_calls %}${call}{% if not loop.last %}${between}{% endif %}{% endfor %}`;
const OBJECT = '{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}';

const GRAMMARS: readonly (readonly [title: string, family: string, content: string, calls: string])[] = [
  ['an object between other tags', 'tagged-json', WORDS, each(`<function_call>${OBJECT}</function_call>`)],
  ['a list between tags', 'json-list', WORDS, `<TOOLCALL>[${each(OBJECT, ', ')}]</TOOLCALL>`],
  ['a list behind a tag', 'json-list', WORDS, `<|tool_call|>[${each(OBJECT, ', ')}]`],
  ['a list behind two tags', 'json-list', WORDS, `<|action_start|><|plugin|>[${each(OBJECT, ', ')}]<|action_end|>`],
  ['objects on lines between tags', 'json-list', WORDS, `<tool_calls>\n${each(OBJECT, '\n')}\n</tool_calls>`],
  ['a list without tags', 'llama3-json', "{{ '' if message.tool_calls else message.content }}", `[${each(OBJECT, ', ')}]`],
  [
    'names in attributes of other tags',
    'invoke-tags',
    WORDS,
    each(
      '<function name="{{ call.function.name }}">{% for k, v in call.function.arguments.items() %}<param name="{{ k }}">{{ v if v is string else v | tojson }}</param>{% endfor %}</function>',
    ),
  ],
  [
    'function tags between other tags',
    'qwen3-coder',
    WORDS,
    each(
      '<call>\n<function={{ call.function.name }}>\n{% for k, v in call.function.arguments.items() %}<parameter={{ k }}>\n{{ v if v is string else v | tojson }}\n</parameter>\n{% endfor %}</function>\n</call>',
      '\n',
    ),
  ],
  [
    'an answer between tags of its own',
    'tagged-json',
    '<answer>\n{{ message.content }}\n</answer>\n',
    each(`<call>${OBJECT}</call>`, '\n'),
  ],
];

const object = (members: Record<string, JsonValue>): JsonObject => new Map(Object.entries(members));

describe.each(GRAMMARS)('%s', (_, family, content, calls) => {
  const compiled = compileTemplate(template(content, calls));
  const found = recogniseFamily((context) => compiled.render(context, { now: () => NOW }));

  it('is recognised without having been seen before', () => {
    expect(found.family.name).toBe(family);
    expect(found.warning).toBeNull();
    expect(found.traits.turnEnds).toContain('<|im_end|>');
  });

  it.each([
    ['words', 'Hi.', []],
    ['one call', '', [['find', { q: 'a' }]]],
    [
      'words and two calls',
      'Hi.',
      [
        ['find', { q: 'a b' }],
        ['stop', {}],
      ],
    ],
  ] as const)('reads what it prints: %s', (_title, words, made) => {
    const toolCalls = made.map(([name, args]) =>
      object({ id: 'functions.x:0', type: 'function', function: object({ name, arguments: object({ ...args }) }) }),
    );
    const message = new Map<string, JsonValue>([
      ['role', 'assistant'],
      ['content', words],
    ]);
    if (toolCalls.length > 0) message.set('tool_calls', toolCalls);
    const text = compiled.render(object({ messages: [message], add_generation_prompt: false }), { now: () => NOW });
    const head = '<|im_start|>assistant\n';
    const body = text.slice(head.length, text.lastIndexOf('<|im_end|>'));
    const reply = found.family.parse(plainReply(body));
    expect(reply.illFormed).toBe(false);
    expect(reply.content).toBe(content.includes('if message.tool_calls') && made.length > 0 ? '' : words);
    expect(reply.toolCalls.map((call) => `${call.name} ${writeJson(call.value ?? null)}`)).toEqual(
      made.map(([name, args]) => `${name} ${writeJson(object({ ...args }))}`),
    );
  });
});
