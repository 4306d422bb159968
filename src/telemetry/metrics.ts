import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';
import { AggregatorRegistry, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { METRICS, type MetricEntry, type MetricName, wireName } from './metric-catalogue.js';

type Label<Name extends MetricName> = (typeof METRICS)[Name]['labels'][number];
type Handle<Name extends MetricName> = (typeof METRICS)[Name]['kind'] extends 'counter'
  ? Counter<Label<Name>>
  : (typeof METRICS)[Name]['kind'] extends 'gauge'
    ? Gauge<Label<Name>>
    : Histogram<Label<Name>>;

/** One thread's metrics, a handle for each entry of the catalogue. */
export type Metrics = { readonly [Name in MetricName]: Handle<Name> } & {
  /** prom-client's JSON of this thread, for merging; it can cross threads. */
  toJson(): Promise<readonly object[]>;
  stop(): void;
};

const QUANTILES = [50, 99, 100] as const;
/** Between two looks at the event loop; each wakes the thread. */
const LOOK_MS = 50;

/** @param thread `front` or `shard-N`; it labels what each thread measures of itself. */
export const createMetrics = (thread: string): Metrics => {
  const registry = new Registry();
  const handle = ([name, entry]: [string, MetricEntry]) => {
    const base = { name: wireName(name), help: entry.help, labelNames: [...entry.labels], registers: [registry] };
    switch (entry.kind) {
      case 'counter':
        return [name, new Counter(base)];
      case 'gauge':
        return [name, new Gauge(base)];
      case 'histogram':
        return [name, new Histogram({ ...base, buckets: [...(entry.buckets ?? [])] })];
    }
  };
  // The loop above makes one handle of the right kind for each name of the catalogue.
  const handles = Object.fromEntries(Object.entries(METRICS).map(handle)) as unknown as { readonly [Name in MetricName]: Handle<Name> };

  const delay = monitorEventLoopDelay({ resolution: LOOK_MS });
  delay.enable();
  const measureThread = (): void => {
    for (const percent of QUANTILES) {
      // The time between two looks is what is measured.
      const lookNs = delay.count === 0 ? 0 : percent === 100 ? delay.max : delay.percentile(percent);
      handles.eventLoopDelaySeconds.set({ thread, quantile: String(percent / 100) }, Math.max(0, lookNs / 1e9 - LOOK_MS / 1e3));
    }
    delay.reset();
    handles.heapUsedBytes.set({ thread }, process.memoryUsage().heapUsed);
    if (!isMainThread) return;
    const { user, system } = process.cpuUsage();
    handles.cpuSecondsTotal.set((user + system) / 1e6);
    handles.residentBytes.set(process.memoryUsage.rss());
  };
  return {
    ...handles,
    toJson: async () => {
      measureThread();
      return registry.getMetricsAsJSON();
    },
    stop: () => delay.disable(),
  };
};

export const METRICS_CONTENT_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

/** Prometheus text of all threads together: equal series are added up. */
export const mergeMetrics = (parts: readonly (readonly object[])[]): Promise<string> =>
  AggregatorRegistry.aggregate(parts.map((part) => [...part])).metrics();
