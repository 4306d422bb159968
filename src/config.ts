/**
 * Every setting, once: name, unit (last in the name), default, bounds and one sentence. From this table come the types,
 * the command line, the environment variables, the file and the README's table; `config-load.ts` reads values.
 */
import { z } from 'zod';

export type SettingKind = 'integer' | 'number' | 'boolean' | 'text' | 'choice' | 'list' | 'json';

export interface Setting<T> {
  readonly kind: SettingKind;
  readonly default: T;
  /** What is allowed, in words. */
  readonly bounds: string;
  /** What it is for and what happens at the bound, in a sentence. */
  readonly meaning: string;
  /** Left out of help and tables: only for tests. */
  readonly hidden: boolean;
  readonly schema: z.ZodType<T>;
}

const setting = <T>(kind: SettingKind, schema: z.ZodType<T>, value: T, bounds: string, meaning: string): Setting<T> => ({
  kind,
  default: value,
  bounds,
  meaning,
  hidden: false,
  schema,
});
const integer = (value: number, min: number, max: number, meaning: string): Setting<number> =>
  setting('integer', z.int().min(min).max(max), value, `integer, ${min} to ${max}`, meaning);
const number = (value: number, min: number, max: number, meaning: string): Setting<number> =>
  setting('number', z.number().min(min).max(max), value, `number, ${min} to ${max}`, meaning);
const flag = (value: boolean, meaning: string): Setting<boolean> => setting('boolean', z.boolean(), value, 'true or false', meaning);
const choice = <const C extends readonly [string, ...string[]]>(values: C, value: C[number], meaning: string): Setting<C[number]> =>
  setting('choice', z.enum(values) as unknown as z.ZodType<C[number]>, value, values.join(', '), meaning);
const text = (value: string, meaning: string): Setting<string> => setting('text', z.string().min(1), value, 'text', meaning);
const optional = (meaning: string): Setting<string | null> => setting('text', z.string().min(1).nullable(), null, 'text', meaning);
const hidden = <T>(base: Setting<T>): Setting<T> => ({ ...base, hidden: true });

export const isHttpUrl = (value: string): boolean => {
  if (!URL.canParse(value)) return false;
  const url = new URL(value);
  return (url.protocol === 'http:' || url.protocol === 'https:') && url.search === '' && url.hash === '' && url.username === '';
};
/** Whether a server's routes may lie below it: clients of agents want `/v1` in their URL, the gateway does not. */
export const isRootUrl = (url: string): boolean => !/\/v1\/*$/.test(new URL(url).pathname);
const isJsonObjectText = (value: string): boolean => {
  try {
    const parsed: unknown = JSON.parse(value);
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
  } catch {
    return false;
  }
};

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export const SETTING_TREE = {
  engine: choice(['vllm', 'sglang'], 'vllm', 'Kind of inference server behind every `engineUrl`.'),
  engineUrl: setting<readonly string[]>(
    'list',
    z.array(z.string().refine(isHttpUrl)).max(256),
    [],
    'http(s) URLs without query or credentials, at most 256',
    'Root URLs of the engine’s replicas, without `/v1`; repeat the option for several.',
  ),
  engineModel: optional('The engine’s name for the model or LoRA to sample from; found by asking the engine when absent.'),
  engineKeyFile: optional('File with the engine’s API key; the variable `ROLLOUT_GATEWAY_ENGINE_KEY` is the alternative.'),
  model: optional('Directory with tokenizer.json, tokenizer_config.json, config.json and the chat template.'),
  host: text('127.0.0.1', 'Address to listen on; one that is not loopback needs an admin token.'),
  port: integer(8080, 0, 65_535, 'Port for agents, trainer and probes; 0 takes a free one and prints it.'),
  shards: integer(0, 0, 256, 'Worker threads that hold sessions; 0 means processor cores − 1, at least 1.'),
  history: choice(
    ['auto', 'verbatim', 'rerender'],
    'auto',
    'How a prompt continues what was sampled: as the template still says it, always verbatim, or always rendered anew.',
  ),
  realignTokensMax: integer(
    0,
    0,
    1_000_000,
    'With `history: rerender`, the longest drifted tail that is masked instead of starting a new row.',
  ),
  onContextOverflow: choice(
    ['error', 'end'],
    'error',
    'A prompt beyond the context gets the dialect’s overflow error, or an empty reply that ends by length.',
  ),
  toolParsing: choice(
    ['strict', 'vllm', 'sglang'],
    'strict',
    'Which tool calls a reply is read to have: ours, or as that engine’s own parser would.',
  ),
  unparsedCalls: choice(['visible', 'hidden'], 'visible', 'Whether a call that cannot be read stays visible in the content.'),
  family: optional(
    'Output grammar by name, instead of the one found by probing the chat template; a wrong name is answered with all of them.',
  ),
  reasoning: setting<'none' | null>(
    'choice',
    z.enum(['none']).nullable(),
    null,
    'none',
    'Reasoning tags are found by probing the template; `none` turns reasoning off.',
  ),
  templateInput: choice(
    ['transformers-5.24', 'bare'],
    'transformers-5.24',
    'How messages become the template’s variables: as that transformers version does, or as given.',
  ),
  templateKwargs: setting<string>(
    'json',
    z.string().refine(isJsonObjectText),
    '{}',
    'JSON object',
    'Template variables for every request; a request’s `chat_template_kwargs` win. A string keeps the spelling of numbers.',
  ),
  specialTokensInText: choice(
    ['as-hf', 'neutralise'],
    'as-hf',
    'Special-token strings in users’ text become control tokens as in Hugging Face, or stay plain text.',
  ),
  renderMemo: flag(true, 'Reuse loop iterations of the chat template whose inputs did not change.'),
  shortcuts: flag(true, 'Reuse unchanged bytes, messages and encoded prefixes; off takes the plain path everywhere.'),
  adminTokenFile: optional('File with the trainer’s token; the variable `ROLLOUT_GATEWAY_ADMIN_TOKEN` is the alternative.'),
  sessions: {
    implicit: flag(true, 'A key that was never seen opens a session; off, sessions must be created by the trainer.'),
    secretKeys: flag(false, '`POST /sessions` issues a key that cannot be guessed from the session id; no other key is taken.'),
    idleTtlMs: integer(4 * HOUR_MS, 1000, 30 * DAY_MS, 'A session without a call for this long is finished as aborted.'),
    closedTtlMs: integer(900_000, 0, DAY_MS, 'How long the key of a closed session is refused before it may open a session implicitly.'),
    closedMax: integer(1_000_000, 1000, 10_000_000, 'Closed keys that are remembered; the oldest is forgotten first.'),
    max: integer(50_000, 1, 10_000_000, 'Open sessions; one more is refused as overloaded.'),
  },
  limits: {
    bodyBytes: integer(64 * 1024 * 1024, 1024, 1024 * 1024 * 1024, 'Size of a request body, also after decoding; larger is 413.'),
    bodiesInFlightBytes: integer(
      1024 * 1024 * 1024,
      1024 * 1024,
      64 * 1024 * 1024 * 1024,
      'Bytes of all bodies being received; one more body is refused as overloaded.',
    ),
    rememberedBytes: integer(
      256 * 1024 * 1024,
      0,
      64 * 1024 * 1024 * 1024,
      'Request bodies that a shard remembers to read only what is new in the next; the oldest is forgotten first.',
    ),
    openCalls: integer(20_000, 1, 1_000_000, 'Agent calls in work; one more is refused as overloaded.'),
    queue: integer(10_000, 1, 1_000_000, 'Turns of a shard that wait for a place at the engine; one more is refused as overloaded.'),
    pendingTurns: integer(256, 1, 100_000, 'Turns in work of one session; one more is refused as overloaded.'),
    keptReplies: integer(16, 0, 10_000, 'Finished replies of one session kept for a marked retry; the oldest is dropped first.'),
    treeNodes: integer(100_000, 1, 10_000_000, 'Messages in the tree of one session; a turn beyond it is refused with `turn_limit`.'),
    turnsPerSession: integer(10_000, 1, 10_000_000, 'Committed turns of one session; further ones are refused with `turn_limit`.'),
    contextTokens: integer(0, 0, 100_000_000, 'Context in tokens where it should be smaller than the model’s; 0 takes the model’s.'),
    jsonDepth: integer(128, 8, 1000, 'Nesting of a JSON body; deeper is 400.'),
  },
  traces: {
    ttlMs: integer(4 * HOUR_MS, 1000, 30 * DAY_MS, 'Rows of a finished session that nobody acknowledged are dropped after this time.'),
    storeSessions: integer(20_000, 1, 10_000_000, 'Finished sessions that wait for acknowledgement; the oldest is dropped and counted.'),
    leaseMs: integer(300_000, 100, DAY_MS, 'Leased rows that were not acknowledged are handed out again after this time.'),
    maxRowTokens: integer(0, 0, 100_000_000, 'Rows are cut at a turn’s border before they grow beyond this; 0 never cuts.'),
  },
  finish: {
    waitMs: integer(5000, 0, HOUR_MS, 'How long finish waits for running turns before it aborts them, unless the call says otherwise.'),
  },
  heartbeat: {
    streamMs: integer(5000, 10, 600_000, 'Time between heartbeats of a stream that has nothing else to say.'),
    bodyMs: integer(30_000, 10, 600_000, 'A reply that is not streamed begins with whitespace after this time.'),
  },
  models: {
    strict: flag(false, 'Refuse model names other than the served one; off, any name is accepted and echoed.'),
  },
  wire: {
    tokenIds: flag(false, 'Add token ids to Chat replies of every session.'),
    reasoning: choice(['reasoning_content', 'reasoning', 'both'], 'reasoning_content', 'Field that carries reasoning on the Chat wire.'),
  },
  window: {
    initial: integer(256, 1, 100_000, 'Calls sent to one replica at a time, to begin with.'),
    min: integer(1, 1, 100_000, 'The window never shrinks below this.'),
    max: integer(1024, 1, 100_000, 'The window never grows beyond this.'),
  },
  backend: {
    retries: integer(3, 0, 100, 'Further attempts for a turn after the engine failed.'),
    holdMs: integer(600_000, 0, DAY_MS, 'How long a turn waits for a replica that can take it before it is refused as overloaded.'),
    connectTimeoutMs: integer(3000, 10, 600_000, 'Time to connect to a replica.'),
    silenceTimeoutMs: integer(
      1_800_000,
      100,
      DAY_MS,
      'A call without any byte from the engine for this long has failed; time in a pause of mode `keep` does not count.',
    ),
    idleSocketMs: integer(3000, 100, 60_000, 'Idle engine connections are closed after this time, before the engine does.'),
    probeIntervalMs: integer(5000, 50, 600_000, 'Time between health probes of a replica that is up.'),
    probeDownMs: integer(1000, 50, 600_000, 'Time between probes of a replica that is down or still loading.'),
  },
  sampling: {
    temperature: number(1, 0, 100, 'Temperature where neither session nor request says one.'),
    topP: number(1, 0, 1, 'Nucleus where neither session nor request says one.'),
    topK: integer(-1, -1, 1_000_000, 'Top-k where neither session nor request says one; -1 is off.'),
    minP: number(0, 0, 1, 'Min-p where neither session nor request says one.'),
    presencePenalty: number(0, -2, 2, 'Presence penalty where neither session nor request says one.'),
    frequencyPenalty: number(0, -2, 2, 'Frequency penalty where neither session nor request says one.'),
    repetitionPenalty: number(1, 0.01, 2, 'Repetition penalty where neither session nor request says one.'),
    maxTokens: integer(0, 0, 100_000_000, 'Cap on the tokens of every reply; 0 leaves it to the request and the context.'),
  },
  shard: {
    hangMs: integer(60_000, 100, HOUR_MS, 'A shard that does not answer for this long is replaced; its sessions are lost.'),
    heapMb: integer(0, 0, 1_000_000, 'Heap of one shard in megabytes; 0 leaves it to Node.'),
  },
  shutdown: {
    drainMs: integer(10_000, 0, HOUR_MS, 'How long a stopping gateway lets open calls finish.'),
  },
  log: {
    level: choice(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'info', 'Least severe log lines written to stderr.'),
  },
  test: {
    faults: hidden(flag(false, 'Allow planted faults such as crashing a shard.')),
  },
} as const;

type Values<Tree> = { readonly [Name in keyof Tree]: Tree[Name] extends Setting<infer T> ? T : Values<Tree[Name]> };
type Some<Tree> = { readonly [Name in keyof Tree]?: Tree[Name] extends Setting<infer T> ? T : Some<Tree[Name]> };

/** All settings with their values, frozen. `shards` is resolved to the real number. */
export type Settings = Values<typeof SETTING_TREE>;
/** Some of the settings, nested as in the file. */
export type SomeSettings = Some<typeof SETTING_TREE>;

export interface NamedSetting {
  /** Dotted, such as `sessions.idleTtlMs`. */
  readonly name: string;
  readonly path: readonly string[];
  /** Long option without the dashes, such as `sessions-idle-ttl-ms`. */
  readonly option: string;
  /** Environment variable. */
  readonly variable: string;
  readonly setting: Setting<unknown>;
}

const words = (name: string): string[] =>
  name.split('.').flatMap((part) =>
    part
      .replace(/([A-Z])/g, ' $1')
      .toLowerCase()
      .split(' '),
  );

const flatten = (tree: object, path: readonly string[]): NamedSetting[] =>
  Object.entries(tree).flatMap(([key, value]: [string, object]) => {
    const here = [...path, key];
    if (!('schema' in value)) return flatten(value, here);
    const name = here.join('.');
    const option = words(name).join('-');
    const variable = `ROLLOUT_GATEWAY_${words(name).join('_').toUpperCase()}`;
    return [{ name, path: here, option, variable, setting: value as Setting<unknown> }];
  });

/** The table, flat, in the order of the tree. */
export const SETTINGS: readonly NamedSetting[] = flatten(SETTING_TREE, []);
