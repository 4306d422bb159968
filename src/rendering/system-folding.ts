import type { Message, SystemMessage, ToolMessage, UserMessage } from '../canonical/message.js';

/**
 * Puts system messages behind the first turn where a template without a mid-list system turn can print them: at the end of the user or tool message
 * before, else at the start of the user message behind, else as a user turn of their own. A rule of position alone, so that a growing
 * history keeps its prefix. Leading system messages become one.
 */
export class SystemFolding {
  /** Merged messages by the message they were merged into, so that the same history gives the same objects. */
  readonly #merged = new WeakMap<Message, Merged[]>();

  fold(messages: readonly Message[]): readonly Message[] {
    const leading = messages.findIndex((message) => message.role !== 'system');
    const head = leading < 0 ? messages : messages.slice(0, leading);
    const rest = leading < 0 ? [] : messages.slice(leading);
    if (head.length < 2 && !rest.some((message) => message.role === 'system')) return messages;
    const folded: Message[] = head.length > 1 ? [this.#merge(head[0]!, head.slice(1), joinSystems)] : [...head];
    let waiting: SystemMessage[] = [];
    for (let at = 0; at < rest.length; at += 1) {
      const message = rest[at]!;
      if (message.role === 'system') {
        waiting.push(message);
        continue;
      }
      if (waiting.length > 0) {
        // Only behind an assistant's message, or at the start, does a system message wait for the next one.
        if (message.role === 'user') folded.push(this.#merge(message, waiting, prepend));
        else folded.push(this.#merge(waiting[0]!, waiting.slice(1), asUser), message);
        waiting = [];
        continue;
      }
      const following = takeSystems(rest, at + 1);
      if (following.length > 0 && (message.role === 'user' || message.role === 'tool')) {
        folded.push(this.#merge(message, following, append));
        at += following.length;
      } else {
        folded.push(message);
      }
    }
    if (waiting.length > 0) folded.push(this.#merge(waiting[0]!, waiting.slice(1), asUser));
    return folded;
  }

  #merge(into: Message, extras: readonly Message[], make: Merge): Message {
    const seen = this.#merged.get(into) ?? [];
    const same = seen.find(
      (entry) => entry.make === make && entry.extras.length === extras.length && entry.extras.every((extra, at) => extra === extras[at]),
    );
    if (same !== undefined) return same.message;
    const message = make(into, extras);
    this.#merged.set(into, [...seen, { make, extras, message }]);
    return message;
  }
}

type Merge = (into: Message, extras: readonly Message[]) => Message;

interface Merged {
  readonly make: Merge;
  readonly extras: readonly Message[];
  readonly message: Message;
}

function takeSystems(messages: readonly Message[], from: number): SystemMessage[] {
  const systems: SystemMessage[] = [];
  for (let at = from; messages[at]?.role === 'system'; at += 1) systems.push(messages[at] as SystemMessage);
  return systems;
}

const reminder = (message: Message): string => `<system-reminder>\n${message.content ?? ''}\n</system-reminder>`;

const joinSystems: Merge = (into, extras) => ({
  role: 'system',
  content: [into, ...extras].map((message) => message.content ?? '').join('\n\n'),
});
const asUser: Merge = (into, extras) => ({ role: 'user', content: [into, ...extras].map(reminder).join('\n\n') });
const prepend: Merge = (into, extras) => ({
  ...(into as UserMessage),
  content: [...extras.map(reminder), into.content ?? ''].join('\n\n'),
});
const append: Merge = (into, extras) => ({
  ...(into as UserMessage | ToolMessage),
  content: [into.content ?? '', ...extras.map(reminder)].join('\n\n'),
});
