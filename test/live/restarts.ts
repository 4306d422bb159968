import { expect, test } from 'vitest';
import type { TraceRecord } from '../../src/gateway.js';
import { until } from '../support/flow.js';
import { type ChatMessage, runLiveAgent } from '../support/live-agent.js';
import { expectRowsHoldAnswers, sampledOf } from '../support/live-books.js';
import { isSampling, type LiveSuite, sampledSince, startLiveGateway, tell } from '../support/live-flow.js';

const TURNS = 3;
const TOKENS = 40;

/** An engine that dies in mid run. Last of all: the engine does not survive it. */
export function restartTests(live: LiveSuite): void {
  const { name } = live;

  test('kill and restart in mid run: every turn ends, and every answer that came is trained once', async () => {
    const { engine } = live;
    // One gateway is refused by the dead engine itself, the other has something between that goes on taking connections.
    const direct = await startLiveGateway(engine, { proxy: null });
    try {
      await direct.gateway.ready(60_000);
      const flows = [live.flow, live.flow, live.flow, live.flow, direct, direct];
      const before = live.flow.proxy.exchanges.length;
      const begunBefore = live.flow.proxy.begun.length;
      const run = Promise.all(
        flows.map((flow, n) => {
          const messages: ChatMessage[] = [{ role: 'user', content: `Agent ${n}: talk.` }];
          return runLiveAgent(flow, {
            key: `restart-${n}`,
            messages,
            turns: TURNS,
            stream: n % 2 === 0,
            maxTokens: TOKENS,
            minTokens: TOKENS,
          });
        }),
      );
      await until(() => sampledSince(live.flow, before).length >= 4, 'each agent has had about one turn', 60_000);
      await until(async () => (await engine.load()).running >= 3, 'the engine samples', 20_000);
      await engine.kill();
      const startMs = performance.now();
      for (const flow of new Set(flows)) {
        await until(async () => (await flow.order('')).engines[0]!.state === 'down', 'the replica is down');
        expect((await fetch(`${flow.url}/readyz`)).status).toBe(503);
      }
      const downMs = Math.round(performance.now() - startMs);
      const had = sampledSince(live.flow, before).length;
      await engine.restart();
      const upMs = performance.now() - startMs;
      expect((await run).map((sent) => sent.length)).toEqual(flows.map(() => TURNS));
      const rows: TraceRecord[] = [];
      for (const [n, flow] of flows.entries()) {
        const { traces, summary } = await flow.gateway.sessions.finish(`restart-${n}`);
        const tokens = TURNS * TOKENS;
        expect(summary).toMatchObject({ turns: TURNS, aborted_turns: 0, capture_yield: 1, capture_error: null });
        expect(summary.tokens).toEqual({ sampled: tokens, committed: tokens, trained: tokens, discarded: {} });
        if (flow === live.flow) rows.push(...traces);
      }
      const answers = sampledSince(live.flow, before).map((exchange) => sampledOf(name, exchange));
      expect(expectRowsHoldAnswers(rows, answers)).toBe(4 * TURNS * TOKENS);
      expect(answers).toHaveLength(4 * TURNS);
      expect(had).toBeLessThan(answers.length);
      const calls = live.flow.proxy.begun.slice(begunBefore).filter(isSampling).length;
      tell(
        name,
        `kill and restart: seen down after ${downMs} ms, up again after ${Math.round(upMs / 1000)} s; of the ${answers.length} recorded turns ${had} were before; ${calls} calls for them`,
      );
    } finally {
      await direct.close();
    }
  });

  test('an engine that does not come back: turns are told so within backend.holdMs', async () => {
    const patient = await startLiveGateway(live.engine, { settings: { backend: { holdMs: 2000 } } });
    try {
      await patient.gateway.ready(60_000);
      const running = patient.chat('never-0', 'Never end.', 1500);
      await until(async () => (await live.engine.load()).running === 1, 'it is sampled');
      await live.engine.kill();
      const late = patient.chat('never-1', 'And I?', 20);
      for (const reply of await Promise.all([running, late])) {
        expect(reply.status).toBe(503);
        expect(await reply.json()).toMatchObject({ error: { code: 'overloaded' } });
      }
      for (const key of ['never-0', 'never-1']) {
        const { traces, summary } = await patient.gateway.sessions.finish(key);
        expect([traces, summary.turns, summary.capture_error]).toEqual([[], 0, null]);
      }
    } finally {
      await patient.close();
    }
  });
}
