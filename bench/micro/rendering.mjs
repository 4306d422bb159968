// Rendering, encoding and decoding a conversation of 25 turns: `npm run build && node bench/micro/rendering.mjs`.
// MODEL names a model directory (default: the Qwen3 tokenizer that the load bench fetches, else the embedded model); DIST another
// folder of compiled files.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { bench, do_not_optimize, group, run } from 'mitata';
import { benchModel } from '../load/model.mjs';

const dist = new URL(process.env.DIST ?? '../../dist/', import.meta.url);
const { loadModel } = await import(new URL('rendering/model.js', dist));
const path = process.env.MODEL ?? benchModel('embedded');
const { tokenizer, renderer } = loadModel({
  model: path,
  family: null,
  reasoning: 'auto',
  templateInput: 'transformers-5.24',
  templateKwargs: '{}',
});

const undici = dirname(createRequire(import.meta.url).resolve('undici/package.json'));
const source = ['README.md', 'lib/dispatcher/client-h1.js', 'lib/web/fetch/index.js']
  .map((name) => readFileSync(join(undici, name), 'utf8'))
  .join('\n');
const TURNS = 25;
const piece = (turn) => source.slice((turn * 9000) % (source.length - 12_000)).slice(0, 12_000);
const messages = Array.from({ length: TURNS }, (_, turn) => [
  { role: 'user', content: piece(turn) },
  { role: 'assistant', content: `I read part ${turn} and go on.`, reasoning: null, toolCalls: [] },
]).flat();
const conversation = { messages, tools: [], templateKwargs: new Map(), addGenerationPrompt: true, nowMs: 0 };
const text = renderer.render(conversation);
const ids = tokenizer.encode(text);
console.log(
  `${path}: ${text.length} characters, ${ids.length} tokens; encoder ${tokenizer.fastPath ?? 'library'} (${tokenizer.fastPathReason})`,
);

group('rendering', () => {
  bench('render 50 messages', () => do_not_optimize(renderer.render(conversation)));
});
group('tokens', () => {
  bench('encode the whole prompt', () => do_not_optimize(tokenizer.encode(text)));
  bench('encode one new message', () => do_not_optimize(tokenizer.encode(piece(3))));
  bench('decode 4,000 tokens', () => do_not_optimize(tokenizer.decode(ids.subarray(0, 4000))));
});
await run({ format: process.env.MITATA_FORMAT ?? 'mitata' });
