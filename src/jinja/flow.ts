import type { Value } from './object.js';
import type { Frame } from './runtime.js';

/** How a statement ended. */
export const NORMAL = 0;
export const BREAK = 1;
export const CONTINUE = 2;
export type Flow = typeof NORMAL | typeof BREAK | typeof CONTINUE;
export type Execute = (frame: Frame) => Flow;
export type Store = (frame: Frame, value: Value) => void;
/** Blocks by name; filled while the template is compiled. */
export type Blocks = Map<string, (frame: Frame) => void>;
