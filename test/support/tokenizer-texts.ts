/** A small seeded generator of numbers in [0, 1), so that a failing text can be made again. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const SNIPPETS: readonly string[] = [
  'Hello, world!',
  "don't we'll I'M they'Ve it'S 'tis",
  'x = a . b ;',
  '  four   spaces    here',
  '\t\tindented\r\n\r\n\n',
  '\u00a0\u2003\u3000wide\u2028lines\u2029',
  '12345678 3.14159 1,000,000 ٣٤٥ ⅷ ²³',
  'https://example.com/a/b?c=d&e=%20#f',
  '{"a": [1, 2.5, null], "b\\n": "c"}',
  'function f(x) {\n  return x ** 2;\n}\n\n\n',
  '你好，世界。今天天气很好',
  'こんにちは世界カタカナ',
  '안녕하세요 세계',
  'Привет, мир',
  'שלום עולם',
  'مرحبا بالعالم',
  'नमस्ते दुनिया',
  'สวัสดีชาวโลก',
  '👩‍👩‍👧‍👦🏳️‍🌈👍🏽',
  '𝒳𝔶𝓩 𐐷 𠮷野家',
  'e\u0301 n\u0303 a\u0323\u0307 \u0301x',
  'ﬁ ﬀ ſ ß ẞ İ ı K Å',
  "'ſ 'ſx it'ſ 'K 'ﬆ",
  '\u0000\u0001\u0007\u001b[0m\u007f\u0085\ufeff',
  '<b>bold</b> <table><tr>',
  '-----=====*****/////',
  '。。。、、、！！！',
  'aAbBcC camelCaseWord HTMLParser XMLHttpRequest2',
  '\n',
  ' ',
  '  \n  \n',
  '\r',
  'ab\ncd\re\r\nf',
  '▁▁ ▁x',
  '<0x41> <0xE2><0x82>',
  '[INST] [/INST] [gMASK]',
  '<|endoftext|',
  '<|im_',
  '<unk>',
  '``` ```python\n',
  '…—–“”‘’',
  'ÀÉÎÕÜ àéîõü',
  'Ⅷ ㊗ ﷺ',
  '\u200b\u200d\u2060',
];

function randomCharacter(random: () => number): string {
  const kind = Math.floor(random() * 10);
  const pick = (from: number, to: number): string => String.fromCodePoint(from + Math.floor(random() * (to - from)));
  if (kind < 3) return pick(0x20, 0x7f);
  if (kind === 3) return [' ', ' ', '\n', '\t', '\r\n', '  '][Math.floor(random() * 6)]!;
  if (kind === 4) return pick(0xa0, 0x250);
  if (kind === 5) return pick(0x300, 0x600);
  if (kind === 6) return pick(0x2000, 0x2c00);
  if (kind === 7) return pick(0x3040, 0xa000);
  if (kind === 8) return pick(0x1f300, 0x1fa00);
  return "'stremvldSTREMVLD0123456789.,;:!?(){}[]<>|/\\_-"[Math.floor(random() * 46)]!;
}

/**
 * Texts that tokenizers tend to disagree on: snippets of many scripts and kinds glued together, random characters, long runs, and
 * strings of special tokens, whole and cut. Well-formed, without code points that Unicode 16 or 17 brought.
 */
export function adversarialTexts(count: number, specials: readonly string[], seed: number): readonly string[] {
  const random = seededRandom(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const texts: string[] = ['', ...SNIPPETS];
  while (texts.length < count) {
    let text = '';
    const parts = 1 + Math.floor(random() * 12);
    for (let p = 0; p < parts; p++) {
      const kind = random();
      if (kind < 0.35) text += pick(SNIPPETS);
      else if (kind < 0.6) for (let n = Math.floor(random() * 20); n >= 0; n--) text += randomCharacter(random);
      else if (kind < 0.75 && specials.length > 0) {
        const special = pick(specials);
        text += random() < 0.7 ? special : special.slice(0, Math.ceil(random() * special.length));
      } else if (kind < 0.85)
        text += pick([' ', '\n', 'a', 'あ', '=', '1', '\u0301', ' \n', '👍', '漢字']).repeat(1 + Math.floor(random() * 60));
      else text += pick(['', ' ', '\n', ' a', 'a ']);
    }
    texts.push(text);
  }
  return texts.slice(0, count);
}

/** Texts that are one long piece or many tiny ones, each about `length` characters: what tokenizers are slow on. */
export function pathologicalTexts(length: number): readonly string[] {
  const random = seededRandom(9);
  const letters = Array.from({ length }, () => String.fromCharCode(97 + Math.floor(random() * 26))).join('');
  const han = Array.from({ length }, () => String.fromCodePoint(0x4e00 + Math.floor(random() * 20000))).join('');
  const runs = ['a', '\n', ' ', 'あ', '👍', '\u0301', '1', '=', '<|', ' \n', "'s", '.\n'].map((unit) => unit.repeat(length / unit.length));
  return [...runs, letters, han, letters.replace(/.{7}/g, '$& ')];
}
