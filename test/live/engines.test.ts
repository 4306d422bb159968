import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RolloutGateway as Gateway, TraceRecord } from '../../src/gateway.js';
import { loadModelDirectory } from '../../src/rendering/model-directory.js';
import { loadTokenizer } from '../../src/rendering/tokenizer.js';
import { LIVE_DIR, type LiveEngine, liveTokenizerDir, startLiveEngine, whyNot } from '../support/live-engine.js';
import { type RecordedExchange, RecordingProxy } from '../support/recording-proxy.js';

type ChatMessage = OpenAI.Chat.ChatCompletionMessageParam & { reasoning_content?: string };

const TOOLS: OpenAI.Chat.ChatCompletionTool[] = [
  {
    type: 'function',
    function: {
      name: 'get_weather',
      description: 'Weather of a city, in °C & more',
      parameters: { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 1 } }, required: ['city'] },
    },
  },
];
const call = (city: string, days: number): string =>
  `<tool_call>\n{"name": "get_weather", "arguments": {"city": "${city}", "days": ${days}}}\n</tool_call>`;
/** What the scripted engine says, turn by turn; `|` parts sampled tokens where the tokenizer would not. */
const SCRIPT = [
  `<think>\nThe user wants two cities.\n</think>\n\nLet me look.\n${call('Paris', 1)}\n${call('Ōsaka', 2)}<|im_end|>`,
  `<think>\nOne more.\n</think>\n\n${call('Lima', 3)}<|im_end|>`,
  '<think>\nDone.\n</think>\n\nPa|ri|s is w|arm, Ōsaka rai|ny, Lima dry 🌦.<|im_end|>',
];
const MARK = 'weather episode 4711';

for (const name of ['vllm', 'sglang'] as const) {
  const reason = whyNot(name);
  if (reason !== null) process.stderr.write(`live tests of ${name} are skipped: ${reason}\n`);

  describe.skipIf(reason !== null)(`a real ${name} on the CPU`, () => {
    let engine: LiveEngine;
    let proxy: RecordingProxy;
    let gateway: Gateway;
    let url: string;

    beforeAll(async () => {
      // The engine reads its script at the first request, which its start sends.
      const script = join(LIVE_DIR, 'force-script.json');
      writeFileSync(script, JSON.stringify(forceScript(await liveTokenizerDir())));
      engine = await startLiveEngine(name, name === 'vllm' ? { FORCE_SCRIPT: script } : {});
      proxy = await RecordingProxy.start(engine.url, (path) => /generate|completions/.test(path));
      const { RolloutGateway } = (await import(String(new URL('../../dist/gateway.js', import.meta.url)))) as {
        RolloutGateway: typeof Gateway;
      };
      gateway = RolloutGateway.fromEngine({
        engineUrl: proxy.url,
        model: engine.modelDir,
        engine: name,
        settings: { shards: 1, log: { level: 'warn' } },
      });
      ({ url } = await gateway.start());
      await gateway.ready(120_000);
    });

    afterAll(async () => {
      await gateway?.close();
      await proxy?.close();
      await engine?.stop();
    });

    /** An agent's loop over Chat: sends the whole history each time and answers every call. */
    async function runAgent(sessionId: string, messages: ChatMessage[], turns: number, stream: boolean): Promise<ChatMessage[][]> {
      const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: sessionId, maxRetries: 0 });
      const prompts: ChatMessage[][] = [];
      for (let turn = 0; turn < turns; turn += 1) {
        prompts.push(structuredClone(messages));
        const body = { model: 'tiny', messages, tools: TOOLS, max_tokens: 120, temperature: 0.7 };
        const reply = stream
          ? (await client.chat.completions.stream(body).finalChatCompletion()).choices[0]!.message
          : (await client.chat.completions.create(body)).choices[0]!.message;
        const reasoning = (reply as { reasoning_content?: string | null }).reasoning_content;
        messages.push({
          role: 'assistant',
          content: reply.content,
          ...(reasoning == null ? {} : { reasoning_content: reasoning }),
          ...(reply.tool_calls === undefined ? {} : { tool_calls: reply.tool_calls }),
        } as ChatMessage);
        for (const { id } of reply.tool_calls ?? []) messages.push({ role: 'tool', tool_call_id: id, content: '{"temperature": 21.0}' });
        if (reply.tool_calls === undefined) messages.push({ role: 'user', content: `And then? (${turn})` });
      }
      return prompts;
    }

    async function expectEngineAndRowsAgree(rows: readonly TraceRecord[], exchanges: readonly RecordedExchange[]): Promise<void> {
      const key = (promptIds: readonly number[], ids: readonly number[]): string => `${promptIds.join()}|${ids.join()}`;
      const sampled = new Map<string, Sampled>();
      for (const exchange of exchanges) {
        const said = sampledOf(name, exchange);
        sampled.set(key(said.promptIds, said.ids), said);
      }
      let trained = 0;
      for (const row of rows) {
        const response = [...row.token_ids.subarray(row.prompt_length)];
        for (const turn of row.turns) {
          const ids = [...row.token_ids.subarray(turn.start, turn.end)];
          const said = sampled.get(key([...row.token_ids.subarray(0, turn.start)], ids));
          expect(said, `prompt and output of turn ${turn.turn_id} as the engine saw and said them`).toBeDefined();
          if (!turn.trained_here) continue;
          trained += 1;
          const at = turn.start - row.prompt_length;
          expect([...row.logprobs.subarray(at, at + ids.length)]).toEqual(said!.logprobs.map(Math.fround));
          expect([...row.loss_mask.subarray(at, at + ids.length)]).toEqual(ids.map(() => 1));
        }
        expect(response.length).toBe(row.response_length);
        expect([...row.loss_mask].reduce((sum, bit) => sum + bit, 0)).toBe(
          row.turns.filter((turn) => turn.trained_here).reduce((sum, turn) => sum + turn.end - turn.start, 0),
        );
      }
      expect(trained).toBe(exchanges.length);
    }

    test('every prompt equals apply_chat_template, and rows equal what the engine said', async () => {
      const before = proxy.exchanges.length;
      const turns = 3;
      const messages: ChatMessage[] = [
        { role: 'system', content: 'You are terse.' },
        { role: 'user', content: `${MARK}: how is the weather?` },
      ];
      const prompts = await runAgent('live-chat', messages, turns, name === 'sglang');
      const exchanges = proxy.exchanges.slice(before);
      expect(exchanges).toHaveLength(turns);
      const python = await applyChatTemplate(engine, prompts);
      const differences = exchanges.filter((exchange, at) => sampledOf(name, exchange).promptIds.join() !== python[at]?.join());
      // Where sampled ids are kept although the tokenizer would choose others, the text is the template's all the same.
      const tokenizer = loadTokenizer(loadModelDirectory(engine.modelDir));
      for (const [at, exchange] of exchanges.entries()) {
        expect(tokenizer.decode(sampledOf(name, exchange).promptIds)).toBe(tokenizer.decode(python[at]!));
      }
      const { traces, summary } = await gateway.sessions.finish('live-chat', { reward: 1 });
      if (name === 'vllm') {
        // The script is spelled as the template spells it: one row, nothing rewritten.
        expect(differences).toEqual([]);
        expect(traces).toHaveLength(1);
        expect(summary.forks).toEqual({});
        expect(traces[0]?.turns.map((turn) => turn.tool_calls)).toEqual([2, 1, 0]);
      }
      expect(sampledOf(name, exchanges[0]!).promptIds).toEqual(python[0]);
      await expectEngineAndRowsAgree(traces, exchanges);
      expect(summary.capture_yield).toBe(1);
      process.stderr.write(
        `${name}: chat, ${exchanges.length} turns, ${summary.tokens.sampled} sampled tokens, ${traces.length} rows, prompts unlike Python ${differences.length}, drift ${JSON.stringify(summary.drift)}\n`,
      );
    });

    test('Chat and Messages of one session land in one tree', async () => {
      const before = proxy.exchanges.length;
      const anthropic = new Anthropic({ baseURL: url, apiKey: 'live-mixed', maxRetries: 0 });
      const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'live-mixed', maxRetries: 0 });
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
      const { traces, summary } = await gateway.sessions.finish('live-mixed');
      expect(summary.turns).toBe(2);
      expect(new Set(traces.flatMap((row) => row.turns.map((turn) => turn.protocol)))).toEqual(
        new Set(['anthropic-messages', 'openai-chat']),
      );
      await expectEngineAndRowsAgree(traces, proxy.exchanges.slice(before));
    });

    test('many sessions at once keep apart', async () => {
      const before = proxy.exchanges.length;
      const ids = Array.from({ length: 8 }, (_, n) => `live-many-${n}`);
      await Promise.all(ids.map((id, n) => runAgent(id, [{ role: 'user', content: `Session ${n}: tell me.` }], 3, n % 2 === 0)));
      const exchanges = proxy.exchanges.slice(before);
      let turns = 0;
      let tokens = 0;
      const rows: TraceRecord[] = [];
      for (const id of ids) {
        const { traces, summary } = await gateway.sessions.finish(id);
        expect(summary.capture_yield).toBe(1);
        expect(summary.capture_error).toBeNull();
        rows.push(...traces);
        turns += summary.turns;
        tokens += summary.tokens.trained;
      }
      expect(turns).toBe(24);
      await expectEngineAndRowsAgree(rows, exchanges);
      process.stderr.write(`${name}: 8 sessions, ${turns} turns, ${tokens} trained tokens, differences 0\n`);
    });

    test('a client that leaves frees the engine', async () => {
      const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'live-abort', maxRetries: 0 });
      const abort = new AbortController();
      const pending = client.chat.completions.create(
        {
          model: 'tiny',
          messages: [{ role: 'user', content: 'Never end.' }],
          max_tokens: 1800,
          min_tokens: 1700,
        } as OpenAI.Chat.ChatCompletionCreateParamsNonStreaming,
        { signal: abort.signal },
      );
      await until(async () => (await running(engine)) > 0, 20_000);
      abort.abort();
      await expect(pending).rejects.toThrow();
      await until(async () => (await running(engine)) === 0, 5000);
      const { summary } = await gateway.sessions.finish('live-abort');
      expect(summary.turns).toBe(0);
      expect(summary.tokens.trained).toBe(0);
    });
  });
}

/** The script as ids; a `|` outside of a special token parts tokens where the tokenizer would not. */
function forceScript(tokenizerDir: string): { readonly when: readonly number[]; readonly turns: readonly (readonly number[])[] }[] {
  const tokenizer = loadTokenizer(loadModelDirectory(tokenizerDir));
  const turns = SCRIPT.map((text) => text.split(/(?<!<)\|(?!>)/).flatMap((part) => [...tokenizer.encode(part)]));
  return [{ when: [...tokenizer.encode(MARK)], turns }];
}

interface Sampled {
  readonly promptIds: number[];
  readonly ids: number[];
  readonly logprobs: number[];
}

/** What the engine itself was asked and answered, read without any code of ours. */
function sampledOf(name: LiveEngine['name'], { request, response }: RecordedExchange): Sampled {
  if (name === 'sglang') {
    const meta = response.meta_info as { output_token_logprobs: [number, number, string | null][] };
    return {
      promptIds: request.input_ids as number[],
      ids: response.output_ids as number[],
      logprobs: meta.output_token_logprobs.map(([logprob]) => logprob),
    };
  }
  const [choice] = response.choices as { token_ids: number[]; logprobs: { content: { logprob: number }[] } }[];
  return {
    promptIds: request.token_ids as number[],
    ids: choice!.token_ids,
    logprobs: choice!.logprobs.content.map(({ logprob }) => logprob),
  };
}

async function running(engine: LiveEngine): Promise<number> {
  if (engine.name === 'vllm') {
    const text = await (await fetch(`${engine.url}/metrics`)).text();
    return Number(/^vllm:num_requests_running\{[^}]*\} ([\d.]+)/m.exec(text)?.[1] ?? 0);
  }
  const loads = (await (await fetch(`${engine.url}/v1/loads?include=core`)).json()) as { loads?: { num_running_reqs?: number }[] };
  return (loads.loads ?? []).reduce((sum, load) => sum + (load.num_running_reqs ?? 0), 0);
}

async function until(condition: () => Promise<boolean>, timeoutMs: number): Promise<void> {
  const endMs = Date.now() + timeoutMs;
  while (!(await condition())) {
    if (Date.now() > endMs) throw new Error(`the condition did not come true within ${timeoutMs} ms`);
    await new Promise((done) => setTimeout(done, 50));
  }
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
