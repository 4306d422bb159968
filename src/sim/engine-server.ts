import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { agentPolicy } from './agent-script.js';
import { type Counters, EngineCore } from './engine-core.js';
import type { FaultRule } from './faults.js';
import { answerGenerate } from './generate-call.js';
import { type Answer, type Routes, readJson, send } from './http.js';
import type { LedgerEntry } from './ledger.js';
import { SIM_MODEL_DIR } from './model-dir.js';
import { PlanError } from './plan.js';
import { firstOf, type Policy, planPolicy, randomPolicy } from './policy.js';
import { type LatencyModel, NO_LATENCY } from './scheduler.js';
import { sglangControl } from './sglang-control.js';
import { sglangGenerate, sglangRefusals } from './sglang-wire.js';
import { simControl } from './sim-control.js';
import { vllmControl } from './vllm-control.js';
import { GATED, vllmCompletions, vllmGenerate, vllmRefusals } from './vllm-wire.js';
import { SimVocabulary } from './vocabulary.js';
import type { GenerateRoute, Refusals, ServedModel } from './wire.js';

export interface SimEngineOptions {
  /** Whose protocol it speaks; `vllm` when absent. */
  readonly engine?: 'vllm' | 'sglang';
  readonly host?: string;
  /** 0 takes a free one. */
  readonly port?: number;
  readonly seed?: number;
  /** The embedded model when absent; any byte-level BPE directory will do. */
  readonly modelDir?: string;
  readonly modelName?: string;
  /** What the model says; by default a plan in the prompt, else the agent script, else random words. */
  readonly policy?: Policy;
  /** Everything at once when absent. */
  readonly latency?: LatencyModel;
  /** Sequences that run at once, 0 = all. */
  readonly window?: number;
  /** Running and waiting together; above it 503. 0 = no limit. */
  readonly maxQueued?: number;
  /** Blocks of 16 tokens in the prefix cache, 0 = none. */
  readonly cacheBlocks?: number;
  readonly ledgerLimit?: number;
  readonly faults?: readonly FaultRule[];
  /** Bearer token that the guarded routes want. */
  readonly apiKey?: string;
  /** `false`: `/inference/*` answers 403, as vLLM without `--enable-scale-out`. */
  readonly scaleOut?: boolean;
  /** Idle connections are closed after it. */
  readonly keepAliveMs?: number;
}

export interface SimEngine {
  readonly url: string;
  readonly port: number;
  readonly core: EngineCore;
  readonly counters: Counters;
  ledger(after?: number): readonly LedgerEntry[];
  setFaults(rules: readonly FaultRule[]): void;
  setPolicy(policy: Policy): void;
  /** Cuts every connection and stops listening; listens again after `downMs`, or never when it is 0. */
  die(downMs: number): Promise<void>;
  close(): Promise<void>;
}

const VLLM_VERSION = '0.32.0';
const SGLANG_VERSION = '0.5.23';

/** Starts a simulated inference server on its own port. @throws the listen error, such as `EADDRINUSE`. */
export async function startSimEngine(options: SimEngineOptions = {}): Promise<SimEngine> {
  const vocabulary = new SimVocabulary(options.modelDir ?? SIM_MODEL_DIR);
  const core = new EngineCore({
    seed: options.seed ?? 0,
    modelName: options.modelName ?? 'sim',
    vocabulary,
    policy: options.policy ?? firstOf(planPolicy, agentPolicy, randomPolicy()),
    latency: options.latency ?? NO_LATENCY,
    window: options.window ?? 0,
    cacheBlocks: options.cacheBlocks ?? 65_536,
    ledgerLimit: options.ledgerLimit ?? 100_000,
    faults: options.faults ?? [],
  });
  const host = options.host ?? '127.0.0.1';
  const listener = new Listener(host, options.keepAliveMs ?? 5000);
  const die = async (downMs: number): Promise<void> => {
    core.abort(null);
    await listener.stop();
    if (downMs > 0) listener.startAfter(downMs);
  };
  const requestHandler = new RequestHandler(core, options, die);
  await listener.start(options.port ?? 0, (request, response) => void requestHandler.handle(request, response));
  return {
    url: `http://${host}:${listener.port}`,
    port: listener.port,
    core,
    counters: core.counters,
    ledger: (after) => core.ledger.entries(after),
    setFaults: (rules) => core.faults.set(rules),
    setPolicy: (policy) => {
      core.policy = policy;
    },
    die,
    close: async () => {
      core.abort(null);
      await listener.close();
    },
  };
}

/** A port that can go away and come back. */
class Listener {
  readonly #server: Server;
  #back: NodeJS.Timeout | null = null;
  port = 0;

  constructor(
    readonly host: string,
    keepAliveMs: number,
  ) {
    this.#server = createServer({ keepAliveTimeout: keepAliveMs, requestTimeout: 0, headersTimeout: 0 });
  }

  async start(port: number, handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<void> {
    this.#server.on('request', handle);
    await this.#listen(port);
    this.port = (this.#server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  startAfter(downMs: number): void {
    this.#back = setTimeout(() => void this.#listen(this.port), downMs);
  }

  async close(): Promise<void> {
    if (this.#back) clearTimeout(this.#back);
    await this.stop();
  }

  async #listen(port: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, this.host, 2048, () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
  }
}

/** Finds the route of a request and answers it. */
class RequestHandler {
  readonly #control: Routes;
  readonly #generate: ReadonlyMap<string, GenerateRoute>;
  readonly #refusals: Refusals;
  readonly #model: ServedModel;
  #serial = 0;

  constructor(
    readonly core: EngineCore,
    readonly options: SimEngineOptions,
    readonly die: (downMs: number) => Promise<void>,
  ) {
    const sglang = options.engine === 'sglang';
    const routes = sglang ? [sglangGenerate] : [vllmGenerate, vllmCompletions];
    this.#generate = new Map(routes.map((route) => [route.path, route]));
    this.#refusals = sglang ? sglangRefusals : vllmRefusals;
    this.#control = {
      ...(sglang ? sglangControl(core, SGLANG_VERSION) : vllmControl(core, VLLM_VERSION)),
      ...simControl(core, (downMs) => void die(downMs)),
    };
    const { vocabulary, modelName, seed } = core.options;
    this.#model = {
      name: modelName,
      contextTokens: vocabulary.contextTokens,
      vocabSize: vocabulary.vocabSize,
      eosIds: vocabulary.eosIds,
      newRequestId: () => `sim-${seed}-${++this.#serial}`,
    };
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://sim');
    try {
      if (!this.#authorized(url.pathname, request)) return send(response, { status: 401, body: { error: 'Unauthorized' } });
      if (this.options.scaleOut === false && url.pathname.startsWith('/inference/')) return send(response, GATED);
      const body = await readJson(request);
      const route = request.method === 'POST' ? this.#generate.get(url.pathname) : undefined;
      if (route) return await this.#sample(route, body, request, response);
      send(response, await this.#controlAnswer(request, url, body));
    } catch (error) {
      if (error instanceof PlanError || error instanceof SyntaxError) {
        const message = error instanceof PlanError ? error.message : `JSON decode error: ${error.message}`;
        send(response, { status: 400, body: { error: { message, type: 'Bad Request', param: 'body', code: 400 } } });
      } else if (!response.destroyed) response.destroy();
    }
  }

  async #controlAnswer(request: IncomingMessage, url: URL, body: unknown): Promise<Answer> {
    const handler = this.#control[`${request.method} ${url.pathname}`];
    if (handler) return await handler({ query: url.searchParams, headers: request.headers, body });
    const known = this.#generate.has(url.pathname) || Object.keys(this.#control).some((key) => key.endsWith(` ${url.pathname}`));
    return known ? { status: 405, body: { detail: 'Method Not Allowed' } } : { status: 404, body: { detail: 'Not Found' } };
  }

  async #sample(route: GenerateRoute, body: unknown, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parsed = route.parse(body, request.headers, this.#model);
    if (!parsed.ok) {
      if (parsed.kills) return await this.die(0);
      return send(response, parsed.refusal);
    }
    const { scheduler } = this.core;
    const { maxQueued = 0 } = this.options;
    if (maxQueued > 0 && scheduler.running + scheduler.waiting >= maxQueued) return send(response, this.#refusals('http_503', this.#model));
    if (this.options.engine === 'sglang' && this.core.isRunning(parsed.request.requestId)) {
      return send(response, { status: 400, body: { error: { message: `Duplicate request ID detected: ${parsed.request.requestId}` } } });
    }
    await answerGenerate({
      core: this.core,
      route,
      admitted: this.core.admit(parsed.request),
      refusal: (kind) => this.#refusals(kind, this.#model),
      die: this.die,
      response,
    });
  }

  /** vLLM guards `/v1` and `/inference` only, SGLang everything but health and metrics; ours are open. */
  #authorized(path: string, request: IncomingMessage): boolean {
    if (this.options.apiKey === undefined || path.startsWith('/sim/')) return true;
    const open = this.options.engine === 'sglang' ? path === '/health' || path === '/metrics' : !/^\/(v1|inference)\//.test(path);
    return open || request.headers.authorization === `Bearer ${this.options.apiKey}`;
  }
}
