import { JsonFloat } from '../canonical/json-value.js';
import { roundDouble } from './decimal-digits.js';
import { type Filter, filter } from './filter-helpers.js';
import { COLLECTION_FILTERS } from './filters-collection.js';
import { TEXT_FILTERS } from './filters-text.js';
import { doubleOf, indexOf, intOf, isFloat, makeFloat, makeInt, parseFloatText, parseIntText, toDouble, toInt } from './numbers.js';
import type { Kwargs, Value } from './object.js';
import { divide, multiply, power } from './operators.js';
import { PythonError, raise, typeError } from './python-error.js';
import { repr } from './repr.js';
import { typeName } from './type-names.js';
import { isStr, strText, Undefined } from './values.js';

function absolute(value: Value): Value {
  const int = intOf(value);
  if (int !== undefined) return int < 0 ? makeInt(-BigInt(int)) : int;
  const double = doubleOf(value);
  return double === undefined ? typeError(`bad operand type for abs(): '${typeName(value)}'`) : makeFloat(Math.abs(double));
}

function toIntFilter([value, fallback = 0, base = 10]: readonly (Value | undefined)[]): Value {
  const given = value!;
  if (isStr(given)) {
    const radix = indexOf(base);
    const int = radix === 0 || (radix >= 2 && radix <= 36) ? parseIntText(strText(given), radix) : null;
    if (int !== null) return int;
    const double = parseFloatText(strText(given));
    return double === null || !Number.isFinite(double) ? fallback : makeInt(BigInt(Math.trunc(double)));
  }
  return orElse(() => toInt(given), fallback);
}

/** The result, or `fallback` where it raises TypeError or ValueError. */
function orElse(run: () => Value, fallback: Value): Value {
  try {
    return run();
  } catch (error) {
    if (error instanceof PythonError && (error.pythonClass === 'TypeError' || error.pythonClass === 'ValueError')) return fallback;
    throw error;
  }
}

function round([value, precision = 0, method = 'common']: readonly (Value | undefined)[]): Value {
  const given = value!;
  const style = isStr(method) ? strText(method) : '';
  if (style !== 'common' && style !== 'ceil' && style !== 'floor') raise('FilterArgumentError', 'method must be common, ceil or floor');
  if (style === 'common') return roundNumber(given, precision);
  const unit = power(10, precision);
  const scaled = multiply(given, unit);
  if (doubleOf(scaled) === undefined) typeError(`must be real number, not ${typeName(scaled)}`);
  const whole = intOf(scaled);
  return divide(
    whole ?? toInt(makeFloat(Math[style](isFloat(scaled) && typeof scaled !== 'number' ? scaled.value : (scaled as number)))),
    unit,
  );
}

function roundNumber(value: Value, precision: Value): Value {
  const int = intOf(value);
  if (int === undefined && !isFloat(value)) typeError(`type ${typeName(value)} doesn't define __round__ method`);
  if (int !== undefined) return precision === null ? int : roundInt(BigInt(int), indexOf(precision));
  const double = value instanceof JsonFloat ? value.value : (value as number);
  if (precision === null) return toInt(makeFloat(roundDouble(double, 0)));
  return makeFloat(roundDouble(double, indexOf(precision)));
}

function roundInt(value: bigint, digits: number): Value {
  if (digits >= 0) return makeInt(value);
  const unit = 10n ** BigInt(Math.min(-digits, 5000));
  const rest = ((value % unit) + unit) % unit;
  const floor = value - rest;
  const up = rest * 2n > unit || (rest * 2n === unit && (floor / unit) % 2n !== 0n);
  return makeInt(up ? floor + unit : floor);
}

const FILTERS: ReadonlyMap<string, Filter> = new Map<string, Filter>([
  ...TEXT_FILTERS,
  ...COLLECTION_FILTERS,
  filter('abs', ['x'], 1, ([value]) => absolute(value!)),
  filter('int', ['value', 'default', 'base'], 1, toIntFilter),
  filter('float', ['value', 'default'], 1, ([value, fallback = makeFloat(0)]) => orElse(() => makeFloat(toDouble(value!)), fallback)),
  filter('round', ['value', 'precision', 'method'], 1, round),
]);

export const findFilter = (name: string): Filter | undefined => FILTERS.get(name);

/** A filter by its name as a value, as `map` runs it. */
export function runFilter(name: Value, value: Value, args: readonly Value[], kwargs: Kwargs): Value {
  const found = isStr(name) ? FILTERS.get(strText(name)) : undefined;
  if (!found) {
    const hint = name instanceof Undefined ? ' (did you forget to quote the callable name?)' : '';
    raise('TemplateRuntimeError', `No filter named ${repr(name)}.${hint}`);
  }
  return found.run(value, args, kwargs);
}
