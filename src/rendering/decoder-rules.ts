import { bytesOfToken } from './bpe-byte-alphabet.js';
import type { Decoder } from './decoder.js';
import { ByteDecoder } from './decoder-bytes.js';
import { type Piece, PieceDecoder, type PieceRules } from './decoder-pieces.js';
import { asObject } from './model-directory-fields.js';
import type { Component } from './tokenizer-definition.js';

/** A decoder as `tokenizer.json` describes it, `null` for a kind that only the library knows. @param tokens by id */
export function createDecoder(definition: Component | null | undefined, tokens: readonly (string | undefined)[]): Decoder | null {
  if (definition?.type === 'ByteLevel') {
    const encoder = new TextEncoder();
    // As in the Rust crate an added token is bytes too where its letters are the alphabet's.
    return new ByteDecoder(tokens.map((token) => (token === undefined ? undefined : (bytesOfToken(token) ?? encoder.encode(token)))));
  }
  if (definition?.type === 'Metaspace') return metaspaceDecoder(definition, tokens);
  if (definition?.type === 'Sequence' && Array.isArray(definition.decoders)) {
    const rules = sequenceRules(definition.decoders as readonly Component[], tokens);
    return rules === null ? null : new PieceDecoder(rules);
  }
  return null;
}

function metaspaceDecoder(definition: Component, tokens: readonly (string | undefined)[]): Decoder {
  const replacement = typeof definition.replacement === 'string' ? definition.replacement : '▁';
  const keepsFirst =
    definition.prepend_scheme === 'never' || (definition.prepend_scheme === undefined && definition.add_prefix_space === false);
  const pieces = tokens.map((token) => token?.replaceAll(replacement, ' '));
  return new PieceDecoder({
    pieces,
    firstPiece: (id) => (keepsFirst ? pieces[id] : tokens[id]?.replaceAll(replacement, '')),
    strip: { character: ' ', count: 0 },
  });
}

/** `Replace*, ByteFallback?, Fuse, Strip?` in this order (Llama 2, Gemma, Mistral), `null` for another sequence. */
function sequenceRules(parts: readonly Component[], tokens: readonly (string | undefined)[]): PieceRules | null {
  const rest = [...parts];
  const replacements: (readonly [string, string])[] = [];
  while (rest[0]?.type === 'Replace') {
    const { pattern, content } = rest.shift()!;
    const from = asObject(pattern)?.String;
    if (typeof from !== 'string' || typeof content !== 'string') return null;
    replacements.push([from, content]);
  }
  const hasBytes = rest[0]?.type === 'ByteFallback';
  if (hasBytes) rest.shift();
  if (rest.shift()?.type !== 'Fuse') return null;
  let strip = { character: ' ', count: 0 };
  if (rest[0]?.type === 'Strip') {
    const { content, start, stop } = rest.shift()!;
    if (typeof content !== 'string' || typeof start !== 'number' || (stop ?? 0) !== 0) return null;
    strip = { character: content, count: start };
  }
  if (rest.length > 0) return null;
  const pieces = tokens.map((token): Piece | undefined => {
    if (token === undefined) return undefined;
    let text = token;
    for (const [from, to] of replacements) text = text.replaceAll(from, to);
    const byte = hasBytes ? /^<0x([0-9A-Fa-f]{2})>$/.exec(text)?.[1] : undefined;
    return byte === undefined ? text : Number.parseInt(byte, 16);
  });
  return { pieces, firstPiece: (id) => pieces[id], strip };
}
