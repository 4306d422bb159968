import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AssistantMessage, Message, ToolDefinition } from '../../src/canonical/message.js';
import type { TraceRecord } from '../../src/canonical/trace.js';
import type { Reply } from '../../src/sim/reply.js';
import { NO_FACTS, rowRecord } from '../../src/trajectory/row-record.js';
import { planRows, summarise } from '../../src/trajectory/rows.js';
import { embeddedTemplate, HistoryWorld, modelWithTemplate, type OpenTurn, toolArguments } from '../support/history-world.js';

/** Runs per template and policy: `HISTORY_RUNS=5000 npx vitest run test/shard/history-property.test.ts` for the long form. */
const RUNS = Number(process.env.HISTORY_RUNS ?? 40);
const SEED = process.env.HISTORY_SEED === undefined ? undefined : Number(process.env.HISTORY_SEED);

const fixture = (name: string): string => readFileSync(join(import.meta.dirname, '../fixtures/tempers', name), 'utf8');

const TEMPERS: Readonly<Record<string, string>> = {
  'append-only': embeddedTemplate(),
  'drops old reasoning': fixture('drops-reasoning.jinja'),
  're-serialises arguments and trims': fixture('reserialises.jinja'),
  'moves system text to the last user message': fixture('moves-system.jinja'),
};

const TOOLS: readonly ToolDefinition[] = [{ name: 'look', description: 'looks', parameters: new Map([['type', 'object']]) }];

const words = fc.stringMatching(/^[ a-zé😀<>"{}\n]{0,12}$/u);
const reply = fc.record({
  reasoning: fc.option(words, { nil: undefined }),
  text: words,
  calls: fc.array(
    fc.record({ name: fc.constant('look'), arguments: fc.constantFrom('{"a": 1}', '{"b":2,"a":1.0}', '{}', '{"q": "é"}', '{oops') }),
    {
      maxLength: 2,
    },
  ),
  spelling: fc.constantFrom('canonical' as const, 'mixed' as const, 'bytes' as const),
  lastBytes: fc.constantFrom(undefined, [0xf0, 0x9f]),
});
const step = fc.record({
  thread: fc.nat({ max: 3 }),
  does: fc.constantFrom('goes on', 'goes on', 'goes on', 'asks twice', 'goes back', 'compacts', 'edits', 'starts a helper'),
  reply,
  cut: fc.option(fc.integer({ min: 1, max: 6 }), { nil: null, freq: 6 }),
  delivered: fc.boolean().map((gone) => gone),
  keeps: fc.integer({ min: 0, max: 9 }),
  echo: fc.constantFrom('verbatim', 'no reasoning', 'trimmed', 'renamed', 'respelled', 'parts'),
  protocol: fc.constantFrom('openai-chat' as const, 'anthropic-messages' as const),
  says: words,
});
type Step = ReturnType<typeof step.generate>['value'];

/** Without the members that are not there. */
const sayable = (said: Step['reply']): Reply =>
  Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined)) as Reply;

/** How a client gives a reply back. */
function echoed(message: AssistantMessage, how: Step['echo']): AssistantMessage {
  switch (how) {
    case 'no reasoning':
      return { ...message, reasoning: null };
    case 'trimmed':
      return { ...message, content: message.content?.trim() ?? null, reasoning: message.reasoning?.trim() ?? null };
    case 'renamed':
      return { ...message, toolCalls: message.toolCalls.map((call, n) => ({ ...call, id: `toolu_${n}` })) };
    case 'respelled':
      return {
        ...message,
        toolCalls: message.toolCalls.map((call) => (call.value === undefined ? call : { ...call, ...respelled(call.arguments) })),
      };
    case 'parts':
      return { ...message, content: message.content === null ? '' : message.content };
    case 'verbatim':
      return { ...message };
  }
}

function respelled(text: string): ReturnType<typeof toolArguments> {
  const value = JSON.parse(text) as Record<string, unknown>;
  return toolArguments(JSON.stringify(Object.fromEntries(Object.entries(value).reverse())));
}

interface Thread {
  messages: Message[];
  answers: number;
}

async function play(world: HistoryWorld, steps: readonly Step[], prompts: string[]): Promise<void> {
  const threads: Thread[] = [
    {
      messages: [
        { role: 'system', content: 'S' },
        { role: 'user', content: 'go' },
      ],
      answers: 0,
    },
  ];
  let sampled = 0;
  const nextLogprob = (): number => {
    sampled += 1;
    return -sampled / 1024;
  };
  for (const [at, { thread: which, does, says, echo, cut, delivered, keeps, protocol, reply }] of steps.entries()) {
    const thread = threads[which % threads.length]!;
    if (does === 'starts a helper') threads.push({ messages: [{ role: 'user', content: `help ${says} ${at}` }], answers: 0 });
    if (does === 'compacts') thread.messages = [...thread.messages.slice(0, 1), { role: 'user', content: `summary ${says}` }];
    if (does === 'goes back') thread.messages = upToQuestion(thread.messages, keeps);
    if (does === 'edits')
      thread.messages = thread.messages.map((message) =>
        message.role === 'user' ? { ...message, content: `${message.content}!` } : message,
      );
    const opens: OpenTurn[] = [];
    for (let n = 0; n < (does === 'asks twice' ? 2 : 1); n += 1) opens.push(await world.begin(thread.messages, TOOLS, protocol));
    let kept: AssistantMessage | null = null;
    for (const open of opens) {
      prompts.push(`${open.prepared.built.proof} ${open.promptIds.join()}`);
      const message = world.finish(open, sayable(reply), cut, nextLogprob);
      if (delivered || keeps < 7) {
        world.commit(open, world.seen.length - 1);
        kept = message;
      } else {
        open.pending.release();
        open.pending.discard('client_gone');
      }
    }
    if (kept === null) continue;
    const back = echoed(kept, echo);
    const results = back.toolCalls.map(
      (call, n): Message => ({ role: 'tool', content: `result ${n} ${says}`, toolCallId: call.id, name: null, isError: false }),
    );
    thread.messages = [...thread.messages, back, ...(results.length > 0 ? results : [{ role: 'user' as const, content: `then ${says}` }])];
    thread.answers += 1;
  }
}

/** The history up to some earlier place where it was the model's turn. */
function upToQuestion(messages: readonly Message[], keeps: number): Message[] {
  const places = messages.flatMap(({ role }, at) => (role === 'assistant' && at > 0 ? [at] : []));
  const place = places[keeps % Math.max(1, places.length)];
  return place === undefined ? [...messages] : messages.slice(0, place);
}

function rowsOf(world: HistoryWorld): TraceRecord[] {
  const { tree } = world.session;
  const plan = planRows(tree.turns);
  const facts = { ...NO_FACTS, sessionId: 's', tokenizerHash: 'h' };
  const summary = summarise(tree, plan, 0, 1);
  expect(summary.capture_error).toBeNull();
  expect(summary.capture_yield).toBe(1);
  return plan.rows.map((row) => rowRecord(plan, row, facts, { decode: (ids) => world.model.tokenizer.decode(ids) }));
}

/** Every committed turn is trained exactly once: behind its prompt, with its ids and its logprobs. */
function expectEverythingTrainedOnce(world: HistoryWorld, rows: readonly TraceRecord[]): void {
  // A reply without a token has nothing to train and makes no row.
  const left = new Set(world.seen.filter(({ committed, outputIds }) => committed && outputIds.length > 0));
  for (const row of rows) {
    for (const turn of row.turns) {
      if (!turn.trained_here || turn.end === turn.start) continue;
      const prompt = row.token_ids.subarray(0, turn.start).join();
      const output = row.token_ids.subarray(turn.start, turn.end);
      const at = turn.start - row.prompt_length;
      const logprobs = row.logprobs.subarray(at, at + output.length).join();
      const said = [...left].find(
        (seen) => seen.outputIds.join() === output.join() && seen.promptIds.join() === prompt && seen.logprobs.join() === logprobs,
      );
      expect(said, `turn ${turn.turn_id} as it was sampled`).toBeDefined();
      left.delete(said!);
      expect(row.loss_mask.subarray(at, at + output.length).every((bit) => bit === 1)).toBe(true);
    }
    const trained = row.turns.filter((turn) => turn.trained_here).reduce((sum, turn) => sum + turn.end - turn.start, 0);
    expect(row.loss_mask.reduce((sum, bit) => sum + bit, 0)).toBe(trained);
  }
  expect(left.size).toBe(0);
}

describe.each(Object.entries(TEMPERS))('histories over a template that is %s', (_, template) => {
  const plain = modelWithTemplate(template, false);
  const remembering = modelWithTemplate(template, true);

  test.each(['auto', 'verbatim', 'rerender'] as const)(
    'policy %s trains every committed token once, and memory changes no prompt',
    async (policy) => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 9 }), async (steps) => {
          const world = new HistoryWorld(plain, policy);
          const twin = new HistoryWorld(remembering, policy);
          const prompts: string[] = [];
          const twinPrompts: string[] = [];
          await play(world, steps, prompts);
          await play(twin, steps, twinPrompts);
          expect(twinPrompts).toEqual(prompts);
          expectEverythingTrainedOnce(world, rowsOf(world));
          expectEverythingTrainedOnce(twin, rowsOf(twin));
        }),
        { numRuns: RUNS, ...(SEED === undefined ? {} : { seed: SEED }) },
      );
    },
  );

  test('prompts that keep nothing are the render’s ids, and exact ones decode to the render', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 7 }), async (steps) => {
        const world = new HistoryWorld(remembering, 'auto');
        const begin = world.begin.bind(world);
        world.begin = async (...args) => {
          const open = await begin(...args);
          const { proof, continues } = open.prepared.built;
          if (!continues) expect(open.promptIds.join()).toBe(world.model.tokenizer.encode(open.fresh).join());
          else if (proof === 'exact' && !spliced(world)) expect(world.model.tokenizer.decode(open.promptIds)).toBe(open.fresh);
          return open;
        };
        await play(world, steps, []);
      }),
      { numRuns: RUNS, ...(SEED === undefined ? {} : { seed: SEED }) },
    );
  });
});

/** Whether some prompt before stood for the render in another spelling. */
const spliced = (world: HistoryWorld): boolean => world.session.tree.turns.some(({ outcome }) => outcome === 'raw' || outcome === 'delta');
