import { describe, expect, it } from 'vitest';
import { UsageError } from '../../src/cli/command-host.js';
import { faultRule, runSimEngine, SIM_ENGINE_OPTIONS, type SimEngineArguments } from '../../src/cli/sim-engine.js';

const DEFAULTS: SimEngineArguments = {
  engine: 'vllm',
  host: '127.0.0.1',
  port: '0',
  modelName: 'sim',
  seed: '0',
  policy: 'agent',
  replyTokens: '48',
  latency: 'none',
  window: '256',
  maxQueued: '0',
  ledger: '100',
  scaleOut: true,
};

describe('sim-engine', () => {
  it('starts with the options of the table', async () => {
    const engine = await runSimEngine({
      ...DEFAULTS,
      engine: 'sglang',
      fault: ['http_503=0.5', '{"kind":"stall","ms":5}'],
      decodeStepMs: '1.5',
    });
    try {
      expect(engine.core.options.latency).toMatchObject({ decodeStepMs: 1.5 });
      expect(engine.core.faults.list()).toEqual([
        { kind: 'http_503', rate: 0.5, struck: 0 },
        { kind: 'stall', ms: 5, struck: 0 },
      ]);
      expect((await fetch(`${engine.url}/model_info`)).status).toBe(200);
    } finally {
      await engine.close();
    }
  });

  it.each([
    [{ engine: 'tgi' }, '--engine is "tgi", it must be one of vllm, sglang'],
    [{ port: 'x' }, '--port is "x", it must be a whole number from 0 on'],
    [{ fault: ['nope'] }, '"nope" is no fault'],
    [{ fault: ['{"kind":"nope"}'] }, '"kind" must be one of the kinds'],
    [{ decodeStepMs: '-1' }, 'above 0'],
  ])('refuses %j in one sentence', async (wrong, words) => {
    const failure = await runSimEngine({ ...DEFAULTS, ...wrong }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(UsageError);
    expect((failure as Error).message).toContain(words);
  });

  it('says of a taken port what to do', async () => {
    const engine = await runSimEngine(DEFAULTS);
    const again = runSimEngine({ ...DEFAULTS, port: String(engine.port) });
    await expect(again).rejects.toThrow(`cannot listen on 127.0.0.1:${engine.port}: the port is taken`);
    await engine.close();
  });

  it('says of every option what it is for', () => {
    for (const option of SIM_ENGINE_OPTIONS) expect(option.description.length).toBeGreaterThan(10);
    expect(faultRule('slow')).toEqual({ kind: 'slow' });
  });
});
