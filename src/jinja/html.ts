import type { Value } from './object.js';
import { str } from './repr.js';
import { splitSpaces } from './text-tools.js';
import { Markup } from './values.js';

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '>': '&gt;', '<': '&lt;', "'": '&#39;', '"': '&#34;' };

export function escapeHtml(text: string): string {
  return text.replace(/[&<>'"]/g, (character) => ENTITIES[character]!);
}

/** `markupsafe.escape(value)`. */
export function escapeValue(value: Value): Markup {
  return value instanceof Markup ? value : new Markup(escapeHtml(str(value)));
}

/** `markupsafe.Markup(text).striptags()`. */
export function stripTags(text: string): string {
  const parts: string[] = [];
  let position = 0;
  for (let start = text.indexOf('<'); start !== -1; start = text.indexOf('<', position)) {
    const comment = text.startsWith('<!--', start);
    const end = comment ? text.indexOf('-->', start + 4) : text.indexOf('>', start);
    if (end === -1) break;
    parts.push(text.slice(position, start));
    position = end + (comment ? 3 : 1);
  }
  if (position > 0) parts.push(text.slice(position));
  return unescapeHtml(splitSpaces(position > 0 ? parts.join('') : text, -1, false).join(' '));
}

const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\xa0',
  copy: '©',
  reg: '®',
  laquo: '«',
  raquo: '»',
  hellip: '…',
  mdash: '—',
  ndash: '–',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  times: '×',
  euro: '€',
  middot: '·',
  bull: '•',
  trade: '™',
  deg: '°',
  AMP: '&',
  LT: '<',
  GT: '>',
  QUOT: '"',
};

/** Numeric references and the commonest named ones; the other two thousand names are left as they are. */
function unescapeHtml(text: string): string {
  return text.replace(/&(?:#([0-9]+);?|#[xX]([0-9a-fA-F]+);?|([A-Za-z]+);)/g, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return NAMED[name] ?? whole;
    const code = decimal !== undefined ? Number(decimal) : Number.parseInt(hex!, 16);
    if (code === 0 || (code >= 0xd800 && code < 0xe000) || code > 0x10ffff) return '\ufffd';
    return String.fromCodePoint(code);
  });
}
