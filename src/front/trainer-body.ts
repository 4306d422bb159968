import { GatewayError } from '../errors.js';
import { admitBody, receiveBody } from './body.js';
import type { Call, Front } from './front.js';
import { refuse } from './refusal.js';

/** Receives the body of a trainer's call, empty where the method has none, and refuses with the code of a GatewayError. */
export const withTrainerBody = (front: Front, call: Call, answer: (body: Uint8Array) => Promise<void>): void | Promise<void> => {
  const run = async (body: Uint8Array): Promise<void> => {
    call.exchange.received();
    try {
      await answer(body);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      refuse(call.exchange, call.dialect, error.toValue());
    }
  };
  if (call.route.method !== 'POST') return run(new Uint8Array(0));
  const refused = admitBody(call.head, front.budget);
  if (refused !== null) return refuse(call.exchange, call.dialect, refused, [], true);
  return new Promise((resolve, reject) => {
    call.exchange.onClosed(() => resolve());
    call.exchange.onGone = receiveBody(call.response, call.head, front.budget, front.link.buffers, (body) => {
      call.exchange.onGone = null;
      if ('code' in body) return refuse(call.exchange, call.dialect, body, [], body.code === 'body_too_large');
      front.metrics.bodyBytesTotal.inc(body.byteLength);
      run(body).then(resolve, reject);
    });
  });
};
