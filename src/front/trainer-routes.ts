import { randomUUID } from 'node:crypto';
import { GatewayError } from '../errors.js';
import type { Headers } from '../shard/messages.js';
import type { TrainerAnswer, TrainerCall } from '../trainer/calls.js';
import { ackAll, listAll } from '../trainer/fan-out.js';
import { joinFinish } from '../trainer/join.js';
import { readTrainerRequest, type TrainerRouteName } from '../trainer/trainer-request.js';
import type { Call, Front } from './front.js';
import { refuse } from './refusal.js';
import { answerScrape } from './scrape.js';
import { withTrainerBody } from './trainer-body.js';

const JSON_HEADERS: Headers = [['content-type', 'application/json']];
const TEXT_HEADERS: Headers = [['content-type', 'text/plain; charset=utf-8']];

/** One call of the trainer's API: read, sent to the shard of its session or to all, joined and answered. */
export const runTrainerCall = (front: Front, call: Call): void | Promise<void> =>
  withTrainerBody(front, call, (body) => answer(front, call, body));

const answer = async (front: Front, call: Call, body: Uint8Array): Promise<void> => {
  const { settings, link } = front;
  const { call: trainerCall, waitMs } = readTrainerRequest(
    call.route.name as TrainerRouteName,
    call.id,
    { query: call.head.query, accept: call.head.accept, body },
    {
      jsonDepth: settings.limits.jsonDepth,
      finishWaitMs: settings.finish.waitMs,
      leaseMs: settings.traces.leaseMs,
      nowMs: Date.now,
      newId: randomUUID,
    },
  );
  switch (trainerCall.kind) {
    case 'create':
      return created(front, call, await link.trainer(link.shardOf(trainerCall.session.sessionId), trainerCall));
    case 'get':
    case 'delete':
      return one(call, await ofSession(front, trainerCall), JSON_HEADERS);
    case 'tree':
      return one(call, await ofSession(front, trainerCall), trainerCall.format === 'text' ? TEXT_HEADERS : JSON_HEADERS);
    case 'finish':
      return finished(front, call, trainerCall, await ofSession(front, trainerCall));
    case 'ack_life':
      throw new Error('an acknowledgement of a life is made here and never read');
    case 'list':
      return call.exchange.answer(200, JSON_HEADERS, await listAll(link, trainerCall));
    case 'ack':
      return call.exchange.answer(200, JSON_HEADERS, JSON.stringify(await ackAll(link, trainerCall)));
    case 'lease':
      if (call.head.isHead) throw new GatewayError('method_not_allowed', 'cannot HEAD /traces: what is leased must be read, use GET');
      return answerScrape(front, call, trainerCall, waitMs);
  }
};

const ofSession = (front: Front, trainerCall: TrainerCall & { readonly sessionId: string }): Promise<TrainerAnswer> =>
  front.link.trainer(front.link.shardOf(trainerCall.sessionId), trainerCall);

/** Refuses with the answer's error, or says that a shard answered another kind than was asked. */
const refuseOther = (call: Call, result: TrainerAnswer): void => {
  if (result.kind !== 'error') throw new Error(`a shard answered ${result.kind} to ${call.route.name}`);
  refuse(call.exchange, call.dialect, result.error);
};

const one = (call: Call, result: TrainerAnswer, headers: Headers): void => {
  if (result.kind === 'text') call.exchange.answer(result.status, headers, result.text);
  else refuseOther(call, result);
};

/** A shard does not know by what address it is reached: the trainer's own way here is the agents' way too. */
const created = (front: Front, call: Call, result: TrainerAnswer): void => {
  if (result.kind !== 'text') {
    refuseOther(call, result);
    return;
  }
  const session = JSON.parse(result.text) as { readonly session_id: string };
  const { host } = call.head;
  const root = `http://${/^[\w.:[\]-]+$/.test(host) ? host : `${front.settings.host}:${front.settings.port}`}`;
  const body = { ...session, api_key: front.keys.keyOf(session.session_id), base_urls: { openai: `${root}/v1`, anthropic: root } };
  call.exchange.answer(result.status, JSON_HEADERS, JSON.stringify(body));
};

/** Rows are acknowledged for a trainer only when it has got them. */
const finished = (
  front: Front,
  call: Call,
  { sessionId, finish }: TrainerCall & { readonly kind: 'finish' },
  result: TrainerAnswer,
): void => {
  const session = result.kind === 'traces' ? result.sessions[0] : undefined;
  if (result.kind !== 'traces' || session === undefined) {
    refuseOther(call, result);
    return;
  }
  const { headers, body } = joinFinish(finish.encoding, session);
  const { life } = result;
  call.exchange.answer(result.status, headers, body, () => {
    if (finish.ack && life !== undefined) void ofSession(front, { kind: 'ack_life', sessionId, life });
  });
};
