import type { Engine, EngineHttpRequest, EngineProbe, GenerateOutcome, GenerateRequest } from '../engines/engine.js';
import { Cancel } from './cancel.js';
import type { Patience } from './patience.js';
import type { Clock } from './pool-settings.js';
import type { Replica } from './replica.js';
import { TransportError } from './transport-error.js';

/** After an abort call, how long the aborted call may still answer before its socket is closed. */
const ABORT_GRACE_MS = 1500;
/** A server takes no note of an abort whose call is still on its way to it, so it is asked again. */
const ABORT_AGAIN_MS = 250;

/** More than a token, or an alternative to one, takes in any answer: an id, a logprob, a text and its bytes. */
const TOKEN_BYTES = 1024;
/** An id of the prompt that comes back. */
const PROMPT_ID_BYTES = 16;
const FRAME_BYTES = 1024 * 1024;

const answerBytesMax = ({ promptIds, sampling, topLogprobs }: GenerateRequest): number =>
  FRAME_BYTES + promptIds.length * PROMPT_ID_BYTES + sampling.maxTokens * (1 + topLogprobs) * TOKEN_BYTES;

/** How one call to a replica ended. */
export type CallEnd =
  | { readonly kind: 'answer'; readonly outcome: GenerateOutcome; readonly engineMs: number }
  | { readonly kind: 'broken'; readonly error: TransportError; readonly engineMs: number };

/** One sampling call to one replica, and how it is stopped. */
export class EngineCall {
  readonly #cut = new Cancel();
  #aborted = false;
  #isOver = false;
  #cancelGrace: () => void = () => {};
  #cancelAgain: () => void = () => {};
  #markEnded: () => void = () => {};
  /** Resolves when the call is over, however it ended. */
  readonly ended = new Promise<void>((resolve) => {
    this.#markEnded = resolve;
  });

  constructor(
    readonly replica: Replica,
    private readonly engine: Engine,
    private readonly probe: EngineProbe,
    private readonly request: GenerateRequest,
    private readonly silenceMs: number,
    /** Stands still while the engine is kept from sampling. */
    private readonly patience: Patience,
    private readonly clock: Clock,
  ) {}

  /** {@link abort} was called. */
  get aborted(): boolean {
    return this.#aborted;
  }

  async run(): Promise<CallEnd> {
    const startedMs = this.clock.now();
    try {
      const encoded = this.engine.encode(this.request, this.probe);
      const { silenceMs, patience } = this;
      const bytesMax = answerBytesMax(this.request);
      const response = await this.replica.http.send(encoded, { silenceMs, patience, bytesMax, signal: this.#cut });
      const engineMs = this.clock.now() - startedMs;
      return { kind: 'answer', outcome: this.engine.decode(response, this.request, this.probe), engineMs };
    } catch (error) {
      if (error instanceof TransportError) return { kind: 'broken', error, engineMs: this.clock.now() - startedMs };
      throw error;
    } finally {
      this.#isOver = true;
      this.#cancelGrace();
      this.#cancelAgain();
      this.#markEnded();
    }
  }

  /**
   * Frees the engine: asks it to abort where it can, so that the call still brings the tokens sampled so far, and closes the
   * socket after a grace period or at once where it cannot.
   */
  abort(): void {
    if (this.#aborted || this.#isOver) return;
    this.#aborted = true;
    const abort = this.engine.abort(this.request.requestId, this.probe);
    if (abort === null) {
      this.#cut.abort();
      return;
    }
    this.#cancelGrace = this.clock.after(ABORT_GRACE_MS, () => this.#cut.abort());
    this.#ask(abort);
  }

  #ask(abort: EngineHttpRequest): void {
    this.replica.http.send(abort, { silenceMs: ABORT_GRACE_MS }).then(
      (response) => {
        if (response.status !== 200) this.#cut.abort();
        else if (!this.#isOver) this.#cancelAgain = this.clock.after(ABORT_AGAIN_MS, () => this.#ask(abort));
      },
      () => this.#cut.abort(),
    );
  }
}
