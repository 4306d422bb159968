import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { AssistantMessage, Message } from '../../src/canonical/message.js';
import { resolveSettings } from '../../src/config-load.js';
import { type LoadedModel, loadModel } from '../../src/rendering/model.js';
import { readReply } from '../../src/rendering/reply-reader.js';
import { ROLE_COLON_STOP } from '../../src/rendering/role-colon-renderer.js';
import { SIM_MODEL_DIR } from '../../src/sim/model-dir.js';

/** The embedded model as a base model: no chat template anywhere. */
function baseModel(): LoadedModel {
  const directory = mkdtempSync(join(tmpdir(), 'rollout-gateway-base-'));
  try {
    cpSync(SIM_MODEL_DIR, directory, { recursive: true });
    rmSync(join(directory, 'chat_template.jinja'));
    const config = JSON.parse(readFileSync(join(directory, 'tokenizer_config.json'), 'utf8')) as Record<string, unknown>;
    delete config.chat_template;
    writeFileSync(join(directory, 'tokenizer_config.json'), JSON.stringify(config));
    return loadModel({ ...resolveSettings({}), model: directory });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

describe('a model without a chat template', () => {
  const model = baseModel();
  const conversation = (messages: readonly Message[]) => ({
    messages,
    tools: [],
    templateKwargs: new Map(),
    addGenerationPrompt: true,
    nowMs: 0,
  });
  const asked: Message[] = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'hi' },
  ];

  test('is rendered in code, says so, and stops at the next speaker', () => {
    expect(model.renderer.kind).toBe('coded');
    expect(model.warning).toContain('no chat template');
    expect(model.stopStrings).toEqual([ROLE_COLON_STOP]);
    expect(model.renderer.render(conversation(asked))).toBe('System: Be brief.\n\nUser: hi\n\nAssistant:');
  });

  test('has its reply cut at the stop and its next prompt continue what was sampled', () => {
    const outputIds = model.tokenizer.encode(` yes, certainly${ROLE_COLON_STOP}`);
    const read = readReply(
      {
        outputIds,
        finish: { kind: 'stop', matched: ROLE_COLON_STOP },
        stopStrings: model.stopStrings,
        eosTokenIds: model.endTokenIds,
        stopTokenIds: new Set(model.stopTokenIds),
        reasoningOpen: false,
        tools: [],
      },
      model.tokenizer,
      model.family,
    );
    expect(read.stop).toMatchObject({ kind: 'stop_string', stopString: ROLE_COLON_STOP });
    expect(read.parsed.content).toBe('yes, certainly');
    const message: AssistantMessage = { role: 'assistant', content: read.parsed.content, reasoning: null, toolCalls: [] };
    const built = model.prompts.build({
      messages: [...asked, message, { role: 'user', content: 'more' }],
      tools: [],
      templateKwargs: new Map(),
      nowMs: 0,
      policy: 'auto',
      base: {
        messageIndex: 2,
        memory: null,
        outputIds,
        stopTokens: 0,
        stopEndsCall: false,
        message,
        reasoningOpen: () => false,
      },
    });
    expect(built).toMatchObject({ proof: 'exact', continues: true });
    expect(`${model.tokenizer.decode(outputIds)}${built.tail}`).toBe(' yes, certainly\n\nUser: more\n\nAssistant:');
  });

  test('refuses tools, calls and results with a sentence', () => {
    const call = { id: 'c', name: 'f', arguments: '{}', value: new Map() };
    const refused: readonly Message[] = [
      { role: 'assistant', content: null, reasoning: null, toolCalls: [call] },
      { role: 'tool', content: 'x', toolCallId: 'c', name: null, isError: false },
    ];
    for (const message of refused) expect(() => model.renderer.render(conversation([...asked, message]))).toThrow(/role-colon/);
    expect(() => model.renderer.render({ ...conversation(asked), tools: [{ name: 'f' }] })).toThrow(/chat template/);
  });
});
