import { z } from 'zod';

/** An object that refuses members it does not know, and says which it knows. */
export const closedObject = <Shape extends z.core.$ZodLooseShape>(shape: Shape): z.ZodObject<Shape, z.core.$strict> =>
  z.strictObject(shape, {
    error: (issue) => {
      if (issue.code !== 'unrecognized_keys') return undefined;
      const keys = (issue as z.core.$ZodIssueUnrecognizedKeys).keys.map((key) => `\`${key.slice(0, 80)}\``);
      return `unknown ${keys.length === 1 ? 'field' : 'fields'} ${keys.join(', ')}; known are ${Object.keys(shape).join(', ')}`;
    },
  });

const NOUNS: Readonly<Record<string, string>> = {
  number: 'a number',
  int: 'a whole number',
  string: 'a string',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

/** What is wrong with a body, in a sentence that names the field, what it must be and what it is. */
export function describeIssue(issue: z.core.$ZodIssue): string {
  const path = issue.path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
  const field = path === '' ? '' : `\`${path.replace(/^\./, '').slice(0, 200)}\``;
  const must = mustBe(issue);
  if (must === null) return [field, issue.message].filter((part) => part !== '').join(': ');
  return `${field === '' ? 'the body' : field} must be ${must}, got ${shown(issue.input)}`;
}

/** `null` where the issue has a sentence of its own. */
function mustBe(issue: z.core.$ZodIssue): string | null {
  switch (issue.code) {
    case 'invalid_type':
      return NOUNS[issue.expected] ?? issue.expected;
    case 'invalid_value':
      return issue.values.map((value) => JSON.stringify(value)).join(' or ');
    case 'invalid_union':
      return issue.message.replace(/^must be /, '');
    case 'too_small':
      return issue.origin === 'string' || issue.origin === 'array' ? 'not empty' : `at least ${issue.minimum}`;
    case 'too_big':
      return `at most ${issue.maximum}`;
    default:
      return null;
  }
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
