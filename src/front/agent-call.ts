import type { ProtocolName } from '../canonical/turn.js';
import type { ErrorValue } from '../errors.js';
import type { FromShard } from '../shard/messages.js';
import { isCallHandle } from '../shard/shard-link.js';
import { admitBody, type Body, receiveBody } from './body.js';
import type { Call, Front } from './front.js';
import { refuse } from './refusal.js';

/** A refused body up to this many times the limit is read past and dropped, so that the client sees the answer; beyond it the connection ends. */
const READ_PAST_FACTOR = 4;

/** Everything that can be said against a call by its head alone, cheapest first. */
const admit = (front: Front, call: Call): { readonly sessionKey: string } | ErrorValue => {
  const session = front.keys.sessionOf(call.head.apiKey, call.head.authorization);
  if ('code' in session) return session;
  const closed = front.link.closedError(session.sessionId);
  if (closed !== null) return closed;
  if (front.isStopping) return { code: 'shutting_down', message: 'the gateway is stopping and takes no new calls' };
  const { openCalls } = front.settings.limits;
  if (front.openCalls.size >= openCalls) {
    return {
      code: 'overloaded',
      message: `${front.openCalls.size} calls are in work, limits.openCalls allows ${openCalls}; try again`,
      retryAfterMs: 1000,
    };
  }
  return admitBody(call.head, front.budget) ?? { sessionKey: session.sessionId };
};

/** A turn or a count of tokens: admission, body, then the shard's answer as it comes. */
export const runAgentCall = (front: Front, call: Call, operation: 'turn' | 'count_tokens', protocol: ProtocolName): void => {
  const { exchange, head, dialect } = call;
  const receivedAtMs = Date.now();
  const admitted = admit(front, call);
  if ('code' in admitted) {
    const isHuge = (head.contentLength ?? 0) > front.budget.bodyBytesMax * READ_PAST_FACTOR;
    refuse(exchange, dialect, admitted, [], isHuge || front.isStopping);
    return;
  }
  const end = (error: ErrorValue): void => {
    exchange.leave();
    if (exchange.hasBegun) exchange.cut();
    else refuse(exchange, dialect, error, [], true);
  };
  front.openCalls.add(end);
  exchange.onClosed(() => front.openCalls.delete(end));
  const forget = receiveBody(call.response, head, front.budget, front.link.buffers, (body) => {
    exchange.onGone = null;
    if (!exchange.isOpen) return;
    exchange.received();
    if ('code' in body) {
      refuse(exchange, dialect, body, [], body.code === 'body_too_large');
      return;
    }
    front.metrics.bodyBytesTotal.inc(body.byteLength);
    openCall(front, call, { operation, protocol, sessionKey: admitted.sessionKey, receivedAtMs, body });
  });
  exchange.onGone = forget;
};

interface Opening {
  readonly operation: 'turn' | 'count_tokens';
  readonly protocol: ProtocolName;
  readonly sessionKey: string;
  readonly receivedAtMs: number;
  readonly body: Body;
}

const openCall = (front: Front, call: Call, opening: Opening): void => {
  const { exchange, head, dialect } = call;
  const onMessage = (message: FromShard): void => {
    switch (message.kind) {
      case 'answer':
        exchange.answer(message.status, message.headers, message.body, written);
        break;
      case 'head':
        exchange.startStream(message.status, message.headers, message.body);
        break;
      case 'chunk':
        exchange.write(message.body);
        break;
      case 'end':
        exchange.endStream(message.body, written);
        break;
      case 'cut':
        exchange.cut();
        break;
      case 'lost':
        // An error inside a reply that has begun would be read as the reply.
        if (exchange.hasBegun) exchange.cut();
        else refuse(exchange, dialect, message.error);
        break;
      case 'ready':
      case 'failed':
      case 'engines':
      case 'spare':
      case 'trainer':
      case 'finished':
      case 'opened':
      case 'closed':
      case 'metrics':
        throw new Error(`a shard's ${message.kind} was taken for an answer to a call`);
    }
  };
  const handle = front.link.open({ ...opening, requestId: exchange.requestId, retryCount: head.retryCount }, onMessage);
  const written = (): void => {
    if (isCallHandle(handle)) handle.written();
  };
  if (isCallHandle(handle)) exchange.onGone = () => handle.gone();
  else refuse(exchange, dialect, handle);
};
