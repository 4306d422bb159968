import type { TokenLogprob } from '../canonical/turn.js';
import type { GenerateRequest, GenerateResult, WeightSpan } from '../engines/engine.js';

/**
 * Tokens of a sample that the engine ended by itself before it was done, in a weight update for instance. The sample goes
 * on from prompt + tokens; the parts keep their logprobs and weight versions.
 */
export class PartialOutput {
  readonly #parts: GenerateResult[] = [];
  #length = 0;

  /** Tokens so far. */
  get length(): number {
    return this.#length;
  }

  get parts(): number {
    return this.#parts.length;
  }

  /** The weights of the first token, `null` = not said. */
  get oldestVersion(): string | null {
    return this.#parts.find((part) => part.outputIds.length > 0)?.weightVersions[0]?.version ?? null;
  }

  add(part: GenerateResult): void {
    this.#parts.push(part);
    this.#length += part.outputIds.length;
  }

  /** What is still to be asked of a replica with such a context; `whole` is the request for the whole sample. */
  rest<R extends Omit<GenerateRequest, 'requestId'>>(whole: R, contextTokens: number | null): R {
    if (this.#length === 0) return fitting(whole, contextTokens);
    const { sampling } = whole;
    const rest = {
      ...whole,
      promptIds: joinIds(whole.promptIds, this.#parts),
      sampling: {
        ...sampling,
        maxTokens: sampling.maxTokens - this.#length,
        minTokens: Math.max(0, sampling.minTokens - this.#length),
        // The same seed would draw the same random numbers again from the first one on.
        seed: sampling.seed === null ? null : sampling.seed + this.#parts.length,
      },
    };
    return fitting(rest, contextTokens);
  }

  /** The whole sample, of all parts; the last one says how it ended. At least one part was added. */
  whole(): GenerateResult {
    const first = this.#parts[0]!;
    const last = this.#parts[this.#parts.length - 1]!;
    if (first === last) return first;
    const logprobs = new Float32Array(this.#length);
    let at = 0;
    for (const part of this.#parts) {
      logprobs.set(part.logprobs, at);
      at += part.logprobs.length;
    }
    return {
      ...last,
      outputIds: joinIds(new Int32Array(0), this.#parts),
      logprobs,
      unknownLogprobs: this.#parts.reduce((sum, part) => sum + part.unknownLogprobs, 0),
      topLogprobs: joinTop(this.#parts),
      cachedTokens: first.cachedTokens,
      promptTokens: first.promptTokens,
      weightVersions: joinSpans(this.#parts),
      flags: [...new Set([...this.#parts.flatMap((part) => part.flags), 'resubmitted'])],
    };
  }
}

/** Where the turn began before the replica was known, it may ask for more than fits, which SGLang refuses. */
function fitting<R extends Omit<GenerateRequest, 'requestId'>>(request: R, contextTokens: number | null): R {
  const roomTokens = (contextTokens ?? Number.POSITIVE_INFINITY) - request.promptIds.length;
  const { sampling } = request;
  if (sampling.maxTokens <= roomTokens) return request;
  return { ...request, sampling: { ...sampling, maxTokens: roomTokens, minTokens: Math.min(sampling.minTokens, roomTokens) } };
}

function joinIds(prompt: Int32Array, parts: readonly GenerateResult[]): Int32Array {
  const joined = new Int32Array(parts.reduce((sum, part) => sum + part.outputIds.length, prompt.length));
  joined.set(prompt);
  let at = prompt.length;
  for (const part of parts) {
    joined.set(part.outputIds, at);
    at += part.outputIds.length;
  }
  return joined;
}

function joinTop(parts: readonly GenerateResult[]): readonly (readonly TokenLogprob[])[] | null {
  const joined: (readonly TokenLogprob[])[] = [];
  for (const part of parts) {
    if (part.topLogprobs === null && part.outputIds.length > 0) return null;
    joined.push(...(part.topLogprobs ?? []));
  }
  return joined;
}

/** Spans of all parts in one; touching ones of one version become one. */
function joinSpans(parts: readonly GenerateResult[]): readonly WeightSpan[] {
  const joined: WeightSpan[] = [];
  let offset = 0;
  for (const part of parts) {
    for (const span of part.weightVersions) {
      const before = joined[joined.length - 1];
      const start = span.start + offset;
      if (before !== undefined && before.version === span.version && before.end === start)
        joined[joined.length - 1] = { ...before, end: span.end + offset };
      else joined.push({ version: span.version, start, end: span.end + offset });
    }
    offset += part.outputIds.length;
  }
  return joined;
}
