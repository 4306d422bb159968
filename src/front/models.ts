import type { ErrorValue } from '../errors.js';
import type { ServedModel } from '../shard/messages.js';
import type { Call, Front } from './front.js';
import { refuse } from './refusal.js';

const JSON_HEADERS = [['content-type', 'application/json']] as const;
/** The vendors print a date; ours says nothing about the model. */
const CREATED_AT = '2026-01-01T00:00:00Z';

/** `max_model_len` is vLLM's word for the context, which OpenAI's shape lacks. */
const openaiModel = (model: ServedModel): object => ({
  id: model.name,
  object: 'model',
  created: Date.parse(CREATED_AT) / 1000,
  owned_by: 'rollout-gateway',
  max_model_len: model.contextTokens,
});
const anthropicModel = (model: ServedModel): object => ({
  type: 'model',
  id: model.name,
  display_name: model.name,
  created_at: CREATED_AT,
  max_input_tokens: model.contextTokens,
});

export const answerModels = (front: Front, call: Call): void => {
  const { exchange, dialect, route } = call;
  const { model } = front.link;
  if (model === null) {
    const error: ErrorValue = {
      code: 'not_ready',
      message: `no model yet: ${front.link.problem ?? 'it is being loaded'}`,
      retryAfterMs: 1000,
    };
    refuse(exchange, dialect, error);
    return;
  }
  const isAnthropic = dialect === 'anthropic-messages';
  const one = isAnthropic ? anthropicModel(model) : openaiModel(model);
  if (route.name === 'model') {
    if (call.id === model.name) exchange.answer(200, JSON_HEADERS, JSON.stringify(one));
    else
      refuse(exchange, dialect, {
        code: 'model_not_found',
        message: `no model ${JSON.stringify(call.id)} is served here, only ${JSON.stringify(model.name)}`,
      });
    return;
  }
  const list = isAnthropic ? { data: [one], has_more: false, first_id: model.name, last_id: model.name } : { object: 'list', data: [one] };
  exchange.answer(200, JSON_HEADERS, JSON.stringify(list));
};
