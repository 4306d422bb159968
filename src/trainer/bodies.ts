import { z } from 'zod';
import { toPlain } from '../canonical/json-plain.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../canonical/json-value.js';
import { compactJson } from '../canonical/json-write.js';
import { GatewayError } from '../errors.js';
import { parseBody } from '../protocols/request-body.js';
import { parseSampling, parseStopStrings, SAMPLING_NAMES } from '../protocols/sampling-fields.js';
import { closedObject, describeIssue } from './body-issues.js';
import type { CreateSession } from './calls.js';

const label = z.union([z.string(), z.int().transform(String)], { error: 'must be a string or a whole number' }).nullish();
const object = z.record(z.string(), z.unknown()).nullish();
const count = z.int().min(1).nullish();
const reward = z.number().nullish();
const component = z.union([z.number(), z.strictObject({ value: z.number(), weight: z.number() })], {
  error: 'must be a number or {"value": number, "weight": number}',
});

export const CreateBody = closedObject({
  session_id: z.string().nullish(),
  sampling: object,
  history: z.enum(['auto', 'verbatim', 'rerender']).nullish(),
  wire: closedObject({ token_ids: z.boolean().nullish() }).nullish(),
  metadata: object,
  max_turns: count,
  max_context_tokens: count,
  rollout_id: label,
  group_id: label,
  sample_index: z.int().nullish(),
});

export const FinishBody = closedObject({
  reward,
  reward_components: z.record(z.string(), component).nullish(),
  row_rewards: z.array(z.number().nullable()).nullish(),
  turn_rewards: z.record(z.string(), z.number()).nullish(),
  status: z.enum(['completed', 'truncated', 'aborted', 'failed']).nullish(),
  stop_reason: z.string().nullish(),
  error: z.string().nullish(),
  metadata: object,
  wait_ms: z.int().min(0).max(3_600_000).nullish(),
  include: z.array(z.enum(['messages', 'segments'])).nullish(),
  ack: z.boolean().nullish(),
});

export const AckBody = closedObject({ lease_id: z.string().min(1).nullish(), session_ids: z.array(z.string()).nullish() }).refine(
  (body) => (body.lease_id == null) !== (body.session_ids == null),
  { message: 'give `lease_id` or `session_ids`, one of them' },
);

/** A trainer's body: as it was written, for what is kept, and checked. No bytes are `{}`. */
export function readBody<T>(schema: z.ZodType<T>, bytes: Uint8Array, depth: number): { readonly json: JsonObject; readonly body: T } {
  const json = bytes.length === 0 ? new Map<string, JsonValue>() : parseBody(bytes, depth);
  const result = schema.safeParse(toPlain(json), { reportInput: true });
  if (result.success) return { json, body: result.data };
  throw new GatewayError('invalid_request', result.error.issues.map(describeIssue).join('; '));
}

/** `metadata` as the text of a JSON object, numbers spelled as they came. */
export function metadataText(json: JsonObject): string {
  const metadata = json.get('metadata');
  return isJsonObject(metadata) ? compactJson(metadata) : '{}';
}

/** Sampling that holds for all turns of a session, by vLLM's names and `stop`. */
export function readSampling(json: JsonObject): CreateSession['sampling'] {
  const sampling = json.get('sampling');
  if (!isJsonObject(sampling)) return {};
  for (const name of sampling.keys()) {
    if (name !== 'stop' && !SAMPLING_NAMES.includes(name)) {
      throw new GatewayError('invalid_request', `unknown field \`sampling.${name}\`; known are ${SAMPLING_NAMES.join(', ')} and stop`);
    }
  }
  const stop = parseStopStrings(sampling, 'stop');
  return { ...parseSampling(sampling), ...(stop.length === 0 ? {} : { stop }) };
}
