import { expect, test } from 'vitest';
import { METRICS, wireName } from '../../src/telemetry/metric-catalogue.js';
import { createMetrics, mergeMetrics } from '../../src/telemetry/metrics.js';

test('metrics of several threads are added up and keep their own thread labels', async () => {
  const front = createMetrics('front');
  const shard = createMetrics('shard-0');
  front.tokensTotal.inc({ kind: 'sampled' }, 2);
  shard.tokensTotal.inc({ kind: 'sampled' }, 3);
  shard.turnStageSeconds.observe({ stage: 'render' }, 0.0003);
  const crossed = structuredClone(await shard.toJson());
  const text = await mergeMetrics([await front.toJson(), crossed]);
  expect(text).toContain('rollout_gateway_tokens_total{kind="sampled"} 5');
  expect(text).toContain('rollout_gateway_turn_stage_seconds_bucket{le="0.0005",stage="render"} 1');
  expect(text).toMatch(/rollout_gateway_event_loop_delay_seconds\{thread="front",quantile="0.99"\} \d/);
  expect(text).toMatch(/rollout_gateway_heap_used_bytes\{thread="shard-0"\} \d+/);
  front.stop();
  shard.stop();
});

test('names on the wire are snake case with one prefix', () => {
  for (const name of Object.keys(METRICS)) expect(wireName(name)).toMatch(/^rollout_gateway_[a-z][a-z_]*$/);
});
