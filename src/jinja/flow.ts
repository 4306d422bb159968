import type { Value } from './object.js';
import { typeError } from './python-error.js';
import type { Frame } from './runtime.js';
import { typeName } from './type-names.js';
import { isStr, strText } from './values.js';

/** How a statement ended. */
export const NORMAL = 0;
export const BREAK = 1;
export const CONTINUE = 2;
export type Flow = typeof NORMAL | typeof BREAK | typeof CONTINUE;
export type Execute = (frame: Frame) => Flow;
export type Store = (frame: Frame, value: Value) => void;
/** Blocks by name; filled while the template is compiled. */
export type Blocks = Map<string, (frame: Frame) => void>;

/** The text that a call block or filter block prints: unlike `{{ }}` they convert nothing. */
export function printable(value: Value): string {
  if (!isStr(value)) typeError(`sequence item 0: expected str instance, ${typeName(value)} found`);
  return strText(value);
}
