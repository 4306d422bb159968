import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Admitted, EngineCore } from './engine-core.js';
import { deliver, type RawAnswer } from './fault-effects.js';
import { type FaultKind, type FaultRule, faultGroup } from './faults.js';
import { looseJson } from './generation.js';
import { send } from './http.js';
import type { GenerateRoute, Refusal } from './wire.js';

export interface GenerateCall {
  readonly core: EngineCore;
  readonly route: GenerateRoute;
  readonly admitted: Admitted;
  readonly refusal: (kind: FaultKind) => Refusal;
  readonly die: (downMs: number) => Promise<void>;
  readonly response: ServerResponse;
}

const SLOW_MS = 1000;
const TRICKLE_PIECES = 20;

/** Answers one request for tokens, with the fault that was drawn for it. A client that leaves frees its slot. */
export async function answerGenerate(call: GenerateCall): Promise<void> {
  const { core, route, admitted, response } = call;
  const { fault } = admitted;
  if (fault && (await strikesBefore(fault, call))) return;
  const running = core.generate(admitted, route.path);
  let gone = response.destroyed;
  response.once('close', () => {
    gone = true;
    if (!response.writableFinished) running.abort();
  });
  if (gone) running.abort();
  const { shown, serial } = await running.done;
  // A socket that was closed in this tick has not told its response yet; a response without one waits for the answer before it.
  if (gone || response.socket?.destroyed === true) return;
  response.once('finish', () => core.ledger.markDelivered(serial));
  const answer: RawAnswer = { status: 200, contentType: 'application/json', body: looseJson(route.format(shown)) };
  if (fault && faultGroup(fault.kind) === 'delivery') await write(response, deliver(fault.kind, answer), fault);
  else send(response, answer);
}

/** Whether the fault has taken the place of sampling. */
async function strikesBefore(fault: FaultRule, { response, refusal, die }: GenerateCall): Promise<boolean> {
  switch (faultGroup(fault.kind)) {
    case 'refusal': {
      const { status, body } = refusal(fault.kind);
      const headers = fault.retryAfterS === undefined ? undefined : { 'retry-after': String(fault.retryAfterS) };
      send(response, { status, body, ...(typeof body === 'string' && { contentType: 'text/html' }), ...(headers && { headers }) });
      return true;
    }
    case 'connection':
      if (fault.kind === 'die') await die(fault.ms ?? SLOW_MS);
      else if (fault.kind === 'reset_before') response.destroy();
      else await stall(response, fault.ms);
      return true;
    default:
      return false;
  }
}

/** Says nothing until the client leaves, or cuts the connection after `ms`. */
async function stall(response: ServerResponse, ms: number | undefined): Promise<void> {
  const timer = ms === undefined ? null : setTimeout(() => response.destroy(), ms);
  await new Promise((resolve) => response.once('close', resolve));
  if (timer) clearTimeout(timer);
}

async function write(response: ServerResponse, answer: RawAnswer, fault: FaultRule): Promise<void> {
  const ms = fault.ms ?? SLOW_MS;
  if (fault.kind === 'slow') await sleep(ms);
  if (fault.kind !== 'reset_mid' && fault.kind !== 'trickle') return send(response, answer);
  const bytes = Buffer.from(answer.body);
  response.writeHead(answer.status, { 'content-type': answer.contentType, 'content-length': bytes.length });
  if (fault.kind === 'reset_mid') {
    response.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => response.destroy());
    return;
  }
  const start = (piece: number): number => Math.floor((bytes.length * piece) / TRICKLE_PIECES);
  const last = TRICKLE_PIECES - 1;
  for (let piece = 0; piece < last && !response.destroyed; piece++) {
    response.write(bytes.subarray(start(piece), start(piece + 1)));
    await sleep(ms / TRICKLE_PIECES);
  }
  response.end(bytes.subarray(start(last)));
}
