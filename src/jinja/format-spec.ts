import { exponential, fixed } from './decimal-digits.js';
import { doubleOf, intOf, isFloat } from './numbers.js';
import { PyObject, type Value } from './object.js';
import { MAX_LENGTH } from './operators.js';
import { overLimit, raise, typeError, valueError } from './python-error.js';
import { floatText, str } from './repr.js';
import { codePointLength, codePoints } from './text-tools.js';
import { typeName } from './type-names.js';
import { isStr, strText } from './values.js';

/** A double in one of the printf styles `e`, `f`, `g` (either case) or `%`. */
export function formatDouble(x: number, style: string, precision: number, alternate: boolean): string {
  if (precision > 4000) overLimit('decimals', 4000);
  const lower = style.toLowerCase();
  const text = Number.isFinite(x) ? finiteText(x, lower, precision, alternate) : floatText(x) + (lower === '%' ? '%' : '');
  return lower === style ? text : text.toUpperCase();
}

/** The alternate form always has a decimal point. */
function withPoint(text: string, alternate: boolean): string {
  return alternate && /^-?\d+(?!.*\.)/.test(text) ? text.replace(/^-?\d+/, '$&.') : text;
}

function finiteText(x: number, style: string, precision: number, alternate: boolean): string {
  if (style === 'f') return withPoint(fixed(x, precision), alternate);
  if (style === '%') return `${withPoint(fixed(x * 100, precision), alternate)}%`;
  if (style === 'e') return withPoint(exponential(x, precision).text, alternate);
  return generalText(x, precision, 0, alternate);
}

/** Style `g`: the exponent is written where it is below -4, or not below the number of digits less `earlier`. */
function generalText(x: number, precision: number, earlier: number, alternate: boolean): string {
  const digits = precision === 0 ? 1 : precision;
  const { text, power } = exponential(x, digits - 1);
  const plain = power >= -4 && power < digits - earlier ? fixed(x, Math.max(0, digits - 1 - power)) : text;
  const [mantissa, exponent] = plain.split('e') as [string, string | undefined];
  const short = alternate || !mantissa.includes('.') ? mantissa : mantissa.replace(/\.?0+$/, '');
  return withPoint(exponent === undefined ? short : `${short}e${exponent}`, alternate);
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
    if (type === 'c' && sign !== undefined) valueError("Sign not allowed with integer format specifier 'c'");
    return fitNumber(
      formatInt(int, type ?? 'd', places, alternate !== undefined, grouping),
      { ...layout, zero: zero !== undefined, hex: type !== undefined && 'xXob'.includes(type) },
      grouping,
    );
  }
  const double = doubleOf(value);
  if (double === undefined || (value !== null && typeof value === 'object' && !isFloat(value)))
    typeError(`unsupported format string passed to ${typeName(value)}.__format__`);
  return fitNumber(
    formatFloatSpec(double, type, places, alternate !== undefined, grouping),
    { ...layout, zero: zero !== undefined, hex: type !== undefined && 'xXob'.includes(type) },
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
  if (grouping !== undefined && (type === 'c' || type === 'n')) valueError(`Cannot specify '${grouping}' with '${type}'.`);
  if (type === 'c') {
    if (alternate) valueError("Alternate form (#) not allowed with integer format specifier 'c'");
    if (int < 0 || int > 0x10ffff) raise('OverflowError', '%c arg not in range(0x110000)');
    return String.fromCodePoint(Number(int));
  }
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
  if (type === undefined) text = places === null ? withPoint(floatText(x), alternate) : untypedText(x, places, alternate);
  else if ('eEfFgG%'.includes(type)) text = formatDouble(x, type, places ?? 6, alternate);
  else if (type === 'n') {
    if (grouping !== undefined) valueError(`Cannot specify '${grouping}' with 'n'.`);
    text = formatDouble(x, 'g', places ?? 6, alternate);
  } else valueError(`Unknown format code '${type}' for object of type 'float'`);
  return text.replace(/^(-?)(\d+)/, (_, sign: string, digits: string) => sign + group(digits, grouping, 3));
}

/** A float without a type code: as `g`, but with at least one decimal, and with an exponent one digit earlier. */
function untypedText(x: number, places: number, alternate: boolean): string {
  if (!Number.isFinite(x)) return floatText(x);
  const text = generalText(x, places, 1, alternate);
  return /[.e]/.test(text) ? text : `${text}.0`;
}

function fitNumber(text: string, layout: Layout & { readonly zero: boolean; readonly hex: boolean }, grouping: string | undefined): string {
  const negative = text.startsWith('-');
  const sign = negative ? '-' : layout.sign === '-' ? '' : layout.sign;
  const body = negative ? text.slice(1) : text;
  const align = layout.align ?? (layout.zero ? '=' : '>');
  if (align !== '=') return fitText(sign + body, { ...layout, align });
  const prefix = /^0[xXob]/.exec(body)?.[0] ?? '';
  let digits = body.slice(prefix.length);
  const wide = layout.width - sign.length - prefix.length;
  if (grouping !== undefined && layout.fill === '0') {
    const size = layout.hex ? 4 : 3;
    const [, whole, rest] = (layout.hex ? /^(\w*)(.*)$/ : /^(\d*)(.*)$/).exec(digits.replaceAll(grouping, '')) as unknown as [
      string,
      string,
      string,
    ];
    let padded = whole;
    while (group(padded, grouping, size).length + rest.length < wide) padded = `0${padded}`;
    digits = group(padded, grouping, size) + rest;
  }
  return sign + prefix + layout.fill.repeat(Math.max(0, wide - digits.length)) + digits;
}
