import type { AssistantMessage, Message, ToolCall } from '../../src/canonical/message.js';
import { type PromptForm, turnsAbove } from '../../src/trajectory/drift.js';
import type { Located } from '../../src/trajectory/message-tree.js';
import type { PendingTurn } from '../../src/trajectory/pending-turn.js';
import type { RootKey } from '../../src/trajectory/root.js';
import { TrajectoryTree, type TreeSettings } from '../../src/trajectory/tree.js';
import { fullIds } from '../../src/trajectory/turn-ids.js';
import { type ReferencePending, ReferenceRecorder } from './reference-recorder.js';
import { SAMPLING } from './sampling.js';
import { argumentsOf, type Entry, HABITS, type Habit, sentBack } from './synthetic-clients.js';
import { decode, encode, encodeOddly, rawReply, render, renderAfter, STOP, type Temper } from './synthetic-model.js';
import { sampled } from './trajectory-fixtures.js';

/** One thing that happens, as numbers, so that a failing run shrinks to a short list. */
export interface Step {
  readonly what: number;
  readonly who: number;
  readonly a: number;
  readonly b: number;
}

interface Agent {
  key: RootKey;
  habit: Habit;
  history: Entry[];
}

interface OpenTurn {
  readonly agent: Agent;
  readonly history: Entry[];
  readonly pending: PendingTurn;
  readonly reference: ReferencePending;
  readonly reply: AssistantMessage;
  readonly output: Int32Array;
  readonly logprobs: Float32Array;
}

/** What the engine saw and said for a committed turn. */
export interface EngineEntry {
  readonly prompt: readonly number[];
  readonly output: readonly number[];
  readonly logprobs: readonly number[];
}

const KEYS: readonly RootKey[] = [
  { model: 'policy', tools: [], templateKwargs: new Map() },
  { model: 'policy', tools: [{ name: 'look' }], templateKwargs: new Map() },
  { model: 'policy', tools: [{ name: 'look' }], templateKwargs: new Map([['thinking', true]]) },
];
const CONTENTS = [null, '', 'ok', ' ok', 'ok\n', '\n ', 'no', 'a longer answer'];
const REASONINGS = [null, null, '', 'hm', ' hm ', 'so'];
const ARGUMENTS = ['{"a":1,"b":[1.0]}', '{ "b":[1] , "a": 1}', '', '{oops', '{"n":2}', '{"deep":{"x":"é"}}'];

/** Agents, a model and an engine on one session, recorded by the tree and by the reference at once. */
export class SyntheticSession {
  readonly tree: TrajectoryTree;
  readonly reference: ReferenceRecorder;
  readonly engine = new Map<string, EngineEntry>();
  sampledTokens = 0;
  readonly #agents: Agent[] = [];
  readonly #open: OpenTurn[] = [];
  #replies = 0;
  #nowMs = 0;
  #state = 1;

  constructor(
    readonly temper: Temper,
    settings: Partial<TreeSettings>,
  ) {
    this.tree = new TrajectoryTree({ retryMemory: 1000, ...settings });
    const { policy, realignTokensMax } = this.tree.settings;
    this.reference = new ReferenceRecorder({ rerender: policy === 'rerender', realignTokensMax });
  }

  run(steps: readonly Step[]): void {
    for (const step of steps) this.#step(step);
    this.tree.close();
  }

  #step({ what, who, a, b }: Step): void {
    const agent = this.#agents[who % Math.max(1, this.#agents.length)];
    if (agent === undefined || what === 0) this.#newAgent(a, b);
    else if (what < 8) this.#settle(this.#begin(agent, a, b), 'commit');
    else if (what === 8) this.#leaveOpen(this.#begin(agent, a, b), b);
    else if (what === 9) this.#settleOpen(a, 'commit');
    else if (what === 10) this.#settle(this.#begin(agent, a, b), a % 2 === 0 ? 'gone while running' : 'gone when finished');
    else if (what === 11) this.#settle(this.#begin(agent, a, b), 'aside, then taken over');
    else if (what === 12) this.#agents.push({ ...agent, history: agent.history.slice(0, 1 + (a % agent.history.length)) });
    else if (what === 13) this.#compact(agent, a);
    else if (what === 14) this.#edit(agent, a);
    else if (what === 15) agent.habit = HABITS[a % HABITS.length]!;
    else if (what === 16) agent.key = KEYS[a % KEYS.length]!;
    else if (what === 17) this.#settle(this.#begin(agent, a, b), 'engine fault');
    else this.#settleOpen(a, 'gone when finished');
  }

  #newAgent(a: number, b: number): void {
    const history: Entry[] = a % 3 === 0 ? [] : [{ own: { role: 'system', content: `s${a % 3}` } }];
    history.push({ own: { role: 'user', content: `q${b % 3}` } });
    if (b % 5 === 0)
      history.push(
        { own: { role: 'assistant', content: 'ok', reasoning: null, toolCalls: [] } },
        { own: { role: 'user', content: 'and?' } },
      );
    this.#agents.push({ key: KEYS[a % KEYS.length]!, habit: HABITS[b % HABITS.length]!, history });
  }

  #compact(agent: Agent, a: number): void {
    const head = agent.history.filter((entry) => 'own' in entry && entry.own.role === 'system');
    agent.history = [...head, { own: { role: 'user', content: `summary ${a % 3}` } }];
  }

  #edit(agent: Agent, a: number): void {
    const places = agent.history.flatMap((entry, i) => ('reply' in entry ? [i] : []));
    const place = places[a % Math.max(1, places.length)];
    if (place === undefined) return;
    const entry = agent.history[place]!;
    if (!('reply' in entry)) return;
    agent.history = agent.history.with(place, { own: { ...entry.reply, content: `${entry.reply.content ?? ''} edited ${a % 2}` } });
  }

  #random(): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return this.#state / 2 ** 32;
  }

  #begin(agent: Agent, a: number, b: number): OpenTurn {
    const history = [...agent.history];
    const messages = sentBack(history, agent.habit);
    const located = this.tree.locate(agent.key, messages);
    const pending = this.tree.begin({
      located,
      prompt: this.#prompt(agent.key, located),
      digest: `${this.#replies}`,
      protocol: a % 2 === 0 ? 'openai-chat' : 'anthropic-messages',
      sampling: SAMPLING,
      startedAtMs: this.#nowMs++,
    });
    const path = this.reference.locate(String(KEYS.indexOf(agent.key)), messages);
    const prompt = [...pending.promptIds()];
    const reference = this.reference.begin(pending.turnId, Number(pending.turnId.slice(1)), path, prompt);
    const { reply, output, logprobs } = this.#sample(a, b);
    const turn = { agent, history, pending, reference, reply, output, logprobs };
    this.#open.push(turn);
    return turn;
  }

  #prompt(key: RootKey, located: Located): PromptForm {
    const head = `${KEYS.indexOf(key)}:`;
    const text = render(this.temper, head, located.messages);
    const nearest = turnsAbove(located.end).next().value;
    const { policy } = this.tree.settings;
    if (nearest === undefined || policy === 'rerender') return { kind: 'whole', ids: encode(text) };
    const recorded = decode(fullIds(nearest));
    if (policy === 'verbatim') {
      const rest = renderAfter(this.temper, located.messages, located.reached.indexOf(nearest.node), recorded.endsWith(STOP));
      return { kind: 'extends', base: nearest, delta: encode(rest), proof: 'verbatim' };
    }
    if (!text.startsWith(recorded)) return { kind: 'whole', ids: encode(text) };
    return { kind: 'extends', base: nearest, delta: encode(text.slice(recorded.length)), proof: 'exact' };
  }

  #sample(a: number, b: number): Pick<OpenTurn, 'reply' | 'output' | 'logprobs'> {
    const n = this.#replies++;
    const toolCalls: ToolCall[] = Array.from({ length: a % 3 }, (_, i) => {
      const id = b % 4 === 0 ? `functions.look:${i}` : this.tree.callIds.issue(() => this.#random());
      return argumentsOf({ id, name: 'look' }, ARGUMENTS[(a + b + i) % ARGUMENTS.length]!);
    });
    const content = b % 7 === 6 ? `text ${n}` : CONTENTS[b % CONTENTS.length]!;
    const reply: AssistantMessage = { role: 'assistant', content, reasoning: REASONINGS[(a + b) % REASONINGS.length]!, toolCalls };
    const text = `${rawReply(reply)}${a % 5 === 4 ? '' : STOP}`;
    const output = a % 2 === 0 && text !== '' ? encodeOddly(text, 1 + (b % 4)) : encode(text === '' ? STOP : text);
    return { reply, output, logprobs: Float32Array.from(output, (_, i) => -(n * 64 + i + 1) / 4096) };
  }

  #leaveOpen(turn: OpenTurn, b: number): void {
    if (b % 2 === 0) this.#finish(turn);
  }

  #finish({ pending, output, reply, logprobs }: OpenTurn): void {
    if (pending.finish(sampled(output, reply, { logprobs }))) this.sampledTokens += output.length;
  }

  #settleOpen(a: number, how: 'commit' | 'gone when finished'): void {
    const turn = this.#open[a % Math.max(1, this.#open.length)];
    if (turn !== undefined) this.#settle(turn, how);
  }

  #settle(turn: OpenTurn, how: 'commit' | 'gone while running' | 'gone when finished' | 'aside, then taken over' | 'engine fault'): void {
    this.#open.splice(this.#open.indexOf(turn), 1);
    const { pending, output, logprobs, reply } = turn;
    switch (how) {
      case 'gone while running':
        pending.release();
        pending.discard('client_gone');
        return;
      case 'engine fault':
        this.sampledTokens += 3;
        pending.discard('engine_failed', 3);
        return;
      case 'gone when finished':
        this.#finish(turn);
        pending.discard('client_gone');
        return;
      case 'aside, then taken over':
        pending.release();
        this.#finish(turn);
        if (pending.commit(this.#nowMs++).ok) throw new Error('a turn that nobody holds was committed');
        pending.join();
        break;
      case 'commit':
        this.#finish(turn);
    }
    const result = pending.commit(this.#nowMs++);
    if (!result.ok) throw new Error(`commit refused: ${result.reason}`);
    this.engine.set(pending.turnId, { prompt: [...turn.reference.prompt], output: [...output], logprobs: [...logprobs] });
    this.reference.commit(turn.reference, [...output], [...logprobs], reply);
    this.#goOn(turn);
  }

  /** The client goes on with the reply: results of its calls, or another question. */
  #goOn({ agent, history, reply, pending }: OpenTurn): void {
    const own = (message: Message): Entry => ({ own: message });
    const results = reply.toolCalls.map(({ id }, i) =>
      own({ role: 'tool', content: `result ${i}`, toolCallId: id, name: null, isError: i === 1 }),
    );
    const next: Entry[] = [
      ...history,
      { reply, turnId: pending.turnId },
      ...(results.length > 0 ? results : [own({ role: 'user', content: 'go on' })]),
    ];
    if (agent.history.length === history.length) agent.history = next;
    else this.#agents.push({ ...agent, history: next });
  }
}
