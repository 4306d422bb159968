import { METRICS_CONTENT_TYPE, mergeMetrics } from '../telemetry/metrics.js';
import type { Call, Front } from './front.js';

const JSON_HEADERS = [['content-type', 'application/json']] as const;

export const answerHealth = (_front: Front, { exchange }: Call): void => exchange.answer(200, JSON_HEADERS, '{"status":"ok"}');

export const answerReady = (front: Front, { exchange }: Call): void => {
  const problem = front.isStopping ? 'the gateway is stopping' : front.link.problem;
  const ready = front.link.ready && !front.isStopping;
  exchange.answer(ready ? 200 : 503, JSON_HEADERS, JSON.stringify({ ready, problem: ready ? null : problem }));
};

export const answerMetrics = async (front: Front, { exchange }: Call): Promise<void> => {
  front.metrics.openCalls.set(front.openCalls.size);
  front.metrics.bodiesInFlightBytes.set(front.budget.usedBytes);
  const parts = await Promise.all([front.metrics.toJson(), front.link.metrics()]);
  exchange.answer(200, [['content-type', METRICS_CONTENT_TYPE]], await mergeMetrics([parts[0], ...parts[1]]));
};
