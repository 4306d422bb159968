import { describe, expect, it } from 'vitest';
import { parseJson } from '../../src/canonical/json-parse.js';
import { writeJson } from '../../src/canonical/json-write.js';
import type { ToolDefinition } from '../../src/canonical/message.js';
import type { Family, ParsedReply, ReplyText } from '../../src/families/family.js';
import { familyNamed, usualFamily } from '../../src/families/registry.js';
import { recogniseFixture, TOOLS } from './template-fixtures.js';

/** Faults that other parsers had on the same replies; each is named by the reports about it. */

const usual = (name: string): Family => usualFamily(familyNamed(name)!).family;

function parse(family: Family, text: string, given: Partial<ReplyText> = {}): ParsedReply {
  return family.parse({ text, stopStart: text.length, isMarker: () => true, reasoningOpen: false, tools: TOOLS, ...given });
}

const calls = (reply: ParsedReply): string[] =>
  reply.toolCalls.map((call) => `${call.name} ${call.value === undefined ? '' : writeJson(call.value)}`);

const tool = (name: string, properties: string): ToolDefinition => ({
  name,
  parameters: parseJson(`{"type":"object","properties":${properties}}`),
});

describe('JSON between tags', () => {
  it('vllm#21544: a cut `mkdir {a,b` is shown, not thrown', () => {
    const reply = parse(usual('hermes'), '<tool_call>\n{"name": "bash", "arguments": {"command": "mkdir {a,b');
    expect(reply).toMatchObject({ illFormed: true, toolCalls: [] });
    expect(reply.content).toContain('mkdir {a,b');
  });

  it('vllm#10395, #10398, #19056, #20824, #32152: braces in strings and nested objects stay as they are', () => {
    const args = '{"a": {"b": {"c": "}"}}, "s": "{\\"x\\": \\"{\\"}"}';
    const reply = parse(usual('hermes'), `<tool_call>\n{"name": "f", "arguments": ${args}}\n</tool_call>`);
    expect(reply.toolCalls[0]?.arguments).toBe(args);
    expect(reply.illFormed).toBe(false);
  });
});

describe('values between tags', () => {
  it('vllm#48753, #48846: a value loses one line break on each side and nothing else', () => {
    const reply = parse(
      usual('qwen3-coder'),
      '<tool_call>\n<function=look_up>\n<parameter=s>\n\n    x = 1\n\n</parameter>\n</function>\n</tool_call>',
    );
    expect(reply.toolCalls[0]?.value).toEqual(new Map([['s', '\n    x = 1\n']]));
    const minimax = parse(
      usual('minimax-m2'),
      '<minimax:tool_call>\n<invoke name="look_up">\n<parameter name="s">\n  x\n</parameter>\n</invoke>\n</minimax:tool_call>',
    );
    expect(minimax.toolCalls[0]?.value).toEqual(new Map([['s', '\n  x\n']]));
  });

  it('vllm#38996, #40861: a printed None is null unless the parameter is a string', () => {
    const tools = [
      tool('f', '{"a":{"type":"integer"},"b":{"type":["string","null"]},"c":{"type":"string"},"d":{"type":"integer","nullable":true}}'),
    ];
    const parameter = (name: string) => `<parameter=${name}>\nNone\n</parameter>\n`;
    const reply = parse(
      usual('qwen3-coder'),
      `<tool_call>\n<function=f>\n${['b', 'c', 'd'].map(parameter).join('')}</function>\n</tool_call>`,
      { tools },
    );
    expect(calls(reply)).toEqual(['f {"b": null, "c": "None", "d": null}']);
  });

  it('vllm#55497, #47761: a parameter without a name does not swallow the rest', () => {
    const reply = parse(
      usual('qwen3-coder'),
      '<tool_call>\n<function=look_up>\n<parameter=\n/tmp/x\n</parameter>\n</function>\n</tool_call>\n<tool_call>\n<function=get_time>\n</function>\n</tool_call>',
    );
    expect(reply.illFormed).toBe(true);
    expect(calls(reply)).toEqual(['get_time {}']);
    expect(reply.content).toContain('/tmp/x');
  });

  it('sgl#15135, mlx-lm#1310: values are typed by the schema, and a date in an integer costs no call', () => {
    const reply = parse(
      usual('qwen3-coder'),
      '<tool_call>\n<function=look_up>\n<parameter=n>\n2026-01-15\n</parameter>\n<parameter=b>\nTrue\n</parameter>\n<parameter=x>\n1.5\n</parameter>\n</function>\n</tool_call>',
    );
    expect(calls(reply)).toEqual(['look_up {"n": "2026-01-15", "b": true, "x": 1.5}']);
    expect(reply.toolCalls[0]?.error).toEqual({ code: 'schema_mismatch', message: 'n is not integer' });
    expect(reply.illFormed).toBe(false);
  });

  it('smg#1743: a string that looks like a number stays a string', () => {
    const reply = parse(
      usual('minimax-m2'),
      '<minimax:tool_call>\n<invoke name="look_up">\n<parameter name="s">007</parameter>\n</invoke>\n</minimax:tool_call>',
    );
    expect(calls(reply)).toEqual(['look_up {"s": "007"}']);
  });

  it('vllm#38803: a closing tag inside a value does not end it', () => {
    const reply = parse(
      usual('minimax-m2'),
      '<minimax:tool_call>\n<invoke name="look_up">\n<parameter name="s">say </parameter> twice</parameter>\n</invoke>\n</minimax:tool_call>',
    );
    expect(calls(reply)).toEqual(['look_up {"s": "say </parameter> twice"}']);
  });
});

describe('GLM', () => {
  it.each(['<tool_call>get_time\n</tool_call>', '<tool_call>get_time</tool_call>', '<tool_call>\nget_time\n</tool_call>'])(
    'vllm#32213, #31379, #32321, #32097, vmlx-swift#228: a call without arguments is a call: %j',
    (text) => {
      for (const name of ['glm-4.5', 'glm-4.7', 'ling']) expect(calls(parse(usual(name), text))).toEqual(['get_time {}']);
    },
  );

  it('vllm#49248: a value without its opening tag is not an empty call', () => {
    const reply = parse(usual('glm-4.7'), '<tool_call>look_up<arg_key>s</arg_key>a</arg_value></tool_call>');
    expect(reply).toMatchObject({ illFormed: true, toolCalls: [] });
  });

  it('fw-ai python-sdk#119: a tag does not become a part of the name', () => {
    const reply = parse(usual('glm-4.7'), '<tool_call>look_up</arg_value><arg_key>s</arg_key><arg_value>a</arg_value></tool_call>');
    expect(reply).toMatchObject({ illFormed: true, toolCalls: [] });
  });

  it('the next turn’s opener is the stop and never content', () => {
    const { family } = recogniseFixture('trl__glm4moe');
    const text = '\n<think>a</think>\nHi<|user|>';
    const reply = parse(family, text, { stopStart: text.length - '<|user|>'.length });
    expect(reply).toMatchObject({ reasoning: 'a', content: 'Hi' });
    expect(reply.spans.at(-1)?.kind).toBe('stop');
  });
});

describe('Kimi', () => {
  const call = (id: string, args: string) => `<|tool_call_begin|>${id}<|tool_call_argument_begin|>${args}<|tool_call_end|>`;

  it('sgl#21377, #25358, #25362, vllm#32146, #50768, exo#2281: ids come back as they were sampled', () => {
    const ids = ['functions.exec:5', 'functionsexec5', 'call00003', 'functions_x_1', 'exec:0'];
    const text = `<|tool_calls_section_begin|>${ids.map((id) => call(id, '{}')).join('')}<|tool_calls_section_end|>`;
    expect(parse(usual('kimi-k2'), text).toolCalls.map((found) => found.id)).toEqual(ids);
    expect(usual('kimi-k2').nativeIds).toBe(true);
  });

  it('vllm#24478: several calls are several calls', () => {
    const text = `<|tool_calls_section_begin|>${call('functions.a:0', '{"x": 1}')}${call('functions.b:1', '{}')}<|tool_calls_section_end|>`;
    expect(calls(parse(usual('kimi-k2'), text))).toEqual(['a {"x": 1}', 'b {}']);
  });

  it('llama.cpp#17376: singular section markers are the same', () => {
    const text = `<|tool_call_section_begin|>${call('functions.a:0', '{}')}<|tool_call_section_end|>`;
    expect(parse(usual('kimi-k2'), text)).toMatchObject({ illFormed: false, content: '' });
  });
});

describe('harmony', () => {
  it.each([
    ['harmony#38, vllm#23567: words left in a header', '<|channel|>commentary to=functions.f json extra<|message|>{}<|call|>', ['f {}']],
    ['harmony#60, vllm#22519: a word where a message should start', 'oops<|channel|>final<|message|>Hi<|return|>', []],
    ['vllm#51977: an unknown role', '<|channel|>final<|message|>Hi<|end|><|start|>bot<|message|>x<|end|>', []],
    ['tenstorrent/vllm#386: no message marker', '<|channel|>analysis', []],
  ] as const)('%s', (_, text, expected) => {
    const reply = parse(usual('harmony'), text);
    expect(reply.illFormed).toBe(true);
    expect(calls(reply)).toEqual(expected);
  });
});

describe('reasoning', () => {
  it('vllm#35230, #35296, #22507, lmdeploy#3748: without a closing tag it is reasoning when the prompt opened it, else content', () => {
    expect(parse(usual('hermes'), 'still thinking', { reasoningOpen: true })).toMatchObject({
      reasoning: 'still thinking',
      content: '',
      illFormed: true,
    });
    expect(parse(usual('hermes'), 'an answer')).toMatchObject({ reasoning: null, content: 'an answer', illFormed: false });
  });

  it('case 23: a reply that was cut inside its reasoning has no content', () => {
    expect(parse(usual('hermes'), '<think>\nfive tokens')).toMatchObject({ reasoning: 'five tokens', content: '', illFormed: true });
  });
});

describe('DSML', () => {
  const section = (words: string) => `<｜DSML｜function_calls>\n${words}\n</｜DSML｜function_calls>`;

  it('vllm#54686: closing tags without an opening are not hidden in well-formed content', () => {
    const reply = parse(usual('deepseek-dsml'), 'Hi</｜DSML｜invoke>\n</｜DSML｜function_calls>');
    expect(reply).toMatchObject({ illFormed: true, content: 'Hi</｜DSML｜invoke>\n</｜DSML｜function_calls>' });
  });

  it('sgl#40236: what of a section cannot be read is shown and flagged', () => {
    for (const inner of [
      '<｜DSML｜invoke name="f"',
      '<｜DSML｜invoke>',
      '<｜DSML｜parameter name="a" string="true">x</｜DSML｜parameter>',
      'words',
    ]) {
      const reply = parse(usual('deepseek-dsml'), section(inner));
      expect(reply).toMatchObject({ illFormed: true, toolCalls: [] });
      expect(reply.content).toBe(section(inner));
    }
  });

  it('the block’s name of V3.2 and of V4 both count', () => {
    const call = '<｜DSML｜invoke name="f">\n</｜DSML｜invoke>';
    expect(calls(parse(usual('deepseek-dsml'), section(call)))).toEqual(['f {}']);
    expect(calls(parse(usual('deepseek-dsml'), section(call).replaceAll('function_calls', 'tool_calls')))).toEqual(['f {}']);
  });

  it('sgl#9552, #14690, vllm#26897: V3, V3.1 and V3.2 are told apart by what is printed', () => {
    expect(recogniseFixture('xinf__deepseek-r1-0528').family.name).toBe('deepseek-v3');
    expect(recogniseFixture('llamacpp__DeepSeek-V3.1').family.name).toBe('deepseek-v3.1');
    expect(recogniseFixture('own__dsml').family.name).toBe('deepseek-dsml');
  });
});

describe('Mistral', () => {
  it('vllm#39294: the argument marker is no part of a name', () => {
    expect(calls(parse(usual('mistral-args'), '[TOOL_CALLS]f[ARGS]{"a": 1}'))).toEqual(['f {"a": 1}']);
  });

  it('vllm#48976, vllm-mlx#631: words behind the arguments are content and no part of them', () => {
    const reply = parse(usual('mistral-args'), '[TOOL_CALLS]f[ARGS]{"a": 1} I am done.');
    expect(reply.toolCalls[0]?.arguments).toBe('{"a": 1}');
    expect(reply.content).toBe(' I am done.');
  });
});

describe('Gemma 4', () => {
  const q = '<|"|>';
  const call = (inner: string) => parse(usual('gemma4'), `<|tool_call>call:f{${inner}}<tool_call|>`);
  it.each([
    ['ollama#17882: a key with a space', `my key:${q}v${q}`, '{"my key": "v"}'],
    ['ollama#18390: quotes and braces inside a string', `s:${q}{"a": "b"}, c${q}`, '{"s": "{\\"a\\": \\"b\\"}, c"}'],
    ['vllm#51284: plain quotes inside containers', 'l:["a", "b"],o:{"k":"v"}', '{"l": ["a", "b"], "o": {"k": "v"}}'],
    ['vllm#44877: quote tokens around a key', `${q}s${q}:${q}v${q}`, '{"s": "v"}'],
  ])('%s', (_, inner, value) => {
    expect(calls(call(inner))).toEqual([`f ${value}`]);
  });

  it('xinference#5242, omlx#1854: an equals sign is no colon', () => {
    expect(call(`s=${q}v${q}`)).toMatchObject({ illFormed: true, toolCalls: [] });
  });
});

describe('MiniMax M3', () => {
  const NS = ']<]minimax[>[';

  it('vllm#51075: a call whose section lost its first mark is a call', () => {
    const reply = parse(usual('minimax-m3'), `<tool_call>\n${NS}<invoke name="get_time">${NS}</invoke>\n${NS}</tool_call>`);
    expect(calls(reply)).toEqual(['get_time {}']);
    expect(reply.illFormed).toBe(true);
  });

  it('llamadart#408: a call without arguments is a call', () => {
    const reply = parse(usual('minimax-m3'), `${NS}<tool_call>\n${NS}<invoke name="get_time">${NS}</invoke>\n${NS}</tool_call>`);
    expect(calls(reply)).toEqual(['get_time {}']);
    expect(reply.illFormed).toBe(false);
  });
});

describe('cases', () => {
  it('case 1: words beside parallel calls are kept, and so are both calls', () => {
    const reply = parse(
      usual('hermes'),
      'let me look\n<tool_call>\n{"name": "a", "arguments": {"x":1}}\n</tool_call>\n<tool_call>\n{"name": "b", "arguments": {"y":2}}\n</tool_call>',
    );
    expect(reply.content).toBe('let me look');
    expect(reply.toolCalls.map((call) => `${call.name} ${call.arguments}`)).toEqual(['a {"x":1}', 'b {"y":2}']);
  });

  it('case 5: numbers keep their spelling in the arguments and their kind in the value', () => {
    const args = '{"a": 1.0, "b": 1e3, "c": 12345678901234567890, "d": -0}';
    const reply = parse(usual('hermes'), `<tool_call>\n{"name": "f", "arguments": ${args}}\n</tool_call>`);
    expect(reply.toolCalls[0]?.arguments).toBe(args);
    expect(calls(reply)).toEqual(['f {"a": 1.0, "b": 1000.0, "c": 12345678901234567890, "d": 0}']);
  });

  it('case 27: letters that spell a tag are no tag', () => {
    const text = 'Write <tool_call> and </think>.<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>';
    const token = text.lastIndexOf('<tool_call>');
    const reply = parse(usual('hermes'), text, { isMarker: (_, offset) => offset >= token });
    expect(reply).toMatchObject({ content: 'Write <tool_call> and </think>.', illFormed: false });
    expect(calls(reply)).toEqual(['f {}']);
  });

  it('case 29: arguments that are not JSON leave the text visible and the reply ill-formed', () => {
    const text = '<tool_call>{"name":"f","arguments":{oops}</tool_call>';
    expect(parse(usual('hermes'), text)).toMatchObject({ content: text, toolCalls: [], illFormed: true });
  });

  it('case 69: an empty name is no call, and XML where JSON is the grammar is flagged', () => {
    expect(parse(usual('hermes'), '<tool_call>{"name": "", "arguments": {}}</tool_call>')).toMatchObject({
      toolCalls: [],
      illFormed: true,
    });
    expect(parse(usual('hermes'), '<tool_call><function=f></function></tool_call>')).toMatchObject({ toolCalls: [], illFormed: true });
  });

  it('a stop at the end of the first call closes it', () => {
    for (const [name, text, end] of [
      ['hermes', '<tool_call>\n{"name": "f", "arguments": {}}\n', '</tool_call>'],
      ['deepseek-v3.1', '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{}', '<｜tool▁call▁end｜>'],
      ['harmony', '<|channel|>commentary to=functions.f<|message|>{}', '<|call|>'],
    ] as const) {
      expect(usual(name).callEnd).toBe(end);
      const reply = parse(usual(name), text + end, { stopStart: text.length });
      expect(calls(reply)).toEqual(['f {}']);
      expect(reply.illFormed).toBe(false);
    }
  });
});
