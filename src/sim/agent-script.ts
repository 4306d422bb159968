import { type PromptTurn, toolResult } from './conversation.js';
import type { Policy, PolicyTurn } from './policy.js';
import type { Reply } from './reply.js';

/**
 * What the model says to the agents of the demo: it reads the last user turn, counts its own answers since then, looks
 * at the newest tool results, and takes the next step. Stateless, so retries, branches and sub-agents need nothing special.
 */
export const agentPolicy: Policy = (turn) => {
  const asked = turn.turns.findLastIndex(({ role }) => role === 'user');
  const since = turn.turns.slice(asked + 1);
  const text = turn.turns[asked]?.text ?? '';
  const scene = SCENES.find(({ when }) => when.test(text));
  if (!scene) return null;
  return scene.play({
    asked: text,
    said: since.filter(({ role }) => role === 'assistant').length,
    results: newestResults(since),
    turn,
  });
};

interface Scene {
  readonly asked: string;
  /** Answers since the user spoke. */
  readonly said: number;
  /** Results of the newest round of calls. */
  readonly results: readonly string[];
  readonly turn: PolicyTurn;
}

const THOUGHTS = [
  'I should look before I change anything.',
  'The message names the file, so I start there.',
  'Both files matter here, and the calls do not depend on each other.',
  'The test says what is expected; the function returns something else.',
  'One more run will show whether that was all.',
];

const SCENES: readonly { readonly when: RegExp; readonly play: (scene: Scene) => Reply }[] = [
  { when: /^Summarize the conversation/, play: summarize },
  { when: /Fix the failing test/, play: fixTest },
  { when: /What is the weather in/, play: weather },
  { when: /Research this:/, play: research },
  { when: /^Question:/, play: lookUp },
];

/** Looks around, reads two files at once, edits, runs the tests, and edits again while they fail. */
function fixTest({ said, results, turn }: Scene): Reply {
  const reasoning = thought(turn);
  if (said === 0)
    return { reasoning, text: 'I will look at the files first.', calls: [{ name: 'list_files', arguments: { directory: '.' } }] };
  const [first = ''] = results;
  const files = first.split('\n').filter((name) => /^\S+\.py$/.test(name));
  if (files.length > 0) {
    return { reasoning, calls: files.slice(0, 2).map((path) => ({ name: 'read_file', arguments: { path, limit: 80 } })) };
  }
  if (first.startsWith('wrote ')) return { calls: [{ name: 'run_tests', arguments: {} }] };
  if (first.includes('passed')) return { reasoning, text: `The tests pass now. ${prose(turn, 24)}` };
  const value = Math.floor(turn.random() * 100);
  return {
    reasoning,
    text: first.includes('FAILED') ? 'That was not all of it.' : 'The function returns the wrong value.',
    calls: [
      {
        name: 'write_file',
        arguments: { path: 'total.py', content: `def total(values):\n    return sum(values) + ${value} - ${value}\n` },
      },
    ],
  };
}

/** One call per city, all at once, then the answer. */
function weather({ asked, said, results, turn }: Scene): Reply {
  const cities = (/weather in ([^?]*)\?/.exec(asked)?.[1] ?? 'Paris').split(/, and |, | and /);
  if (said === 0)
    return { reasoning: thought(turn), calls: cities.map((city) => ({ name: 'get_weather', arguments: { city, unit: 'celsius' } })) };
  return { text: `${results.map((result, i) => `${cities[i] ?? 'There'}: ${result}`).join('. ')}. ${prose(turn, 8)}` };
}

/** Gives two questions to sub-agents and joins what they say. */
function research({ asked, said, results, turn }: Scene): Reply {
  const topic = /Research this: ([^.\n]*)/.exec(asked)?.[1] ?? 'the topic';
  if (said === 0) {
    return {
      reasoning: thought(turn),
      text: 'I will ask two helpers.',
      calls: ['history', 'present state'].map((side) => ({
        name: 'delegate',
        arguments: { question: `Question: what is known about the ${side} of ${topic}?` },
      })),
    };
  }
  return { text: `${results.length} helpers answered about ${topic}. ${prose(turn, 30)}` };
}

/** A sub-agent: one search, then an answer. */
function lookUp({ asked, said, results, turn }: Scene): Reply {
  if (said === 0)
    return {
      reasoning: thought(turn),
      calls: [{ name: 'search_notes', arguments: { query: asked.slice('Question: '.length), limit: 2 } }],
    };
  return { text: `${results.join(' ')} ${prose(turn, 16)}` };
}

function summarize({ turn }: Scene): Reply {
  return { text: `Done so far: the files were read and one was changed. ${prose(turn, 20)}` };
}

function thought({ random }: PolicyTurn): string {
  return THOUGHTS[Math.floor(random() * THOUGHTS.length)]!;
}

/** A sentence of random words of the vocabulary. */
function prose({ vocabulary, random }: PolicyTurn, words: number): string {
  const ids = Array.from({ length: words }, () => vocabulary.wordIds[Math.floor(random() * vocabulary.wordIds.length)]!);
  const text = vocabulary.decode(ids).trim();
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function newestResults(since: readonly PromptTurn[]): readonly string[] {
  const from = since.findLastIndex(({ role }) => role === 'assistant');
  return since
    .slice(from + 1)
    .filter(({ role }) => role === 'tool')
    .map(toolResult);
}
