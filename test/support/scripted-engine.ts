import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** One call as the scripted engine got it. */
export interface EngineCallSeen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** Parsed JSON, `null` without a body. */
  readonly body: Record<string, unknown> | null;
  readonly response: ServerResponse;
  readonly socket: Socket;
  /** The client closed the call before it was answered. */
  readonly closed: Promise<void>;
}

export type Script = (call: EngineCallSeen) => void | Promise<void>;

/**
 * A vLLM-shaped server on a real socket whose sampling answers are scripted: tests queue what the next sampling calls do,
 * and what all others do. Probes are answered like those of a healthy 0.32.
 */
export class ScriptedEngine {
  readonly calls: EngineCallSeen[] = [];
  /** Requests to the abort route. */
  readonly aborts: string[] = [];
  healthy = true;
  /** So many of the next health checks find their connection closed. */
  healthResets = 0;
  /** Whether the abort route exists. */
  abortRoute = true;
  /** It has another key than its callers: only health and version are open. */
  locked = false;
  weightVersion: string | null = null;
  /** What a question for its weights waits for before they are looked at. */
  beforeWeightInfo: () => Promise<void> = async () => {};
  /** What its metrics say of requests that wait in it. */
  waiting = 0;
  otherwise: Script = (call) => answer(call, { ids: [7, 8, 9] });
  readonly #next: Script[] = [];
  readonly #waiting: ((call: EngineCallSeen) => void)[] = [];
  readonly #sockets = new Set<Socket>();
  #server: Server | null = null;
  #port = 0;

  static async start(): Promise<ScriptedEngine> {
    const engine = new ScriptedEngine();
    await engine.listen();
    return engine;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Takes the port of before after {@link stop}. */
  async listen(): Promise<void> {
    const server = createServer((request, response) => void this.#serve(request, response));
    server.keepAliveTimeout = 60_000;
    server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    server.listen(this.#port, '127.0.0.1');
    await once(server, 'listening');
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  /** Closes the port and resets all connections. */
  async stop(): Promise<void> {
    const server = this.#server;
    if (server === null) return;
    this.#server = null;
    const closed = once(server, 'close');
    server.close();
    for (const socket of this.#sockets) socket.resetAndDestroy();
    await closed;
  }

  /** What the next sampling calls do, one script each. */
  next(...scripts: Script[]): void {
    this.#next.push(...scripts);
  }

  /** Resolves with the next sampling call when it arrives. */
  arrival(): Promise<EngineCallSeen> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      return;
    }
    const text = Buffer.concat(chunks).toString();
    const body = text === '' ? null : (JSON.parse(text) as Record<string, unknown>);
    const path = request.url ?? '';
    if (path === '/health' && this.healthResets > 0) {
      this.healthResets--;
      request.socket.resetAndDestroy();
      return;
    }
    if (path === '/health') return end(response, this.healthy ? 200 : 503, '');
    if (path === '/version') return json(response, 200, { version: '0.32.0' });
    if (this.locked && /^\/(v1|inference)\//.test(path)) return json(response, 401, { error: 'Unauthorized' });
    if (path === '/v1/models') return json(response, 200, { data: [{ id: 'tiny', parent: null, max_model_len: 2048 }] });
    if (path === '/weight_info') {
      await this.beforeWeightInfo();
      return this.weightVersion === null
        ? json(response, 404, { detail: 'Not Found' })
        : json(response, 200, { weight_version: this.weightVersion });
    }
    if (path === '/inference/v1/abort_requests') {
      if (!this.abortRoute) return json(response, 404, { detail: 'Not Found' });
      for (const id of (body?.request_ids ?? []) as string[]) if (!id.includes('probe')) this.aborts.push(id);
      return end(response, 200, '');
    }
    if (path === '/metrics')
      return end(response, 200, `vllm:num_requests_running{engine="0"} 1.0\nvllm:num_requests_waiting{engine="0"} ${this.waiting}\n`);
    const closed = new Promise<void>((resolve) => response.on('close', () => (response.writableFinished ? undefined : resolve())));
    const seen = { method: request.method ?? '', path, headers: request.headers, body, response, socket: request.socket, closed };
    if (body?.request_id === 'rollout-gateway-probe-0') return answer(seen, { ids: [5] });
    this.calls.push(seen);
    const script = this.#next.shift() ?? this.otherwise;
    this.#waiting.shift()?.(seen);
    await script(seen);
  }
}

export interface ScriptedAnswer {
  readonly ids: readonly number[];
  readonly logprobs?: readonly (number | null)[];
  readonly finish?: string;
  readonly stopReason?: number | string | null;
  readonly weightVersions?: readonly { readonly version: string; readonly start: number; readonly end: number }[];
}

/** The JSON that vLLM 0.32 would answer. */
export function answerBody(call: EngineCallSeen, given: ScriptedAnswer): object {
  const { ids, logprobs = ids.map((id) => -id / 10), finish = 'length', stopReason = null, weightVersions = null } = given;
  const prompt = call.body?.token_ids as number[];
  return {
    request_id: `generate-tokens-${String(call.body?.request_id)}`,
    model: 'tiny',
    usage: {
      prompt_tokens: prompt.length,
      completion_tokens: ids.length,
      total_tokens: prompt.length + ids.length,
      prompt_tokens_details: null,
    },
    output_mode: 'tokens',
    choices: [
      {
        index: 0,
        finish_reason: finish,
        stop_reason: stopReason,
        token_ids: ids,
        weight_versions: weightVersions,
        logprobs: { content: logprobs.map((logprob, index) => ({ token_id: ids[index] ?? 0, logprob, rank: 1, top_logprobs: [] })) },
      },
    ],
  };
}

export const answer = (call: EngineCallSeen, given: ScriptedAnswer): void => json(call.response, 200, answerBody(call, given));

export function json(response: ServerResponse, status: number, value: unknown, headers: Record<string, string> = {}): void {
  end(response, status, JSON.stringify(value), { 'content-type': 'application/json', ...headers });
}

export function end(response: ServerResponse, status: number, text: string, headers: Record<string, string> = {}): void {
  if (response.destroyed) return;
  response.writeHead(status, { 'content-length': Buffer.byteLength(text), ...headers });
  response.end(text);
}
