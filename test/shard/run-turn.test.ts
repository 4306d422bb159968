import { expect, test } from 'vitest';
import type { TurnRequest } from '../../src/canonical/turn.js';
import { resolveSettings } from '../../src/config-load.js';
import { createProtocols } from '../../src/protocols/registry.js';
import { loadModel } from '../../src/rendering/model.js';
import { CallAnswer } from '../../src/shard/call-answer.js';
import type { FromShard } from '../../src/shard/messages.js';
import { runTurn } from '../../src/shard/run-turn.js';
import { implicitSession, Session } from '../../src/shard/session.js';
import type { ShardContext } from '../../src/shard/shard-context.js';
import { TurnSignatures } from '../../src/shard/turn-signature.js';
import { SIM_MODEL_DIR } from '../../src/sim/model-dir.js';
import { createMetrics } from '../../src/telemetry/metrics.js';

const settings = { ...resolveSettings({}), model: SIM_MODEL_DIR };
const protocol = createProtocols(settings.wire)['openai-chat'];
const request: TurnRequest = {
  protocol: 'openai-chat',
  model: 'm',
  messages: [{ role: 'user', content: 'hello' }],
  tools: [],
  toolChoice: 'auto',
  parallelToolCalls: true,
  templateKwargs: new Map(),
  sampling: {},
  stopStrings: [],
  stream: false,
  includeUsage: false,
  returnTokenIds: false,
  topLogprobs: null,
};

test('a fault of the gateway after a sample discards its tokens under a name of its own', async () => {
  const metrics = createMetrics('test');
  metrics.stop();
  const result = {
    outputIds: Int32Array.of(1, 2, 3),
    logprobs: Float32Array.of(-1),
    finish: { kind: 'length' },
    weightVersions: [],
    flags: [],
  };
  const outcome = { ok: true, result, replica: 'http://e', queueMs: 0, engineMs: 0, attempts: 1, firstTokenMs: null };
  const context = {
    settings,
    metrics,
    model: loadModel(settings),
    engineName: 'by hand',
    engine: { generate: async () => outcome },
    signatures: new TurnSignatures(new Uint8Array(32)),
    modelName: () => 'm',
    contextTokens: () => 1000,
    journal: () => undefined,
  } as unknown as ShardContext;
  const session = new Session(implicitSession('s'), settings, Date.now(), true);
  const sent: FromShard[] = [];
  const answer = new CallAnswer(1, 'req_1', protocol, settings.heartbeat, (message) => void sent.push(message));
  await expect(runTurn({ request, session, protocol, answer, context, receivedAtMs: 0 }, 'digest')).rejects.toThrow(
    '3 output ids and 1 logprobs',
  );
  answer.fail({ code: 'internal_error', message: 'x' });
  expect(sent).toMatchObject([{ kind: 'answer', status: 500 }]);
  expect(session.running.size).toBe(0);
  session.tree.close();
  expect([session.tree.books.sampled, Object.fromEntries(session.tree.books.discarded)]).toEqual([3, { gateway_failed: 3 }]);
});
