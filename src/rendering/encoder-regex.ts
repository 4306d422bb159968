/**
 * The regular expressions of pre-tokenizers (Oniguruma's syntax) as a tree, for what an automaton can match: letters, classes,
 * groups, alternatives, greedy and lazy repetition, and a look at one following character.
 */
export type RegexNode =
  /** One character of a class; `source` is the class as a JavaScript regular expression with the flag `u`. */
  | { readonly kind: 'class'; readonly source: string }
  | { readonly kind: 'sequence'; readonly items: readonly RegexNode[] }
  | { readonly kind: 'choice'; readonly options: readonly RegexNode[] }
  | { readonly kind: 'repeat'; readonly item: RegexNode; readonly min: number; readonly max: number; readonly greedy: boolean }
  /** Looks at the next character without taking it; `negated` also holds at the end of the text. */
  | { readonly kind: 'ahead'; readonly source: string; readonly negated: boolean };

/** Something that the automaton cannot match; the library takes over. */
export class UnsupportedPattern extends Error {}

const SHORTHANDS: Readonly<Record<string, string>> = {
  s: '\\p{White_Space}',
  S: '\\P{White_Space}',
  d: '\\p{Nd}',
  D: '\\P{Nd}',
  r: '\\r',
  n: '\\n',
  t: '\\t',
  f: '\\f',
  v: '\\v',
};
const REPEAT_MAX = 64;

/** @throws UnsupportedPattern */
export function parseRegex(pattern: string): RegexNode {
  const parser = new RegexParser(pattern);
  const node = parser.choice(false);
  if (!parser.isAtEnd) throw new UnsupportedPattern(`an unmatched ) in ${pattern}`);
  return node;
}

/** The tree of a literal text. */
export function literalRegex(text: string): RegexNode {
  return { kind: 'sequence', items: Array.from(text, (character) => ({ kind: 'class', source: `[${escapeInClass(character)}]` })) };
}

class RegexParser {
  private at = 0;
  private readonly characters: readonly string[];

  constructor(private readonly pattern: string) {
    this.characters = Array.from(pattern);
  }

  get isAtEnd(): boolean {
    return this.at >= this.characters.length;
  }

  choice(ignoreCase: boolean): RegexNode {
    const options = [this.sequence(ignoreCase)];
    while (this.take('|')) options.push(this.sequence(ignoreCase));
    return options.length === 1 ? options[0]! : { kind: 'choice', options };
  }

  private sequence(ignoreCase: boolean): RegexNode {
    const items: RegexNode[] = [];
    while (!this.isAtEnd && this.peek() !== '|' && this.peek() !== ')') items.push(this.repeated(this.atom(ignoreCase)));
    return items.length === 1 ? items[0]! : { kind: 'sequence', items };
  }

  private repeated(item: RegexNode): RegexNode {
    const bounds = this.bounds();
    if (bounds === null) return item;
    if (item.kind === 'ahead') throw this.unsupported('a repeated look-ahead');
    if (this.peek() === '+') throw this.unsupported('a possessive quantifier');
    const greedy = !this.take('?');
    if ('?*+{'.includes(this.peek() || ' ')) throw this.unsupported('a quantifier of a quantifier');
    return { kind: 'repeat', item, min: bounds[0], max: bounds[1], greedy };
  }

  private bounds(): readonly [number, number] | null {
    if (this.take('?')) return [0, 1];
    if (this.take('*')) return [0, Number.POSITIVE_INFINITY];
    if (this.take('+')) return [1, Number.POSITIVE_INFINITY];
    if (this.peek() !== '{') return null;
    const text = this.characters.slice(this.at).join('');
    const match = /^\{(\d+)(?:(,)(\d*))?\}/.exec(text);
    if (match === null) throw this.unsupported('a brace that is no quantifier');
    this.at += match[0].length;
    const min = Number(match[1]);
    const max = match[2] === undefined ? min : match[3] === '' ? Number.POSITIVE_INFINITY : Number(match[3]);
    if (min > REPEAT_MAX || (max > REPEAT_MAX && max !== Number.POSITIVE_INFINITY) || max < min) throw this.unsupported(match[0]);
    return [min, max];
  }

  private atom(ignoreCase: boolean): RegexNode {
    const character = this.next();
    if (character === '(') return this.group(ignoreCase);
    if (character === '[') return { kind: 'class', source: this.classSource(ignoreCase) };
    if (character === '.') return { kind: 'class', source: '[^\\n]' };
    if (character === '\\') return { kind: 'class', source: `[${this.escape(false)}]` };
    if ('^$*+?{'.includes(character)) throw this.unsupported(character);
    return { kind: 'class', source: `[${ignoreCase ? bothCases(character) : escapeInClass(character)}]` };
  }

  private group(ignoreCase: boolean): RegexNode {
    let folds = ignoreCase;
    let look: 'negative' | 'positive' | null = null;
    if (this.take('?')) {
      if (this.take('=')) look = 'positive';
      else if (this.take('!')) look = 'negative';
      else {
        if (this.take('i')) folds = true;
        if (!this.take(':')) throw this.unsupported('this kind of group');
      }
    }
    const node = this.choice(folds);
    if (!this.take(')')) throw this.unsupported('an unmatched (');
    if (look === null) return node;
    if (node.kind !== 'class') throw this.unsupported('a look-ahead over more than one character');
    return { kind: 'ahead', source: node.source, negated: look === 'negative' };
  }

  private classSource(ignoreCase: boolean): string {
    let source = this.take('^') ? '^' : '';
    let isFirst = true;
    while (isFirst || this.peek() !== ']') {
      if (this.isAtEnd) throw this.unsupported('an unmatched [');
      const character = this.next();
      if (character === '[' || (character === '&' && this.peek() === '&')) throw this.unsupported('a class of classes');
      if (character === '\\') source += this.escape(true);
      else if (character === '-' && (isFirst || this.peek() === ']')) source += '\\-';
      else if (character === '-') source += '-';
      else source += ignoreCase && this.peek() !== '-' ? bothCases(character) : escapeInClass(character);
      if (ignoreCase && character === '-' && this.peek() !== ']') throw this.unsupported('a range that ignores case');
      isFirst = false;
    }
    this.at++;
    return `[${source}]`;
  }

  /** An escape as a part of a JavaScript class. */
  private escape(inClass: boolean): string {
    const character = this.next();
    if (character === 'p' || character === 'P') return this.property(character);
    const shorthand = SHORTHANDS[character];
    if (shorthand !== undefined) return shorthand;
    if (character === 'x' || character === 'u') {
      const digits = character === 'x' ? 2 : 4;
      const hex = this.characters.slice(this.at, this.at + digits).join('');
      if (!new RegExp(`^[0-9A-Fa-f]{${digits}}$`).test(hex)) throw this.unsupported(`\\${character}`);
      this.at += digits;
      return `\\u{${hex}}`;
    }
    if (/[A-Za-z0-9]/.test(character)) throw this.unsupported(`\\${character}${inClass ? ' in a class' : ''}`);
    return escapeInClass(character);
  }

  private property(kind: string): string {
    if (!this.take('{')) throw this.unsupported(`\\${kind} without braces`);
    let name = '';
    while (!this.isAtEnd && this.peek() !== '}') name += this.next();
    this.at++;
    for (const candidate of [name, `Script=${name}`]) {
      try {
        new RegExp(`\\p{${candidate}}`, 'u');
        return `\\${kind}{${candidate}}`;
      } catch {}
    }
    throw this.unsupported(`\\${kind}{${name}}`);
  }

  private peek(): string {
    return this.characters[this.at] ?? '';
  }

  private next(): string {
    if (this.isAtEnd) throw this.unsupported('an end in the middle');
    return this.characters[this.at++]!;
  }

  private take(character: string): boolean {
    if (this.characters[this.at] !== character) return false;
    this.at++;
    return true;
  }

  private unsupported(what: string): UnsupportedPattern {
    return new UnsupportedPattern(`${what} at character ${this.at} of ${this.pattern}`);
  }
}

function escapeInClass(character: string): string {
  return /[\\\][^\-/]/.test(character) ? `\\${character}` : character;
}

function bothCases(character: string): string {
  if (!/^[\0-\x7f]$/.test(character)) throw new UnsupportedPattern(`${character} where case is ignored`);
  return /[A-Za-z]/.test(character) ? character.toLowerCase() + character.toUpperCase() : escapeInClass(character);
}
