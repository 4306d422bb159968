import type { Kwargs, Value } from './object.js';
import { typeError } from './python-error.js';

/**
 * Lays out the arguments of a call by the parameters' names. `required` parameters must be given; the others are `undefined` where they
 * are not. Raises TypeError for what does not fit.
 */
export function bind(
  name: string,
  parameters: readonly string[],
  required: number,
  args: readonly Value[],
  kwargs: Kwargs,
): (Value | undefined)[] {
  if (args.length > parameters.length) typeError(`${name}() takes at most ${parameters.length} arguments (${args.length} given)`);
  const bound: (Value | undefined)[] = [...args];
  bound.length = parameters.length;
  if (kwargs !== null)
    for (const [key, value] of kwargs) {
      const place = parameters.indexOf(key);
      if (place < 0) typeError(`${name}() got an unexpected keyword argument '${key}'`);
      if (bound[place] !== undefined) typeError(`${name}() got multiple values for argument '${key}'`);
      bound[place] = value;
    }
  for (let place = 0; place < required; place++)
    if (bound[place] === undefined) typeError(`${name}() missing required argument: '${parameters[place]}'`);
  return bound;
}

/** As {@link bind} for functions that take no keywords. */
export function positional(name: string, least: number, most: number, args: readonly Value[], kwargs: Kwargs): void {
  if (kwargs !== null && kwargs.size > 0) typeError(`${name}() takes no keyword arguments`);
  if (args.length < least || args.length > most)
    typeError(
      `${name} expected ${least === most ? '' : args.length < least ? 'at least ' : 'at most '}${args.length < least ? least : most} arguments, got ${args.length}`,
    );
}
