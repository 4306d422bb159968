import { type Command, InvalidArgumentError } from 'commander';
import type { TraceRecord } from '../canonical/trace.js';
import { loadSecrets, loadSettings } from '../config-load.js';
import { drawRow } from '../trajectory/row-view.js';
import { numbered } from '../trajectory/terminal.js';
import type { CommandHost } from './command-host.js';
import { UsageError } from './command-host.js';

interface InspectOptions {
  readonly url: string;
  readonly row?: number;
  readonly model?: string;
  readonly adminTokenFile?: string;
}

const whole = (text: string): number => {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
};

export const define = (command: Command, host: CommandHost): void => {
  command
    .argument('<session>', 'session id')
    .option('--url <url>', 'root URL of the running gateway', 'http://127.0.0.1:8080')
    .option('--row <number>', 'show this row of a finished session: prompt, trained and masked tokens', whole)
    .option('--model <dir>', 'model directory whose tokenizer shows tokens as text; without it they are ids')
    .option('--admin-token-file <file>', 'file with the admin token; the variable ROLLOUT_GATEWAY_ADMIN_TOKEN is the alternative')
    .action((session: string, options: InspectOptions) => inspect(session, options, host));
};

const inspect = async (session: string, options: InspectOptions, host: CommandHost): Promise<void> => {
  const settings = loadSettings({ flags: { 'admin-token-file': options.adminTokenFile } });
  const { adminToken } = loadSecrets(settings, host.env);
  const path = `/sessions/${encodeURIComponent(session)}`;
  const ask = async (method: string, below: string, body?: string): Promise<string> => {
    const headers = { ...(adminToken === null ? {} : { authorization: `Bearer ${adminToken}` }) };
    const url = options.url.replace(/\/+$/, '') + path + below;
    let response: Response;
    try {
      response = await fetch(url, { method, headers, ...(body === undefined ? {} : { body }) });
    } catch (cause) {
      throw new Error(
        `cannot reach the gateway at ${options.url}: ${((cause as Error).cause as Error | undefined)?.message ?? (cause as Error).message}`,
        { cause },
      );
    }
    const text = await response.text();
    if (!response.ok) throw new Error(refusal(response.status, text));
    return text;
  };
  if (options.row === undefined) {
    host.out(await ask('GET', `/tree?format=text&colour=${host.colour}`));
    return;
  }
  const { state } = JSON.parse(await ask('GET', '')) as { readonly state: string };
  if (state !== 'finished')
    throw new UsageError(`session ${session} is ${state}: rows exist when it is finished; without --row its tree is shown`);
  // Finishing again changes nothing and answers the same rows.
  const { traces } = JSON.parse(await ask('POST', '/finish', '{}')) as { readonly traces: readonly WireRow[] };
  const row = traces[options.row];
  if (row === undefined) throw new UsageError(`session ${session} has ${numbered(traces.length, 'row')}, --row must be below that`);
  const tokenText = await tokenTextOf(options.model);
  host.out(drawRow(fromWire(row), { colour: host.colour, tokenText }));
};

/** The gateway's own sentence, and for a missing token how to give it. */
const refusal = (status: number, text: string): string => {
  let message = `the gateway answered ${status}`;
  try {
    message = (JSON.parse(text) as { readonly error: { readonly message: string } }).error.message;
  } catch {
    // Something else than a gateway answered; its status says more than its page.
  }
  return status === 401 ? `${message} Set ROLLOUT_GATEWAY_ADMIN_TOKEN or give --admin-token-file.` : message;
};

/** A row as JSON has it: plain arrays, `null` for an unknown logprob. */
type WireRow = Omit<TraceRecord, 'token_ids' | 'loss_mask' | 'logprobs'> & {
  readonly token_ids: readonly number[];
  readonly loss_mask: readonly number[];
  readonly logprobs: readonly (number | null)[];
};

const fromWire = (row: WireRow): TraceRecord => ({
  ...row,
  token_ids: Int32Array.from(row.token_ids),
  loss_mask: Uint8Array.from(row.loss_mask),
  logprobs: Float32Array.from(row.logprobs, (logprob) => logprob ?? Number.NaN),
});

const tokenTextOf = async (model: string | undefined): Promise<(id: number) => string> => {
  if (model === undefined) return (id) => `${id} `;
  const { loadModelDirectory } = await import('../rendering/model-directory.js');
  const { loadTokenizer } = await import('../rendering/tokenizer.js');
  const tokenizer = loadTokenizer(loadModelDirectory(model));
  return (id) => tokenizer.tokenText(id);
};
