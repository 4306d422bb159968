import { doubleOf, intOf, isFloat } from './numbers.js';
import { PyObject, type Value } from './object.js';
import { MAX_LENGTH } from './operators.js';
import { overLimit, raise, typeError, valueError } from './python-error.js';
import { floatText, str } from './repr.js';
import { codePointLength, codePoints } from './text-tools.js';
import { typeName } from './type-names.js';
import { isStr, strText } from './values.js';

/** `x` with exactly `digits` decimals, rounded half to even on the exact value of the double. */
export function fixed(x: number, digits: number): string {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, Math.abs(x));
  const bits = view.getBigUint64(0);
  const exponent = Number(bits >> 52n);
  const mantissa = (bits & 0xfffffffffffffn) | (exponent > 0 ? 0x10000000000000n : 0n);
  const shift = Math.max(exponent, 1) - 1075;
  const scaled = mantissa * 10n ** BigInt(digits);
  let rounded: bigint;
  if (shift >= 0) rounded = scaled << BigInt(shift);
  else {
    const unit = 1n << BigInt(-shift);
    rounded = scaled / unit;
    const twice = (scaled % unit) * 2n;
    if (twice > unit || (twice === unit && rounded % 2n === 1n)) rounded += 1n;
  }
  const text = rounded.toString().padStart(digits + 1, '0');
  const sign = x < 0 || Object.is(x, -0) ? '-' : '';
  return sign + (digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`);
}

const twoDigitExponent = (text: string): string => text.replace(/e([+-])(\d)$/, 'e$10$2');

/** A double in one of the printf styles `e`, `f`, `g` (either case) or `%`. */
export function formatDouble(x: number, style: string, precision: number, alternate: boolean): string {
  if (precision > 4000) overLimit('decimals', 4000);
  const lower = style.toLowerCase();
  const text = Number.isFinite(x) ? finiteText(x, lower, precision, alternate) : floatText(x) + (lower === '%' ? '%' : '');
  return lower === style ? text : text.toUpperCase();
}

function finiteText(x: number, style: string, precision: number, alternate: boolean): string {
  if (style === 'f') return fixed(x, precision) + (alternate && precision === 0 ? '.' : '');
  if (style === '%') return `${fixed(x * 100, precision)}%`;
  const sign = Object.is(x, -0) ? '-' : '';
  if (style === 'e') return sign + twoDigitExponent(x.toExponential(Math.min(precision, 100)));
  const digits = Math.min(precision === 0 ? 1 : precision, 100);
  const exponent = Number(x.toExponential(digits - 1).split('e')[1]);
  const scientific = exponent < -4 || exponent >= digits;
  let text = scientific ? sign + twoDigitExponent(x.toExponential(digits - 1)) : fixed(x, Math.max(0, digits - 1 - exponent));
  if (!alternate && text.includes('.')) text = text.replace(/\.?0+(?=e|$)/, '');
  return text;
}

const SPEC = /^(?:([\s\S])?([<>=^]))?([+\- ])?(z)?(#)?(0)?(\d+)?([,_])?(?:\.(\d+))?([\s\S])?$/u;

/** `format(value, spec)`. */
export function formatValue(value: Value, spec: string): string {
  if (spec === '') return str(value);
  if (value instanceof PyObject && !isStr(value)) typeError(`unsupported format string passed to ${typeName(value)}.__format__`);
  const match = SPEC.exec(spec);
  if (!match) valueError(`Invalid format specifier '${spec}' for object of type '${typeName(value)}'`);
  const [, fill, align, sign, , alternate, zero, width, grouping, precision, type] = match;
  const wide = Number(width ?? 0);
  if (wide > MAX_LENGTH) overLimit('characters in one text', MAX_LENGTH);
  const layout = { fill: fill ?? (zero ? '0' : ' '), align: align ?? null, sign: sign ?? '-', width: wide };
  const places = precision === undefined ? null : Number(precision);
  if (isStr(value))
    return formatText(strText(value), { ...layout, type, places, numeric: Boolean(sign || alternate || grouping) || align === '=' });
  const int = intOf(value);
  if (int !== undefined && !(type !== undefined && 'eEfFgG%'.includes(type))) {
    if (typeof value === 'boolean' && type === undefined && !sign && !alternate && !grouping)
      return fitText(str(value), { ...layout, align: layout.align ?? '>' });
    return fitNumber(
      formatInt(int, type ?? 'd', places, alternate !== undefined, grouping),
      { ...layout, zero: zero !== undefined },
      grouping,
    );
  }
  const double = doubleOf(value);
  if (double === undefined || (value !== null && typeof value === 'object' && !isFloat(value)))
    typeError(`unsupported format string passed to ${typeName(value)}.__format__`);
  return fitNumber(
    formatFloatSpec(double, type, places, alternate !== undefined, grouping),
    { ...layout, zero: zero !== undefined },
    grouping,
  );
}

interface Layout {
  readonly fill: string;
  readonly align: string | null;
  readonly sign: string;
  readonly width: number;
}

function formatText(
  text: string,
  spec: Layout & { readonly type: string | undefined; readonly places: number | null; readonly numeric: boolean },
): string {
  if (spec.type !== undefined && spec.type !== 's') valueError(`Unknown format code '${spec.type}' for object of type 'str'`);
  if (spec.numeric) valueError('Sign, alternate form or alignment of numbers not allowed in string format specifier');
  const cut = spec.places === null ? text : codePoints(text).slice(0, spec.places).join('');
  return fitText(cut, { ...spec, align: spec.align ?? '<' });
}

function fitText(text: string, { fill, align, width }: Layout): string {
  const missing = width - codePointLength(text);
  if (missing <= 0) return text;
  const left = align === '<' ? 0 : align === '^' ? Math.floor(missing / 2) : missing;
  return fill.repeat(left) + text + fill.repeat(missing - left);
}

function formatInt(int: number | bigint, type: string, places: number | null, alternate: boolean, grouping: string | undefined): string {
  if (places !== null) valueError('Precision not allowed in integer format specifier');
  if (type === 'c') return String.fromCodePoint(Number(int));
  const radix = { d: 10, n: 10, b: 2, o: 8, x: 16, X: 16 }[type];
  if (radix === undefined) valueError(`Unknown format code '${type}' for object of type 'int'`);
  if (grouping === ',' && radix !== 10) valueError(`Cannot specify ',' with '${type}'.`);
  const digits = BigInt(int < 0 ? -BigInt(int) : int).toString(radix);
  const prefix = alternate && radix !== 10 ? `0${type}` : '';
  const text = type === 'X' ? digits.toUpperCase() : digits;
  return (int < 0 ? '-' : '') + prefix + group(text, grouping, radix === 10 ? 3 : 4);
}

const group = (digits: string, grouping: string | undefined, size: number): string =>
  grouping === undefined ? digits : digits.replace(new RegExp(`(?<=.)(?=(?:.{${size}})+$)`, 'g'), grouping);

function formatFloatSpec(
  x: number,
  type: string | undefined,
  places: number | null,
  alternate: boolean,
  grouping: string | undefined,
): string {
  let text: string;
  if (type === undefined) text = places === null ? floatText(x) : generalText(x, places, alternate);
  else if ('eEfFgG%'.includes(type)) text = formatDouble(x, type, places ?? 6, alternate);
  else if (type === 'n') text = formatDouble(x, 'g', places ?? 6, alternate);
  else valueError(`Unknown format code '${type}' for object of type 'float'`);
  return text.replace(/^(-?)(\d+)/, (_, sign: string, digits: string) => sign + group(digits, grouping, 3));
}

/** A float without a type code: as `g`, with at least one decimal. */
function generalText(x: number, places: number, alternate: boolean): string {
  const text = formatDouble(x, 'g', places, alternate);
  return /^-?\d+$/.test(text)
    ? text.replace('-', '').length >= Math.max(places, 1)
      ? formatDouble(x, 'e', Math.max(places - 1, 0), alternate)
      : `${text}.0`
    : text;
}

function fitNumber(text: string, layout: Layout & { readonly zero: boolean }, grouping: string | undefined): string {
  const negative = text.startsWith('-');
  const sign = negative ? '-' : layout.sign === '-' ? '' : layout.sign;
  const body = negative ? text.slice(1) : text;
  const align = layout.align ?? (layout.zero ? '=' : '>');
  if (align !== '=') return fitText(sign + body, { ...layout, align });
  const prefix = /^0[xXob]/.exec(body)?.[0] ?? '';
  let digits = body.slice(prefix.length);
  const wide = layout.width - sign.length - prefix.length;
  if (grouping !== undefined && layout.fill === '0') {
    const [whole = '', rest = ''] = /^(\w*)(.*)$/.exec(digits.replaceAll(grouping, ''))!.slice(1);
    let padded = whole;
    while (group(padded, grouping, 3).length + rest.length < wide) padded = `0${padded}`;
    digits = group(padded, grouping, 3) + rest;
  }
  return sign + prefix + layout.fill.repeat(Math.max(0, wide - digits.length)) + digits;
}

/** `round(x, digits)` of a float. */
export function roundDouble(x: number, digits: number): number {
  if (!Number.isFinite(x) || digits > 323) return x;
  if (digits >= 0) return Number(fixed(x, digits));
  if (digits < -308) return x < 0 ? -0 : 0;
  const unit = 10 ** -digits;
  const scaled = x / unit;
  const floor = Math.floor(scaled);
  const rest = scaled - floor;
  const result = (rest > 0.5 || (rest === 0.5 && floor % 2 !== 0) ? floor + 1 : floor) * unit;
  if (!Number.isFinite(result)) raise('OverflowError', 'rounded value too large to represent');
  return result;
}
