import { escapeHtml } from './html.js';
import { raise } from './python-error.js';
import { repr } from './repr.js';
import { codePoints, PY_SPACE } from './text-tools.js';

interface LinkOptions {
  /** Longest text of a link; `null` = any. */
  readonly limit: number | null;
  readonly nofollow: boolean;
  readonly target: string | null;
  readonly rel: string;
  readonly schemes: readonly string[];
}

const W = '[\\p{L}\\p{N}_%-]';
const HTTP = new RegExp(
  `^(?:(?:https?://|www\\.)(?:(?:${W}+\\.)+)?(?:[a-z]{2,63}|xn--[\\p{L}\\p{N}_%]{2,59})|(?:${W}{2,63}\\.)+(?:com|net|int|edu|gov|org|info|mil)|` +
    `https?://(?:\\d{1,3}(?:\\.\\d{1,3}){3}|\\[(?:[\\da-f]{0,4}:){2}(?:[\\da-f]{0,4}:?){1,6}\\]))(?::\\d{1,5})?(?:[/?#][^${PY_SPACE}]*)?\\n?$`,
  'iu',
);
const EMAIL = new RegExp(`^[^${PY_SPACE}]+@[\\p{L}\\p{N}_][\\p{L}\\p{N}_.-]*\\.[\\p{L}\\p{N}_]+\\n?$`, 'u');
const SCHEME = /^[\p{L}\p{N}_.+-]{2,}:\/{0,2}$/u;
const PAIRS: readonly (readonly [string, string])[] = [
  ['(', ')'],
  ['<', '>'],
  ['&lt;', '&gt;'],
];

const count = (text: string, part: string): number => text.split(part).length - 1;

/** jinja2's `urlize`: escapes the text and turns addresses in it into links. */
export function urlize(text: string, options: LinkOptions): string {
  for (const scheme of options.schemes)
    if (!SCHEME.test(scheme)) raise('FilterArgumentError', `${repr(scheme)} is not a valid URI scheme prefix.`);
  const rels = new Set([...options.rel.split(/\s+/).filter(Boolean), ...(options.nofollow ? ['nofollow'] : []), 'noopener']);
  const rel = ` rel="${escapeHtml([...rels].sort().join(' '))}"`;
  const target = options.target ? ` target="${escapeHtml(options.target)}"` : '';
  return escapeHtml(text)
    .split(new RegExp(`([${PY_SPACE}]+)`))
    .map((word) => linked(word, rel + target, options))
    .join('');
}

function linked(word: string, attributes: string, options: LinkOptions): string {
  const head = /^(?:[(<]|&lt;)+/.exec(word)?.[0] ?? '';
  let middle = word.slice(head.length);
  let tail = /(?:[)>.,\n]|&gt;)+$/.exec(middle)?.[0] ?? '';
  middle = middle.slice(0, middle.length - tail.length);
  for (const [open, close] of PAIRS) {
    const opened = count(middle, open);
    if (opened <= count(middle, close)) continue;
    for (let round = Math.min(opened, count(tail, close)); round > 0; round--) {
      const end = tail.indexOf(close) + close.length;
      middle += tail.slice(0, end);
      tail = tail.slice(end);
    }
  }
  return head + link(middle, attributes, options) + tail;
}

function link(text: string, attributes: string, { limit, schemes }: LinkOptions): string {
  const shown = limit !== null && codePoints(text).length > limit ? `${codePoints(text).slice(0, limit).join('')}...` : text;
  if (HTTP.test(text)) {
    const address = text.startsWith('https://') || text.startsWith('http://') ? text : `https://${text}`;
    return `<a href="${address}"${attributes}>${shown}</a>`;
  }
  if (text.startsWith('mailto:') && EMAIL.test(text.slice(7))) return `<a href="${text}">${text.slice(7)}</a>`;
  if (text.includes('@') && !text.startsWith('www.') && !text.startsWith('@') && !text.includes(':') && EMAIL.test(text))
    return `<a href="mailto:${text}">${text}</a>`;
  let result = text;
  for (const scheme of schemes)
    if (result !== scheme && result.startsWith(scheme)) result = `<a href="${result}"${attributes}>${result}</a>`;
  return result;
}
