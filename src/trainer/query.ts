import { GatewayError } from '../errors.js';
import type { TraceEncoding, TraceInclude } from './calls.js';

const INCLUDES: readonly TraceInclude[] = ['messages', 'segments'];

/** Parameters of a query; a name that a route does not know is refused, since a typing error would lose rows in silence. */
export function readQuery(query: string, known: readonly string[]): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    if (!known.includes(name)) {
      const names = known.length === 0 ? 'this call has no parameters' : `this call knows ${known.join(', ')}`;
      throw new GatewayError('invalid_request', `unknown query parameter \`${name}\`: ${names}`);
    }
    parameters.set(name, value);
  }
  return parameters;
}

export function queryInteger(parameters: ReadonlyMap<string, string>, name: string, fallback: number, min: number, max: number): number {
  const text = parameters.get(name);
  if (text === undefined) return fallback;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= min && value <= max)) {
    throw new GatewayError(
      'invalid_request',
      `query parameter \`${name}\` must be a whole number from ${min} to ${max}, got "${text.slice(0, 80)}"`,
    );
  }
  return value;
}

/** `a,b`, each one of what rows can be widened by. */
export function queryInclude(text: string | undefined): readonly TraceInclude[] {
  const names = (text ?? '').split(',').filter((name) => name !== '');
  return names.map((name) => {
    const known = INCLUDES.find((include) => include === name);
    if (known === undefined)
      throw new GatewayError('invalid_request', `\`include\` knows ${INCLUDES.join(' and ')}, got "${name.slice(0, 80)}"`);
    return known;
  });
}

const MEDIA_TYPES: Readonly<Record<string, TraceEncoding>> = {
  'application/json': 'json',
  'application/x-ndjson': 'ndjson',
  'application/ndjson': 'ndjson',
  'application/jsonl': 'ndjson',
  'application/msgpack': 'msgpack',
  'application/x-msgpack': 'msgpack',
  'application/vnd.msgpack': 'msgpack',
  'application/*': 'json',
  '*/*': 'json',
};

/** The encoding that a client's `Accept` likes best, the first of equals; JSON where it names none that we have. */
export function acceptedEncoding(accept: string): TraceEncoding {
  let best: TraceEncoding = 'json';
  let bestQuality = 0;
  for (const range of accept.toLowerCase().split(',')) {
    const [type, ...parameters] = range.split(';').map((part) => part.trim());
    const encoding = MEDIA_TYPES[type ?? ''];
    const quality = Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? 1);
    if (encoding !== undefined && quality > bestQuality) {
      best = encoding;
      bestQuality = quality;
    }
  }
  return best;
}
