import { JsonFloat } from '../canonical/json-value.js';
import { PyObject, type Value } from './object.js';
import { repr } from './repr.js';

/** Name of the Python type of a value. */
export function typeName(value: Value): string {
  switch (typeof value) {
    case 'string':
      return 'str';
    case 'boolean':
      return 'bool';
    case 'bigint':
      return 'int';
    case 'number':
      return Number.isInteger(value) ? 'int' : 'float';
    default:
      if (value === null) return 'NoneType';
      if (Array.isArray(value)) return 'list';
      if (value instanceof JsonFloat) return 'float';
      return value instanceof PyObject ? value.typeName : 'dict';
  }
}

/** Message of an undefined member or item of `object`. */
export function attributeFailureText(object: Value, member: Value | null): string {
  const owner = object === null ? 'None' : `${typeName(object)} object`;
  return typeof member === 'string' ? `${repr(owner)} has no attribute ${repr(member)}` : `${owner} has no element ${repr(member)}`;
}
