/** Bodies of requests that no cache helps with: real lines whose words were changed, counted with the model's own tokenizer. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Tokenizer } from '@huggingface/tokenizers';
import { TOOLS } from './cells.mjs';
import { loadTexts } from './texts.mjs';

const LONG_WORD = /[a-z]{5,}/g;
/** What the template puts around a message. */
const FRAME_TOKENS = 5;

/**
 * @returns makes a body of about so many tokens in so many messages; another `seed` gives other words
 */
export function coldPrompts(modelDir) {
  const texts = loadTexts(modelDir);
  const read = (name) => JSON.parse(readFileSync(join(modelDir, name), 'utf8'));
  const tokenizer = new Tokenizer(read('tokenizer.json'), read('tokenizer_config.json'));
  const count = (text) => tokenizer.encode(text, { add_special_tokens: false }).ids.length;
  return ({ tokens, messages, seed, protocol = 'chat', replyTokens = 16 }) => {
    const told = [];
    const share = tokens / messages;
    let line = seed * 997;
    let said = '';
    let counted = messages * FRAME_TOKENS;
    while (told.length < messages) {
      const letter = String.fromCharCode(97 + ((seed * 7 + line) % 26));
      const text = `${texts.lines[line++ % texts.lines.length].replace(LONG_WORD, (word) => `${word.slice(0, 2)}${letter}${word.slice(2)}`)}\n`;
      said += text;
      counted += count(text);
      if (counted - (messages - told.length - 1) * FRAME_TOKENS < share * (told.length + 1)) continue;
      const isUser = (messages - told.length) % 2 === 1;
      told.push({ role: isUser ? 'user' : 'assistant', content: said });
      said = '';
    }
    return Buffer.from(JSON.stringify({ model: 'bench', messages: told, tools: TOOLS[protocol], max_tokens: replyTokens, temperature: 1 }));
  };
}
