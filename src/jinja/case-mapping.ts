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

// Letters whose folding is their upper case (Cherokee), and one that is its own though its upper case is another's.
const CHEROKEE = /[\u13a0-\u13f5\u13f8-\u13fd\uab70-\uabbf]/;

/** `text.casefold()`. */
export function caseFold(text: string): string {
  return codePoints(text)
    .map((letter) => {
      if (letter === 'ı') return letter;
      return CHEROKEE.test(letter) ? letter.toUpperCase() : letter.toLowerCase().toUpperCase().toLowerCase();
    })
    .join('');
}

// Numbers that are digits but not decimal, and letters that stand for numbers; from the Unicode character database.
const DIGIT =
  /[\p{Nd}\u{b2}\u{b3}\u{b9}\u{1369}-\u{1371}\u{19da}\u{2070}\u{2074}-\u{2079}\u{2080}-\u{2089}\u{2460}-\u{2468}\u{2474}-\u{247c}\u{2488}-\u{2490}\u{24ea}\u{24f5}-\u{24fd}\u{24ff}\u{2776}-\u{277e}\u{2780}-\u{2788}\u{278a}-\u{2792}\u{10a40}-\u{10a43}\u{10e60}-\u{10e68}\u{11052}-\u{1105a}\u{1f100}-\u{1f10a}]/u;
const NUMERIC =
  /[\p{N}\u{3405}\u{3483}\u{382a}\u{3b4d}\u{4e00}\u{4e03}\u{4e07}\u{4e09}\u{4e5d}\u{4e8c}\u{4e94}\u{4e96}\u{4ebf}\u{4ec0}\u{4edf}\u{4ee8}\u{4f0d}\u{4f70}\u{5104}\u{5146}\u{5169}\u{516b}\u{516d}\u{5341}\u{5343}-\u{5345}\u{534c}\u{53c1}-\u{53c4}\u{56db}\u{58f1}\u{58f9}\u{5e7a}\u{5efe}\u{5eff}\u{5f0c}-\u{5f0e}\u{5f10}\u{62fe}\u{634c}\u{67d2}\u{6f06}\u{7396}\u{767e}\u{8086}\u{842c}\u{8cae}\u{8cb3}\u{8d30}\u{9621}\u{9646}\u{964c}\u{9678}\u{96f6}\u{f96b}\u{f973}\u{f978}\u{f9b2}\u{f9d1}\u{f9d3}\u{f9fd}\u{20001}\u{20064}\u{200e2}\u{20121}\u{2092a}\u{20983}\u{2098c}\u{2099c}\u{20aea}\u{20afd}\u{20b19}\u{22390}\u{22998}\u{23b1b}\u{2626d}\u{2f890}]/u;

const every = (text: string, pattern: RegExp): boolean => text !== '' && codePoints(text).every((character) => pattern.test(character));

/** The `is…` methods of str. */
export const TEXT_PREDICATES: Readonly<Record<string, (text: string) => boolean>> = {
  isalpha: (text) => every(text, /\p{L}/u),
  isdecimal: (text) => every(text, /\p{Nd}/u),
  isdigit: (text) => every(text, DIGIT),
  isnumeric: (text) => every(text, NUMERIC),
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
