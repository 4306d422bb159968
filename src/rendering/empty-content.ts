import type { JsonObject, JsonValue } from '../canonical/json-value.js';

/** How an assistant message that only calls tools says that it has no text. */
export type EmptyContent = 'absent' | 'empty' | 'null';

const CALL = 'probed_function';

/**
 * Clients spell a missing text as `null`, `""` or not at all, and mean the same; templates do not: some refuse an absent one, some print
 * `None`, some print calls only beside `null`. Gives the first form with which the call is printed and no `None` is: absent, as
 * transformers 5.24 leaves a null out, else `""`, else null.
 */
export function probeEmptyContent(render: (context: JsonObject) => string, argumentsAs: 'dict' | 'string'): EmptyContent {
  for (const form of ['absent', 'empty', 'null'] as const) {
    const context = new Map<string, JsonValue>([
      [
        'messages',
        [
          new Map([
            ['role', 'user'],
            ['content', 'probe'],
          ]),
          callingMessage(form, argumentsAs),
        ],
      ],
      ['tools', null],
      ['documents', null],
      ['add_generation_prompt', false],
    ]);
    try {
      const text = render(context);
      if (text.includes(CALL) && !text.includes('None')) return form;
    } catch {
      // A template that refuses this form is asked with the next.
    }
  }
  return 'empty';
}

function callingMessage(form: EmptyContent, argumentsAs: 'dict' | 'string'): JsonObject {
  const message = new Map<string, JsonValue>([['role', 'assistant']]);
  if (form !== 'absent') message.set('content', form === 'empty' ? '' : null);
  const call = new Map<string, JsonValue>([
    ['name', CALL],
    ['arguments', argumentsAs === 'dict' ? new Map() : '{}'],
  ]);
  message.set('tool_calls', [
    new Map<string, JsonValue>([
      ['id', 'call_00000'],
      ['type', 'function'],
      ['function', call],
    ]),
  ]);
  return message;
}
