import { Agent, type IncomingHttpHeaders, request } from 'node:http';

/** How one POST ended, as an SDK sees it. */
export type CallEnd =
  | { readonly kind: 'reply'; readonly text: string }
  /** A status that is no success, after all retries. */
  | { readonly kind: 'refused'; readonly status: number; readonly code: string }
  /** No whole answer, after all retries; or a stream that broke, which SDKs do not retry. */
  | { readonly kind: 'broken'; readonly why: string }
  /** Its own client gave up. */
  | { readonly kind: 'left' };

export interface SdkCall {
  readonly url: string;
  readonly path: '/v1/chat/completions' | '/v1/messages';
  readonly key: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly stream: boolean;
  /** Retries after the first attempt; the vendors' SDKs make 2. */
  readonly retries: number;
  /** The mark of the first attempt: above 0 where it repeats an earlier call. */
  readonly mark: number;
  /** Ends the call from the client's side. */
  readonly signal?: AbortSignal;
}

const sockets = new Agent({ keepAlive: true, keepAliveMsecs: 500, timeout: 60_000 });
export const closeSockets = (): void => sockets.destroy();

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly whole: boolean;
}

/** One POST with the retry rules of the vendors' SDKs: 408, 409, 429, 5xx and lost connections, `x-should-retry` above all. */
export async function sdkCall(call: SdkCall): Promise<CallEnd> {
  for (let attempt = 0; ; attempt++) {
    let answer: Answer;
    try {
      answer = await post(call, call.mark + attempt);
    } catch (error) {
      if (call.signal?.aborted === true) return { kind: 'left' };
      if (attempt >= call.retries) return { kind: 'broken', why: (error as Error).message };
      await sleep(20 * 2 ** attempt, call.signal);
      continue;
    }
    if (answer.status === 200) {
      if (call.signal?.aborted === true) return { kind: 'left' };
      if (answer.whole) return readReply(call, answer.body);
      // A body that breaks off is a connection error to the reader of JSON and the end of a stream.
      if (call.stream || attempt >= call.retries) return { kind: 'broken', why: 'the answer broke off' };
      continue;
    }
    const told = answer.headers['x-should-retry'];
    const again = told === undefined ? [408, 409, 429].includes(answer.status) || answer.status >= 500 : told === 'true';
    if (!again || attempt >= call.retries) return { kind: 'refused', status: answer.status, code: codeOf(answer.body) };
    await sleep(Math.min(Number(answer.headers['retry-after-ms'] ?? 20 * 2 ** attempt), 200), call.signal);
  }
}

function post(call: SdkCall, mark: number): Promise<Answer> {
  const { url, path, key, body, stream, signal } = call;
  return new Promise((resolve, reject) => {
    const auth = path === '/v1/messages' ? { 'x-api-key': key, 'anthropic-version': '2023-06-01' } : { authorization: `Bearer ${key}` };
    const headers = { ...auth, 'content-type': 'application/json', 'x-stainless-retry-count': String(mark) };
    const sent = request(`${url}${path}`, { method: 'POST', agent: sockets, headers, ...(signal && { signal }) }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      const end = (whole: boolean) => (): void =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text, whole });
      response.on('end', end(true));
      response.on('aborted', end(false));
      response.on('error', end(false));
    });
    sent.on('error', reject);
    sent.end(JSON.stringify({ ...body, stream }));
  });
}

function readReply(call: SdkCall, body: string): CallEnd {
  if (!call.stream) {
    const json = JSON.parse(body) as ChatReply & MessagesReply;
    const text = json.choices?.[0]?.message.content ?? json.content?.find(({ type }) => type === 'text')?.text;
    return { kind: 'reply', text: text ?? '' };
  }
  let text = '';
  let ended = false;
  for (const line of body.split('\n')) {
    if (!line.startsWith('data: ')) continue;
    const data = line.slice(6);
    if (data === '[DONE]') {
      ended = true;
      continue;
    }
    const event = JSON.parse(data) as StreamEvent;
    if (event.error !== undefined || event.type === 'error') return { kind: 'broken', why: data };
    if (event.type === 'message_stop') ended = true;
    text += event.choices?.[0]?.delta?.content ?? event.delta?.text ?? '';
  }
  return ended ? { kind: 'reply', text } : { kind: 'broken', why: 'the stream has no end' };
}

interface ChatReply {
  readonly choices?: readonly { readonly message: { readonly content: string | null } }[];
}
interface MessagesReply {
  readonly content?: readonly { readonly type: string; readonly text?: string }[];
}
interface StreamEvent {
  readonly type?: string;
  readonly error?: unknown;
  readonly choices?: readonly { readonly delta?: { readonly content?: string | null } }[];
  readonly delta?: { readonly text?: string };
}

function codeOf(body: string): string {
  const { error } = JSON.parse(body) as { readonly error: { readonly code?: string; readonly type?: string } };
  return error.code ?? error.type ?? '';
}

const sleep = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
