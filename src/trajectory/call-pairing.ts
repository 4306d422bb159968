import type { AssistantMessage, ToolCall, ToolMessage } from '../canonical/message.js';

/**
 * Pairs tool results with the calls of the assistant message before them, so that ids need not survive a client:
 * a result is known by the place of its call, and carries the id of the stored call.
 */
export class CallPairing {
  #echo: readonly ToolCall[] = [];
  #stored: readonly ToolCall[] = [];
  readonly #answered = new Set<number>();

  /** An assistant message was read: as the client spelled it, and as it is stored. */
  opens(echo: AssistantMessage, stored: AssistantMessage): void {
    this.#echo = echo.toolCalls;
    this.#stored = stored.toolCalls;
    if (this.#answered.size > 0) this.#answered.clear();
  }

  /**
   * The place of the call that a result answers, -1 where no open call has its id. Each call is answered once;
   * results without an id answer the calls in order.
   */
  take(result: ToolMessage): number {
    const place = this.#echo.findIndex(({ id }, i) => !this.#answered.has(i) && (result.toolCallId === null || id === result.toolCallId));
    if (place >= 0) this.#answered.add(place);
    return place;
  }

  /** The result with the stored call's id; the same object where nothing changes. */
  restored(result: ToolMessage, place: number): ToolMessage {
    const id = place < 0 ? null : (this.#stored[place]?.id ?? null);
    return id === null || id === result.toolCallId ? result : { ...result, toolCallId: id };
  }
}
