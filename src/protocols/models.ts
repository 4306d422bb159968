import type { ProtocolName } from '../canonical/turn.js';

export interface ListedModel {
  readonly name: string;
  readonly contextTokens: number;
}

/** Vendors give the time of a model's release, which nobody here knows: a fixed one keeps answers equal. */
const RELEASED = '2026-01-01T00:00:00Z';

const MODEL_SHAPES: Readonly<Record<ProtocolName, (model: ListedModel) => object>> = {
  'openai-chat': ({ name, contextTokens }) => ({
    id: name,
    object: 'model',
    created: Date.parse(RELEASED) / 1000,
    owned_by: 'rollout-gateway',
    max_model_len: contextTokens,
    context_length: contextTokens,
  }),
  'anthropic-messages': ({ name, contextTokens }) => ({
    type: 'model',
    id: name,
    display_name: name,
    created_at: RELEASED,
    max_input_tokens: contextTokens,
    max_tokens: contextTokens,
  }),
};

/** `GET /v1/models/{id}`. */
export function formatModel(model: ListedModel, protocol: ProtocolName): string {
  return JSON.stringify(MODEL_SHAPES[protocol](model));
}

/** `GET /v1/models`. */
export function formatModels(models: readonly ListedModel[], protocol: ProtocolName): string {
  const data = models.map(MODEL_SHAPES[protocol]);
  if (protocol === 'openai-chat') return JSON.stringify({ object: 'list', data });
  return JSON.stringify({ data, has_more: false, first_id: models[0]?.name ?? null, last_id: models.at(-1)?.name ?? null });
}
