import { codePoints, isSpaceUnit } from './text-tools.js';

// Letters whose title case is neither their upper case nor themselves in upper case; from the Unicode character database.
const DIGRAPHS: Readonly<Record<string, string>> = {
  Ǆ: 'ǅ',
  ǅ: 'ǅ',
  ǆ: 'ǅ',
  Ǉ: 'ǈ',
  ǈ: 'ǈ',
  ǉ: 'ǈ',
  Ǌ: 'ǋ',
  ǋ: 'ǋ',
  ǌ: 'ǋ',
  Ǳ: 'ǲ',
  ǲ: 'ǲ',
  ǳ: 'ǲ',
};
const GREEK_WITH_IOTA = /^[\u1f80-\u1faf\u1fb3\u1fbc\u1fc3\u1fcc\u1ff3\u1ffc]$/;
const GEORGIAN = /^[\u10d0-\u10fa\u10fd-\u10ff]$/;

/** Title case of one code point. */
export function titleCase(character: string): string {
  const digraph = DIGRAPHS[character];
  if (digraph !== undefined) return digraph;
  if (GEORGIAN.test(character)) return character;
  if (GREEK_WITH_IOTA.test(character)) return greekTitle(character);
  const upper = character.toUpperCase();
  if (upper.length === 1 || upper.length === character.length) return upper;
  // A letter that expands (ß, ﬁ, ŉ, և, ᾲ): only its first part is upper case; a combining mark stays as it is.
  const [first, ...rest] = codePoints(upper);
  return first + rest.map((part) => (part === 'Ι' ? '\u0345' : /\p{Lu}/u.test(first!) ? part.toLowerCase() : part)).join('');
}

function greekTitle(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x1fb0) return String.fromCharCode(code | 8);
  return String.fromCharCode(code === 0x1fb3 || code === 0x1fc3 || code === 0x1ff3 ? code + 9 : code);
}

const CASED = /[\p{Lowercase}\p{Uppercase}\p{Lt}]/u;
const UPPER_OR_TITLE = /[\p{Uppercase}\p{Lt}]/u;
const LOWER = /\p{Lowercase}/u;
const UPPER = /\p{Uppercase}/u;
const LOWER_OR_TITLE = /[\p{Lowercase}\p{Lt}]/u;

/** `text.title()`: a letter after anything that has no case begins a word. */
export function titleText(text: string): string {
  let result = '';
  let inside = false;
  let position = 0;
  for (const character of codePoints(text)) {
    result += inside ? lowerAt(text, position, character) : titleCase(character);
    inside = CASED.test(character);
    position += character.length;
  }
  return result;
}

/** Lower case of the character at `position`, with the rule for a final sigma. */
function lowerAt(text: string, position: number, character: string): string {
  if (character !== 'Σ') return character.toLowerCase();
  return text.toLowerCase()[text.slice(0, position).toLowerCase().length] ?? 'σ';
}

export function capitalize(text: string): string {
  const [first] = codePoints(text);
  if (first === undefined) return '';
  // Lowered as a whole, because a final sigma depends on what stands before it.
  return titleCase(first) + text.toLowerCase().slice(first.toLowerCase().length);
}

export function swapCase(text: string): string {
  let position = 0;
  return codePoints(text)
    .map((character) => {
      const at = position;
      position += character.length;
      if (UPPER.test(character)) return lowerAt(text, at, character);
      return LOWER.test(character) ? character.toUpperCase() : character;
    })
    .join('');
}

export const caseFold = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replaceAll('ς', 'σ')
    .replace(/[ŉﬀ-ﬆﬓ-ﬗևſẛẞ]/g, (letter) => letter.toUpperCase().toLowerCase());

const every = (text: string, pattern: RegExp): boolean => text !== '' && codePoints(text).every((character) => pattern.test(character));

/** The `is…` methods of str. */
export const TEXT_PREDICATES: Readonly<Record<string, (text: string) => boolean>> = {
  isalpha: (text) => every(text, /\p{L}/u),
  isdecimal: (text) => every(text, /\p{Nd}/u),
  isdigit: (text) => every(text, /[\p{Nd}²³¹⁰⁴-⁹₀-₉①-⑨⑴-⑼⒈-⒐⓪⓵-⓽⓿❶-❾➀-➈➊-➒፩-፱᧚]/u),
  isnumeric: (text) =>
    every(
      text,
      /[\p{N}㐅㒃㠪㭍一七万三九二五亖亿什仟仨伍佰億兆兩八六十千卄卅卌叁参參叄四壱壹幺廾廿弌弍弎弐拾捌柒漆玖百肆萬貮貳贰阡陆陌陸零]/u,
    ),
  isalnum: (text) => every(text, /[\p{L}\p{N}]/u),
  isascii: (text) => /^[\x00-\x7f]*$/.test(text),
  isspace: (text) => text !== '' && codePoints(text).every((character) => isSpaceUnit(character.charCodeAt(0))),
  islower: (text) => LOWER.test(text) && !UPPER_OR_TITLE.test(text),
  isupper: (text) => UPPER.test(text) && !LOWER_OR_TITLE.test(text),
  isprintable: (text) => !/(?! )[\p{C}\p{Z}]/u.test(text),
  isidentifier: (text) => /^[\p{XIDS}_][\p{XIDC}]*$/u.test(text),
  istitle: isTitle,
};

function isTitle(text: string): boolean {
  let found = false;
  let inside = false;
  for (const character of codePoints(text)) {
    if (UPPER_OR_TITLE.test(character)) {
      if (inside) return false;
      found = true;
      inside = true;
    } else if (LOWER.test(character)) {
      if (!inside) return false;
      found = true;
    } else inside = false;
  }
  return found;
}
