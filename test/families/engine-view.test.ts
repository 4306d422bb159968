import { describe, expect, it } from 'vitest';
import { contentWithoutUnparsed, engineView, type ToolParsing } from '../../src/families/engine-view.js';
import { familyNamed, usualFamily } from '../../src/families/registry.js';
import { TOOLS } from './template-fixtures.js';

function view(name: string, text: string, mode: ToolParsing) {
  const { family } = usualFamily(familyNamed(name)!);
  const reply = { text, stopStart: text.length, isMarker: () => true, reasoningOpen: false, tools: TOOLS };
  const seen = engineView(family.parse(reply), reply, mode, family);
  return { content: seen.content, calls: seen.toolCalls.map((call) => `${call.name} ${call.arguments}`) };
}

const GOOD = '<tool_call>\n{"name": "look_up", "arguments": {"s":"é"}}\n</tool_call>';
const UNKNOWN = '<tool_call>\n{"name": "nope", "arguments": {}}\n</tool_call>';
const BAD = '<tool_call>\n{"name": "look_up", "arguments": {oops}}\n</tool_call>';
const OPEN = '<tool_call>\n{"name": "look_up", "arguments": {}}';

describe('the strict view', () => {
  it('is the reply as it was parsed', () => {
    const { family } = usualFamily(familyNamed('hermes')!);
    const reply = { text: GOOD, stopStart: GOOD.length, isMarker: () => true, reasoningOpen: false, tools: TOOLS };
    const parsed = family.parse(reply);
    expect(engineView(parsed, reply, 'strict', family)).toBe(parsed);
  });
});

describe('the view of vLLM', () => {
  it('ends content before the first call and writes arguments anew', () => {
    expect(view('hermes', `Hi\n${GOOD}\nand\n${UNKNOWN}\nDone.`, 'vllm')).toEqual({
      content: 'Hi\n',
      calls: ['look_up {"s": "é"}', 'nope {}'],
    });
  });

  it('gives no call where one of them is broken', () => {
    const text = `Hi\n${GOOD}\n${BAD}`;
    expect(view('hermes', text, 'vllm')).toEqual({ content: text, calls: [] });
  });

  it('keeps the white space behind reasoning in the content', () => {
    expect(view('hermes', `<think>\na\n</think>\n\nHi\n${BAD}`, 'vllm')).toEqual({ content: `\n\nHi\n${BAD}`, calls: [] });
    expect(view('hermes', `<think>\n\n</think>\n\nHi\n${BAD}`, 'vllm').content).toBe(`\n\nHi\n${BAD}`);
  });

  it('reads a call that is not closed', () => {
    expect(view('hermes', OPEN, 'vllm')).toEqual({ content: '', calls: ['look_up {}'] });
  });

  it('takes a call without arguments for broken', () => {
    const text = '<tool_call>\n{"name": "look_up"}\n</tool_call>';
    expect(view('hermes', text, 'vllm')).toEqual({ content: text, calls: [] });
  });

  it('drops what it cannot read of a grammar of tags', () => {
    const good = '<tool_call>\n<function=get_time>\n</function>\n</tool_call>';
    const bad = '<tool_call>\n<function=get_time>\n<parameter=\nx\n</parameter>\n</function>\n</tool_call>';
    expect(view('qwen3-coder', `Hi\n\n${good}\n${bad}`, 'vllm')).toEqual({ content: 'Hi\n\n', calls: ['get_time {}'] });
  });

  it('leaves a reply without calls alone', () => {
    expect(view('hermes', ' Hi ', 'vllm')).toEqual({ content: ' Hi ', calls: [] });
  });
});

describe('the view of SGLang', () => {
  it('drops calls of functions that were not offered, and trims the content', () => {
    expect(view('hermes', ` Hi\n${GOOD}\n${UNKNOWN}\nDone.`, 'sglang')).toEqual({ content: 'Hi', calls: ['look_up {"s": "é"}'] });
  });

  it('drops calls that are broken or not closed', () => {
    expect(view('hermes', `${GOOD}\n${BAD}\n${OPEN}`, 'sglang')).toEqual({ content: '', calls: ['look_up {"s": "é"}'] });
  });

  it('leaves a reply without calls alone', () => {
    expect(view('hermes', ' Hi ', 'sglang')).toEqual({ content: ' Hi ', calls: [] });
  });
});

describe('content without what could not be read', () => {
  it('has the words only', () => {
    const { family } = usualFamily(familyNamed('hermes')!);
    const text = `Hi\n${BAD}\nDone.`;
    const parsed = family.parse({ text, stopStart: text.length, isMarker: () => true, reasoningOpen: false, tools: TOOLS });
    expect(contentWithoutUnparsed(parsed, text)).toBe('Hi\n\nDone.');
  });
});
