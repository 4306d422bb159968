import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll } from 'vitest';
import type { RolloutGateway, SomeSettings } from '../../src/gateway.js';
import { loadGateway, until } from './flow.js';
import { type LiveEngine, startLiveEngine } from './live-engine.js';
import { LiveRecordings } from './live-recordings.js';
import { type ProxyOptions, type RecordedExchange, RecordingProxy } from './recording-proxy.js';

/** A real gateway behind its HTTP, before a real engine, with all that they say to each other. */
export interface LiveGateway {
  readonly gateway: RolloutGateway;
  readonly proxy: RecordingProxy;
  readonly url: string;
  openai(key: string): OpenAI;
  anthropic(key: string): Anthropic;
  /** A Chat turn of exactly so many tokens, unless the model may end before. */
  chat(key: string, text: string, tokens: number, signal?: AbortSignal): Promise<Response>;
  /** A trainer's call about the engines. */
  order(path: string, body?: object): Promise<EngineWorkReport>;
  close(): Promise<void>;
}

/** What the trainer's routes about engines answer, as far as the suite reads it. */
export interface EngineWorkReport {
  readonly engines: readonly {
    readonly state: string;
    readonly version: string | null;
    readonly problem: string | null;
    readonly weight_version: string | null;
  }[];
  readonly paused: string | null;
  readonly calls: number;
  readonly waiting_turns: number;
  readonly running_turns: readonly { readonly weight_version: string | null; readonly turns: number }[];
}

export interface LiveGatewayOptions {
  readonly settings?: SomeSettings;
  readonly apiKey?: string | null;
  /** `null` = straight to the engine; then nothing is recorded. */
  readonly proxy?: ProxyOptions | null;
}

export async function startLiveGateway(engine: LiveEngine, options: LiveGatewayOptions = {}): Promise<LiveGateway> {
  const Gateway = await loadGateway();
  const proxy = await RecordingProxy.start(engine.url, options.proxy ?? {});
  const { apiKey = engine.apiKey } = options;
  const gateway = new Gateway(
    {
      port: 0,
      shards: 1,
      log: { level: 'error' },
      ...options.settings,
      engine: engine.name,
      engineUrl: [options.proxy === null ? engine.url : proxy.url],
      model: engine.modelDir,
    },
    apiKey === null ? {} : { ROLLOUT_GATEWAY_ENGINE_KEY: apiKey },
  );
  const { url } = await gateway.start();
  const post = (path: string, key: string, body: object, signal?: AbortSignal): Promise<Response> =>
    fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
    });
  return {
    gateway,
    proxy,
    url,
    openai: (key) => new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 }),
    anthropic: (key) => new Anthropic({ baseURL: url, apiKey: key, maxRetries: 0 }),
    chat: (key, text, tokens, signal) =>
      post(
        '/v1/chat/completions',
        key,
        { model: 'tiny', messages: [{ role: 'user', content: text }], max_tokens: tokens, min_tokens: tokens },
        signal,
      ),
    order: async (path, body) => {
      const response = await (body === undefined ? fetch(`${url}/engines${path}`) : post(`/engines${path}`, 'trainer', body));
      if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
      return (await response.json()) as EngineWorkReport;
    },
    close: async () => {
      await gateway.close();
      await proxy.close();
    },
  };
}

/** What all subjects of the live suite share: one engine of each kind, and a gateway before it. */
export interface LiveSuite {
  readonly name: LiveEngine['name'];
  readonly engine: LiveEngine;
  /** With the engine's key and one shard. */
  readonly flow: LiveGateway;
  readonly recordings: LiveRecordings;
}

/** Starts the engine before the first test of a describe block and ends it after the last. */
export function liveSuite(
  name: LiveEngine['name'],
  start: { readonly args: readonly string[]; readonly env: () => Promise<Readonly<Record<string, string>>> },
): LiveSuite {
  let engine: LiveEngine;
  let flow: LiveGateway;
  let version: string | null = null;
  const recordings = new LiveRecordings();
  beforeAll(async () => {
    engine = await startLiveEngine(name, await start.env(), start.args);
    flow = await startLiveGateway(engine);
    await flow.gateway.ready(120_000);
    version = (await flow.order('')).engines[0]!.version;
  });
  afterAll(async () => {
    recordings.write(name, version);
    await flow?.close();
    await engine?.stop();
  });
  return {
    name,
    recordings,
    get engine() {
      return engine;
    },
    get flow() {
      return flow;
    },
  };
}

/** Turns that the engine has answered since, in the order of their ends. The gateway's probes have prompts of one token. */
export const sampledSince = (flow: LiveGateway, before: number): readonly RecordedExchange[] =>
  flow.proxy.exchanges
    .slice(before)
    .filter(({ path, status }) => isSampling(path) && status === 200)
    .filter(({ request }) => ((request.token_ids ?? request.input_ids) as readonly number[]).length > 1);

export const isSampling = (path: string): boolean => /\/generate$/.test(path);

/** The engine's own counters come to nothing within 2 s; they follow its work with a short delay. */
export const untilIdle = (engine: LiveEngine): Promise<void> =>
  until(
    async () => {
      const { running, waiting } = await engine.load();
      return running + waiting === 0;
    },
    'the engine has nothing to do',
    2000,
  );

/** One line of figures for whoever runs the suite. */
export const tell = (name: string, text: string): void => {
  process.stderr.write(`${name}: ${text}\n`);
};
