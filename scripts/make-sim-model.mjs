// Writes the model directory of the simulated engine, src/sim/model: a byte-level BPE tokenizer whose merges are learned
// from scripts/sim-model-corpus.txt, and the configuration files that belong to it. The chat template there is written by hand.
//
//   node scripts/make-sim-model.mjs [--check]     --check only compares, and ends with 1 where a file differs
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';

const MERGES = 768;
/** Rows of the embedding; those behind the last token are padding, as real models have. */
const VOCAB_SIZE = 1088;
const CONTEXT_TOKENS = 131072;
const PIECES = '[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+';
const ADDED = [
  ['<|endoftext|>', true],
  ['<|im_start|>', true],
  ['<|im_end|>', true],
  ['<think>', false],
  ['</think>', false],
  ['<tool_call>', false],
  ['</tool_call>', false],
  ['<tool_response>', false],
  ['</tool_response>', false],
];

/** The printable stand-in of every byte, as byte-level tokenizers spell them. */
function byteAlphabet() {
  const letters = [];
  let spare = 256;
  for (let byte = 0; byte < 256; byte++) {
    const printable = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
    letters.push(String.fromCharCode(printable ? byte : spare++));
  }
  return letters;
}

/** Learns `count` merges: the most frequent pair each time, the alphabetically first of equals. */
function learnMerges(text, letters, count) {
  const words = new Map();
  for (const [piece] of text.matchAll(new RegExp(PIECES, 'gu'))) {
    const spelled = [...Buffer.from(piece)].map((byte) => letters[byte]);
    const word = words.get(piece) ?? { parts: spelled, times: 0 };
    word.times++;
    words.set(piece, word);
  }
  const merges = [];
  while (merges.length < count) {
    const pairs = new Map();
    for (const { parts, times } of words.values()) {
      for (let i = 1; i < parts.length; i++) {
        const pair = `${parts[i - 1]} ${parts[i]}`;
        pairs.set(pair, (pairs.get(pair) ?? 0) + times);
      }
    }
    let best = null;
    for (const [pair, times] of pairs) {
      if (best === null || times > best.times || (times === best.times && pair < best.pair)) best = { pair, times };
    }
    if (best === null) break;
    const [left, right] = best.pair.split(' ');
    merges.push([left, right]);
    for (const word of words.values()) {
      const parts = [];
      for (const part of word.parts) {
        if (part === right && parts.at(-1) === left && !parts.merged) {
          parts[parts.length - 1] = left + right;
          parts.merged = true;
        } else {
          parts.push(part);
          parts.merged = false;
        }
      }
      word.parts = parts;
    }
  }
  return merges;
}

/** The text of every generated file by its name. */
export function simModelFiles() {
  const corpus = readFileSync(new URL('sim-model-corpus.txt', import.meta.url), 'utf8');
  const letters = byteAlphabet();
  const merges = learnMerges(corpus, letters, MERGES);
  const vocab = {};
  for (const letter of letters) vocab[letter] = Object.keys(vocab).length;
  for (const [left, right] of merges) vocab[left + right] ??= Object.keys(vocab).length;
  const first = Object.keys(vocab).length;
  const flags = { single_word: false, lstrip: false, rstrip: false, normalized: false };
  const added = ADDED.map(([content, special], i) => ({ id: first + i, content, ...flags, special }));
  const id = (content) => added.find((token) => token.content === content).id;
  const json = (value) => `${JSON.stringify(value, null, 1)}\n`;
  return {
    'tokenizer.json': json({
      version: '1.0',
      truncation: null,
      padding: null,
      added_tokens: added,
      normalizer: null,
      pre_tokenizer: {
        type: 'Sequence',
        pretokenizers: [
          { type: 'Split', pattern: { Regex: PIECES }, behavior: 'Isolated', invert: false },
          { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false },
        ],
      },
      post_processor: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false },
      decoder: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false },
      model: {
        type: 'BPE',
        dropout: null,
        unk_token: null,
        continuing_subword_prefix: '',
        end_of_word_suffix: '',
        fuse_unk: false,
        byte_fallback: false,
        ignore_merges: false,
        vocab,
        merges,
      },
    }),
    'tokenizer_config.json': json({
      tokenizer_class: 'PreTrainedTokenizerFast',
      add_bos_token: false,
      add_prefix_space: false,
      added_tokens_decoder: Object.fromEntries(added.map(({ id: key, ...token }) => [key, token])),
      additional_special_tokens: ['<|im_start|>', '<|im_end|>'],
      bos_token: null,
      clean_up_tokenization_spaces: false,
      eos_token: '<|im_end|>',
      model_max_length: CONTEXT_TOKENS,
      pad_token: '<|endoftext|>',
      unk_token: null,
    }),
    'config.json': json({
      architectures: ['SimulatedForCausalLM'],
      model_type: 'simulated',
      vocab_size: VOCAB_SIZE,
      max_position_embeddings: CONTEXT_TOKENS,
      eos_token_id: id('<|im_end|>'),
      pad_token_id: id('<|endoftext|>'),
    }),
    'generation_config.json': json({ eos_token_id: [id('<|im_end|>'), id('<|endoftext|>')], pad_token_id: id('<|endoftext|>') }),
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for (const [name, text] of Object.entries(simModelFiles())) {
    const path = fileURLToPath(new URL(`../src/sim/model/${name}`, import.meta.url));
    if (process.argv.includes('--check')) {
      if (readFileSync(path, 'utf8') === text) continue;
      console.error(`${path} is not what scripts/make-sim-model.mjs writes: run it without --check`);
      process.exitCode = 1;
    } else writeFileSync(path, text);
  }
}
