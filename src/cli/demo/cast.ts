import type { AgentTask, Clients, DemoAgent, Dialect, Tally } from './agent.js';
import { CODING_TOOLS, codingBox, RESEARCH_TOOLS, SEARCH_TOOLS, searchBox, WEATHER_TOOLS, weatherBox } from './tools.js';

type Lead = (clients: Clients, tally: Tally, stream: boolean, number: number) => Promise<void>;

const SYSTEM = 'You are a careful agent. Look before you act, and say what you did.';
const CITIES = ['Oslo', 'Lima', 'Rome', 'Kyoto', 'Quito', 'Cairo', 'Hanoi'];
const TOPICS = ['tea', 'paper', 'salt', 'glass', 'bread'];

const fixTask = (stream: boolean, number: number, compactAfter: number): AgentTask => ({
  system: SYSTEM,
  prompt: `Fix the failing test in total.py, please. This is project ${number}.`,
  tools: CODING_TOOLS,
  run: codingBox(1 + (number % 3)),
  stream,
  compactAfter,
});

const fix: Lead = async (clients, tally, stream, number) => {
  await clients.talk(fixTask(stream, number, 0), tally);
};

const compact: Lead = async (clients, tally, stream, number) => {
  await clients.talk(fixTask(stream, number, 3), tally);
};

const weather: Lead = async (clients, tally, stream, number) => {
  const [a, b, c] = [0, 1, 2].map((i) => CITIES[(number + i) % CITIES.length]);
  const prompt = `What is the weather in ${a}, ${b} and ${c}? This is question ${number}.`;
  await clients.talk({ system: SYSTEM, prompt, tools: WEATHER_TOOLS, run: weatherBox, stream, compactAfter: 0 }, tally);
};

/** The helpers are agents of their own on the same key, and work at the same time. */
const research: Lead = async (clients, tally, stream, number) => {
  const helper = (question: string): AgentTask => ({
    system: 'You answer one question with the notes that you find.',
    prompt: question,
    tools: SEARCH_TOOLS,
    run: searchBox,
    stream,
    compactAfter: 0,
  });
  await clients.talk(
    {
      system: SYSTEM,
      // A topic of its own, so that no two prompts are equal: replies to equal prompts depend on which comes first.
      prompt: `Research this: ${TOPICS[Math.floor(number / LEADS.length) % TOPICS.length]}, entry ${number}.`,
      tools: RESEARCH_TOOLS,
      run: (_name, args) => clients.talk(helper(String(args.question)), tally),
      stream,
      compactAfter: 0,
    },
    tally,
  );
};

const LEADS: readonly (readonly [kind: string, lead: Lead])[] = [
  ['tool loop', fix],
  ['parallel calls', weather],
  ['sub-agents', research],
  ['compaction', compact],
  ['lost answer', fix],
];

/** Agents that lose the answer of their second turn on the way, so that their SDK sends it again. */
export const losesAnAnswer = (agent: DemoAgent): boolean => agent.kind === 'lost answer';

/** The agents of the demo: every kind in both dialects, streaming and not. */
export function demoCast(count: number): readonly DemoAgent[] {
  return Array.from({ length: count }, (_, number) => {
    const [kind, lead] = LEADS[number % LEADS.length]!;
    const dialect: Dialect = Math.floor(number / LEADS.length) % 2 === 0 ? 'chat' : 'messages';
    const stream = Math.floor(number / (2 * LEADS.length)) % 2 === 1;
    const sessionId = `demo-${String(number + 1).padStart(2, '0')}`;
    return { sessionId, kind, dialect, stream, lead: (clients, tally) => lead(clients, tally, stream, number) };
  });
}
