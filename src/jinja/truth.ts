import { PyObject, type Value } from './object.js';

/** `bool(value)`. */
export function truthy(value: Value): boolean {
  switch (typeof value) {
    case 'boolean':
      return value;
    case 'string':
      return value !== '';
    case 'number':
      return value !== 0;
    case 'bigint':
      return value !== 0n;
    default:
      if (value === null) return false;
      if (Array.isArray(value)) return value.length > 0;
      if (value instanceof Map) return value.size > 0;
      if (value instanceof PyObject) return value.truthy();
      return (value as { value: number }).value !== 0;
  }
}
