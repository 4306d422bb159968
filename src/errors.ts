/** Every failure that leaves the program, once: what it is called, what each dialect shows, and whether trying again helps. */
export interface ErrorEntry {
  readonly status: number;
  /** `error.type` of OpenAI's dialect. */
  readonly openaiType: string;
  /** `error.type` of Anthropic's dialect. */
  readonly anthropicType: string;
  /** The status on Messages where it differs from Chat's. */
  readonly anthropicStatus?: number;
  /** Value of `x-should-retry`. */
  readonly shouldRetry: boolean;
  /** One sentence for the README's table. */
  readonly meaning: string;
}

const entry = (status: number, openaiType: string, anthropicType: string, shouldRetry: boolean, meaning: string): ErrorEntry => ({
  status,
  openaiType,
  anthropicType,
  shouldRetry,
  meaning,
});
const invalid = (meaning: string): ErrorEntry => entry(400, 'invalid_request_error', 'invalid_request_error', false, meaning);

export const ERRORS = {
  invalid_json: invalid('The body is not JSON, is nested too deeply, or is not an object.'),
  invalid_request: invalid('A field is missing, has the wrong type or an unknown value; the message names it.'),
  unsupported_feature: invalid('The request asks for something that would change sampling and cannot be honoured; the message names it.'),
  thread_unsupported_request: invalid('Server-held threads are not kept; send the whole history.'),
  context_length_exceeded: invalid('The prompt does not fit into the model’s context.'),
  template_error: invalid('The chat template refused the messages; the message is the template’s own.'),
  template_limit: invalid('The chat template took more steps, text or depth than it may.'),
  invalid_session_id: invalid('A session id is 1 to 4096 bytes of UTF-8 without control characters.'),
  missing_api_key: entry(
    401,
    'authentication_error',
    'authentication_error',
    false,
    'No session key in `x-api-key` or `Authorization: Bearer`.',
  ),
  conflicting_api_keys: entry(
    401,
    'authentication_error',
    'authentication_error',
    false,
    '`x-api-key` and `Authorization` carry different keys.',
  ),
  invalid_api_key: entry(
    401,
    'authentication_error',
    'authentication_error',
    false,
    'Sessions must be created first (`sessions.implicit: false`) and this key was not.',
  ),
  admin_token_required: entry(
    401,
    'authentication_error',
    'authentication_error',
    false,
    'The trainer’s routes need the admin token as `Authorization: Bearer`.',
  ),
  session_closed: entry(403, 'invalid_request_error', 'permission_error', false, 'The session was finished or deleted.'),
  turn_limit: entry(403, 'invalid_request_error', 'permission_error', false, 'The session has used all its turns.'),
  session_lost: entry(
    403,
    'invalid_request_error',
    'permission_error',
    false,
    'The shard that held the session crashed; its trajectory is gone and the rollout must start again.',
  ),
  not_found: entry(404, 'not_found_error', 'not_found_error', false, 'No such path.'),
  session_not_found: entry(404, 'not_found_error', 'not_found_error', false, 'No session has this id.'),
  model_not_found: entry(404, 'not_found_error', 'not_found_error', false, 'The model is not served here.'),
  method_not_allowed: entry(
    405,
    'invalid_request_error',
    'invalid_request_error',
    false,
    'The path exists, the method does not; see the `Allow` header.',
  ),
  replica_not_found: entry(404, 'not_found_error', 'not_found_error', false, 'The gateway knows no replica with this URL.'),
  replica_exists: entry(409, 'invalid_request_error', 'invalid_request_error', false, 'A replica with this URL is there.'),
  session_exists: entry(409, 'invalid_request_error', 'invalid_request_error', false, 'A live session has this id.'),
  body_too_large: entry(413, 'invalid_request_error', 'request_too_large', false, 'The body is larger than `limits.bodyBytes`.'),
  unsupported_encoding: {
    ...entry(415, 'invalid_request_error', 'invalid_request_error', false, 'The body’s `content-encoding` is not known.'),
    anthropicStatus: 400,
  },
  engine_failed: entry(500, 'server_error', 'api_error', true, 'The engine failed and the retries are spent.'),
  engine_invalid_answer: entry(
    500,
    'server_error',
    'api_error',
    true,
    'The engine’s answer makes no sense (lengths, ids, logprobs); nothing was recorded.',
  ),
  internal_error: entry(500, 'server_error', 'api_error', false, 'A fault of the gateway; the log has the details.'),
  overloaded: { ...entry(503, 'server_error', 'overloaded_error', true, 'Queues are full.'), anthropicStatus: 529 },
  not_ready: { ...entry(503, 'server_error', 'overloaded_error', true, 'The model is still being loaded.'), anthropicStatus: 529 },
  shutting_down: { ...entry(503, 'server_error', 'overloaded_error', true, 'The gateway is stopping.'), anthropicStatus: 529 },
  engine_unusable: entry(
    503,
    'server_error',
    'api_error',
    true,
    'The engine answers but cannot take token ids; the message says what to change.',
  ),
  setting_invalid: entry(
    500,
    'server_error',
    'api_error',
    false,
    'A setting has a value that is not allowed. Seen at start, never on the wire.',
  ),
  model_files: entry(
    500,
    'server_error',
    'api_error',
    false,
    'The model directory lacks a file or holds one that cannot be read. Seen at start, never on the wire.',
  ),
  port_taken: entry(500, 'server_error', 'api_error', false, 'Another program listens on the port. Seen at start, never on the wire.'),
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERRORS;

/** A failure as a value: it crosses threads, where classes do not survive. */
export interface ErrorValue {
  readonly code: ErrorCode;
  readonly message: string;
  readonly retryAfterMs?: number;
}

export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  constructor(
    readonly code: ErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }

  toValue(): ErrorValue {
    return { code: this.code, message: this.message };
  }
}
