import type { Buffer } from 'node:buffer';
import type { JsonObject, JsonValue } from '../canonical/json-value.js';

/** A body that was read, with the place of every member and of every item of the members that are lists. */
export interface BodyOutline {
  readonly bytes: Buffer;
  readonly value: JsonObject;
  /** In the order of the text; names are unlike. */
  readonly members: readonly OutlinedMember[];
  /** Items of the history that the body this one was read against does not have, and the other way round. */
  readonly history: { readonly reused: number; readonly lost: number };
}

/** Offsets count bytes of the body, half-open. */
export interface OutlinedMember {
  readonly name: string;
  /** Where the name's first quote stands. */
  readonly nameStart: number;
  /** One past the name's last quote. */
  readonly nameEnd: number;
  readonly start: number;
  readonly end: number;
  readonly value: JsonValue;
  /** Checksum of the value's bytes; for a list made of those of its items. */
  readonly sum: number;
  /** `null` where the value is no list. */
  readonly items: OutlinedItems | null;
}

/** Lists of equal length, one entry per item. Offsets count from the start of the member's value, so that a list can move as a whole. */
export interface OutlinedItems {
  readonly values: readonly JsonValue[];
  readonly starts: readonly number[];
  readonly ends: readonly number[];
  readonly sums: readonly number[];
}

/** The member that holds a conversation, in every protocol. */
export const HISTORY = 'messages';

export const historyLength = (outline: BodyOutline): number =>
  outline.members.find(({ name }) => name === HISTORY)?.items?.values.length ?? 0;
