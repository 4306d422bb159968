import type { TurnRequest } from '../canonical/turn.js';
import type { Settings } from '../config.js';
import type { Protocol } from '../protocols/protocol.js';
import { parseBody } from '../protocols/request-body.js';
import { RequestMemo } from '../protocols/request-memo.js';
import { BodyMemory, BodyShelf, bodyDigest } from './body-memory.js';
import type { AgentCall } from './messages.js';
import type { TurnSignatures } from './turn-signature.js';

/** A call's request, read. */
export interface ReadRequest {
  readonly request: TurnRequest;
  /** Equal for equal bodies of a protocol, within one session. */
  readonly digest: string;
  /** Lets later requests of the session be read against this one. To be called once its session is known to be open. */
  readonly keep: () => void;
}

interface SessionReader {
  readonly bodies: BodyMemory;
  readonly memo: RequestMemo;
}

/** Reads the requests of a shard's sessions. With `shortcuts`, each costs what its session did not say before. */
export class RequestReaders {
  readonly #shelf: BodyShelf;
  readonly #bySession = new Map<string, SessionReader>();

  constructor(
    private readonly settings: Settings,
    private readonly signatures: TurnSignatures,
    /** Is given the memory of bodies that are not remembered any more. */
    free: (buffer: ArrayBuffer) => void = () => undefined,
  ) {
    this.#shelf = new BodyShelf(settings.limits.rememberedBytes, free);
  }

  /** Bytes of all bodies that are remembered. */
  get rememberedBytes(): number {
    return this.#shelf.usedBytes;
  }

  /** How many bytes of the call's body no earlier body of its session can stand for, at least. */
  unknownBytes({ sessionKey, body }: AgentCall): number {
    return body.byteLength - (this.#bySession.get(sessionKey)?.bodies.longestBytes ?? 0);
  }

  /** @throws GatewayError for a body that is not understood or asks for what cannot be honoured; nothing is remembered then. */
  read(call: AgentCall, protocol: Protocol): ReadRequest {
    const { sessionKey, body } = call;
    const verifySignature = (signature: string): string | null => this.signatures.verify(sessionKey, signature);
    const depth = this.settings.limits.jsonDepth;
    if (!this.settings.shortcuts) {
      const request = protocol.parseRequest(parseBody(body, depth), { verifySignature });
      return { request, digest: bodyDigest(protocol.name, body), keep: () => undefined };
    }
    const reader = this.#bySession.get(sessionKey) ?? { bodies: new BodyMemory(this.#shelf, depth), memo: new RequestMemo() };
    const read = reader.bodies.read(protocol.name, body);
    return {
      request: protocol.parseRequest(read.value, { verifySignature, memo: reader.memo }),
      digest: read.digest,
      keep: () => {
        this.#bySession.set(sessionKey, reader);
        reader.bodies.keep(read);
      },
    };
  }

  /** The session is over. */
  forget(sessionKey: string): void {
    this.#bySession.get(sessionKey)?.bodies.clear();
    this.#bySession.delete(sessionKey);
  }
}
