import { describe, expect, it } from 'vitest';
import { agentPolicy } from '../../src/sim/agent-script.js';
import { SIM_MODEL_DIR } from '../../src/sim/model-dir.js';
import { firstOf, PromptView, planPolicy, randomPolicy, type ScriptRule, scriptPolicy } from '../../src/sim/policy.js';
import { type Reply, replyIds, replyText } from '../../src/sim/reply.js';
import { planOutput, type SimRequest } from '../../src/sim/sampling.js';
import { SimVocabulary } from '../../src/sim/vocabulary.js';

const vocabulary = new SimVocabulary(SIM_MODEL_DIR);
type Turn = readonly [role: string, text: string];

function view(...turns: readonly Turn[]): PromptView {
  const text = turns.map(([role, said]) => `<|im_start|>${role}\n${said}<|im_end|>\n`).join('');
  return new PromptView(Int32Array.from(vocabulary.encode(`${text}<|im_start|>assistant\n`)), 0, 500, vocabulary, 5);
}

const tool = (text: string): Turn => ['tool', `<tool_response>\n${text}\n</tool_response>`];

const request = (more: Partial<SimRequest> = {}): SimRequest => ({
  requestId: 'r',
  promptIds: new Int32Array(1),
  maxTokens: 100,
  minTokens: 0,
  stopTokenIds: [],
  stopStrings: [],
  ignoreEos: false,
  topLogprobs: 0,
  echoPromptIds: false,
  cacheSalt: '',
  ...more,
});

describe('policies', () => {
  it('plays a plan step by step, after each user turn anew', () => {
    const user: Turn = ['user', 'Do it. [plan][{"text":"one"},{"text":"two"}][/plan]'];
    expect(planPolicy(view(user))).toEqual({ text: 'one' });
    expect(planPolicy(view(user, ['assistant', 'one'], tool('x')))).toEqual({ text: 'two' });
    expect(planPolicy(view(user, ['assistant', 'one'], ['assistant', 'two']))).toEqual({ text: 'done' });
    expect(planPolicy(view(user, ['assistant', 'one'], user))).toEqual({ text: 'one' });
    expect(planPolicy(view(['user', 'nothing']))).toBeNull();
  });

  it.each([
    ['{"text":"a"}', /must be a list of replies/],
    ['[{"text":"a"}', /not JSON/],
    ['[{"text":"a"},{"tool_calls":[]}]', /reply 1 of the plan has "tool_calls", a reply has only reasoning, text, calls/],
    ['[{"text":["a"]}]', /"text" of reply 0 of the plan must be a string, it is \["a"\]/],
    ['[{"calls":[{"function":"f"}]}]', /"calls" of .* must be a list of \{"name": …, "arguments": …\}/],
    ['["a"]', /reply 0 of the plan must be an object/],
  ])('refuses the plan %s', (plan, message) => {
    expect(() => planPolicy(view(['user', `[plan]${plan}[/plan]`]))).toThrow(message);
  });

  it('follows a script by what the last turn or the prompt holds', () => {
    const rules: readonly ScriptRule[] = [
      { when: 'red', answers: 1, reply: { text: 'later' } },
      { when: 'red', reply: { text: 'first' } },
      { when: 'blue', in: 'prompt', reply: { text: 'any' } },
    ];
    const script = scriptPolicy(rules);
    expect(script(view(['user', 'red']))).toEqual({ text: 'first' });
    expect(script(view(['user', 'blue'], ['assistant', 'x'], ['user', 'red']))).toEqual({ text: 'later' });
    expect(script(view(['user', 'blue'], ['assistant', 'x'], ['user', 'green']))).toEqual({ text: 'any' });
    expect(firstOf(script, randomPolicy(4))(view(['user', 'green']))?.ids?.length).toBeGreaterThan(0);
  });

  it('loops over tools until the tests pass', () => {
    const names = (reply: Reply | null) => (reply?.calls ?? []).map((call) => call.name);
    const turns: Turn[] = [['user', 'Fix the failing test in total.py.']];
    const next = (...results: readonly string[]) => {
      turns.push(['assistant', 'said'], ...results.map(tool));
      return names(agentPolicy(view(...turns)));
    };
    expect(names(agentPolicy(view(...turns)))).toEqual(['list_files']);
    expect(next('total.py\ntest_total.py\nREADME.md')).toEqual(['read_file', 'read_file']);
    expect(next('def total', 'def test')).toEqual(['write_file']);
    expect(next('wrote total.py')).toEqual(['run_tests']);
    expect(next('1 FAILED')).toEqual(['write_file']);
    expect(next('wrote total.py')).toEqual(['run_tests']);
    expect(next('2 passed')).toEqual([]);
  });

  it('calls for each city at once and delegates research', () => {
    expect(agentPolicy(view(['user', 'What is the weather in Oslo, Lima and Rome?']))?.calls?.map((call) => call.arguments)).toEqual([
      { city: 'Oslo', unit: 'celsius' },
      { city: 'Lima', unit: 'celsius' },
      { city: 'Rome', unit: 'celsius' },
    ]);
    const asked: Turn = ['user', 'Research this: tea.'];
    expect(agentPolicy(view(asked))?.calls).toHaveLength(2);
    expect(agentPolicy(view(asked, ['assistant', 'x'], tool('a'), tool('b')))?.text).toMatch(/^2 helpers answered about tea\./);
    expect(agentPolicy(view(['user', 'Hello.']))).toBeNull();
  });
});

describe('replies', () => {
  it('puts reasoning, text and calls into the words of the template', () => {
    const reply: Reply = {
      reasoning: 'r',
      text: 't',
      calls: [
        { name: 'f', arguments: { a: [1, 'x'] } },
        { name: 'g', arguments: '{bad' },
      ],
    };
    const calls =
      '<tool_call>\n{"name": "f", "arguments": {"a": [1, "x"]}}\n</tool_call>\n<tool_call>\n{"name": "g", "arguments": {bad}\n</tool_call>';
    expect(replyText(reply)).toBe(`<think>\nr\n</think>\n\nt\n${calls}`);
    expect(replyText(reply, true)).toBe(`t\n${calls}`);
    expect(replyText({ calls: reply.calls! })).toBe(calls);
  });

  it('spells the same text in other tokens, and single bytes', () => {
    const text = 'the weather in Paris <tool_call>';
    const canonical = replyIds({ text }, vocabulary, false);
    for (const spelling of ['bytes', 'mixed'] as const) {
      const ids = replyIds({ text, spelling }, vocabulary, false);
      expect(ids.length).toBeGreaterThan(canonical.length);
      expect(vocabulary.decode(ids)).toBe(text);
      expect(ids.at(-1)).toBe(vocabulary.idOf('<tool_call>'));
    }
    expect(replyIds({ text, markers: 'letters' }, vocabulary, false)).not.toContain(vocabulary.idOf('<tool_call>'));
    expect(vocabulary.decode(replyIds({ text: 'x', lastBytes: [0xe6, 0x97] }, vocabulary, false))).toBe('x\ufffd');
  });

  it('goes on with random words where it does not end', () => {
    const output = planOutput({ text: 'a', ends: false }, request({ maxTokens: 12 }), view(['user', 'x']));
    expect(output.finish).toEqual({ reason: 'length' });
    expect(output.outputIds).toHaveLength(12);
  });
});
