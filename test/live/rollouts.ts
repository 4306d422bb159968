import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { TraceRecord } from '../../src/gateway.js';
import { loadModelDirectory } from '../../src/rendering/model-directory.js';
import { loadTokenizer } from '../../src/rendering/tokenizer.js';
import { type ChatMessage, runLiveAgent, TOOLS } from '../support/live-agent.js';
import { expectRowsHoldAnswers, sampledOf } from '../support/live-books.js';
import type { LiveEngine } from '../support/live-engine.js';
import { type LiveSuite, sampledSince, tell } from '../support/live-flow.js';

const call = (city: string, days: number): string =>
  `<tool_call>\n{"name": "get_weather", "arguments": {"city": "${city}", "days": ${days}}}\n</tool_call>`;
/** What the scripted engine says, turn by turn; `|` parts sampled tokens where the tokenizer would not. */
const SCRIPT = [
  `<think>\nThe user wants two cities.\n</think>\n\nLet me look.\n${call('Paris', 1)}\n${call('Ōsaka', 2)}<|im_end|>`,
  `<think>\nOne more.\n</think>\n\n${call('Lima', 3)}<|im_end|>`,
  '<think>\nDone.\n</think>\n\nPa|ri|s is w|arm, Ōsaka rai|ny, Lima dry 🌦.<|im_end|>',
];
const MARK = 'weather episode 4711';

/** The script as ids; a `|` outside of a special token parts tokens where the tokenizer would not. */
export function forceScript(tokenizerDir: string): { readonly when: readonly number[]; readonly turns: readonly (readonly number[])[] }[] {
  const tokenizer = loadTokenizer(loadModelDirectory(tokenizerDir));
  const turns = SCRIPT.map((text) => text.split(/(?<!<)\|(?!>)/).flatMap((part) => [...tokenizer.encode(part)]));
  return [{ when: [...tokenizer.encode(MARK)], turns }];
}

/** Whole rollouts of agents: prompts as Python makes them, rows as the engine said them. */
export function rolloutTests(live: LiveSuite): void {
  const { name } = live;

  test('every prompt equals apply_chat_template, and rows equal what the engine said', async () => {
    const before = live.flow.proxy.exchanges.length;
    const turns = 3;
    const messages: ChatMessage[] = [
      { role: 'system', content: 'You are terse.' },
      { role: 'user', content: `${MARK}: how is the weather?` },
    ];
    const prompts = await runLiveAgent(live.flow, { key: 'live-chat', messages, turns, stream: name === 'sglang' });
    const exchanges = sampledSince(live.flow, before);
    expect(exchanges).toHaveLength(turns);
    const python = await applyChatTemplate(live.engine, prompts);
    const differences = exchanges.filter((exchange, at) => sampledOf(name, exchange).promptIds.join() !== python[at]?.join());
    // Where sampled ids are kept although the tokenizer would choose others, the text is the template's all the same.
    const tokenizer = loadTokenizer(loadModelDirectory(live.engine.modelDir));
    for (const [at, exchange] of exchanges.entries()) {
      expect(tokenizer.decode(sampledOf(name, exchange).promptIds)).toBe(tokenizer.decode(python[at]!));
    }
    const { traces, summary } = await live.flow.gateway.sessions.finish('live-chat', { reward: 1 });
    if (name === 'vllm') {
      // The script is spelled as the template spells it: one row, nothing rewritten.
      expect(differences).toEqual([]);
      expect(traces).toHaveLength(1);
      expect(summary.forks).toEqual({});
      expect(traces[0]?.turns.map((turn) => turn.tool_calls)).toEqual([2, 1, 0]);
    }
    expect(sampledOf(name, exchanges[0]!).promptIds).toEqual(python[0]);
    expectRowsHoldAnswers(
      traces,
      exchanges.map((exchange) => sampledOf(name, exchange)),
    );
    expect(summary.capture_yield).toBe(1);
    tell(
      name,
      `chat, ${exchanges.length} turns, ${summary.tokens.sampled} sampled tokens, ${traces.length} rows, prompts unlike Python ${differences.length}, drift ${JSON.stringify(summary.drift)}`,
    );
  });

  test('Chat and Messages of one session land in one tree', async () => {
    const before = live.flow.proxy.exchanges.length;
    const anthropic = live.flow.anthropic('live-mixed');
    const openai = live.flow.openai('live-mixed');
    const question = { role: 'user' as const, content: 'Say something long.' };
    const first = await anthropic.messages.create({ model: 'tiny', max_tokens: 24, messages: [question] });
    const text = first.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
    const thinking = first.content.map((block) => (block.type === 'thinking' ? block.thinking : '')).join('');
    await openai.chat.completions.create({
      model: 'tiny',
      max_tokens: 24,
      messages: [
        question,
        { role: 'assistant', content: text, ...(thinking === '' ? {} : { reasoning_content: thinking }) } as ChatMessage,
        { role: 'user', content: 'Go on.' },
      ],
    });
    const { traces, summary } = await live.flow.gateway.sessions.finish('live-mixed');
    expect(summary.turns).toBe(2);
    expect(new Set(traces.flatMap((row) => row.turns.map((turn) => turn.protocol)))).toEqual(
      new Set(['anthropic-messages', 'openai-chat']),
    );
    expectRowsHoldAnswers(
      traces,
      sampledSince(live.flow, before).map((exchange) => sampledOf(name, exchange)),
    );
  });

  test('many sessions at once keep apart', async () => {
    const before = live.flow.proxy.exchanges.length;
    const ids = Array.from({ length: 8 }, (_, n) => `live-many-${n}`);
    await Promise.all(
      ids.map((key, n) =>
        runLiveAgent(live.flow, { key, messages: [{ role: 'user', content: `Session ${n}: tell me.` }], turns: 3, stream: n % 2 === 0 }),
      ),
    );
    const exchanges = sampledSince(live.flow, before);
    let turns = 0;
    let tokens = 0;
    const rows: TraceRecord[] = [];
    for (const id of ids) {
      const { traces, summary } = await live.flow.gateway.sessions.finish(id);
      expect(summary.capture_yield).toBe(1);
      expect(summary.capture_error).toBeNull();
      rows.push(...traces);
      turns += summary.turns;
      tokens += summary.tokens.trained;
    }
    expect(turns).toBe(24);
    expectRowsHoldAnswers(
      rows,
      exchanges.map((exchange) => sampledOf(name, exchange)),
    );
    tell(name, `8 sessions, ${turns} turns, ${tokens} trained tokens, differences 0`);
  });
}

function applyChatTemplate(engine: LiveEngine, prompts: readonly ChatMessage[][]): Promise<number[][]> {
  return new Promise((resolve, reject) => {
    const script = join(import.meta.dirname, 'apply_chat_template.py');
    const child = execFile(engine.python, [script, engine.modelDir], { maxBuffer: 1 << 26 }, (error, stdout) => {
      if (error !== null) reject(error);
      else
        resolve(
          stdout
            .trim()
            .split('\n')
            .map((line) => (JSON.parse(line) as { ids: number[] }).ids),
        );
    });
    child.stdin?.end(prompts.map((messages) => `${JSON.stringify({ messages, tools: TOOLS })}\n`).join(''));
  });
}
