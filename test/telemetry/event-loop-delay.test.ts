import { expect, test, vi } from 'vitest';
import { createMetrics, mergeMetrics } from '../../src/telemetry/metrics.js';

const seen = vi.hoisted(() => ({ resolutionMs: 0, count: 3, percentileMs: 0, maxMs: 0 }));
vi.mock('node:perf_hooks', () => ({
  monitorEventLoopDelay: ({ resolution }: { readonly resolution: number }) => {
    seen.resolutionMs = resolution;
    return {
      enable: () => undefined,
      disable: () => undefined,
      reset: () => undefined,
      percentile: () => seen.percentileMs * 1e6,
      get count() {
        return seen.count;
      },
      get max() {
        return seen.maxMs * 1e6;
      },
    };
  },
}));

test('the delay of an event loop is what comes on top of the time between two looks at it', async () => {
  const metrics = createMetrics('front');
  const delays = async (): Promise<number[]> => {
    const lines = (await mergeMetrics([await metrics.toJson()])).split('\n');
    return lines.filter((line) => line.startsWith('rollout_gateway_event_loop_delay')).map((line) => Number(line.split(' ').at(-1)));
  };
  seen.percentileMs = seen.resolutionMs - 1;
  seen.maxMs = seen.resolutionMs + 80;
  expect((await delays()).map((seconds) => Number(seconds.toFixed(6)))).toEqual([0, 0, 0.08]);
  seen.count = 0;
  expect(await delays()).toEqual([0, 0, 0]);
});
