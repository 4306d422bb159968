import type { Call, Front } from './front.js';
import { refuse } from './refusal.js';

const KINDS = ['throw', 'exit', 'hang', 'heap'] as const;

/** Crashes a shard on purpose, where `test.faults` allows it; elsewhere the path does not exist. */
export const plantFault = (front: Front, { exchange, dialect, head, id }: Call): void => {
  if (!front.settings.test.faults) {
    refuse(exchange, dialect, { code: 'not_found', message: `cannot POST ${head.path}: there is no such path` });
    return;
  }
  const shard = Number(id);
  const how = new URLSearchParams(head.query).get('how');
  const kind = KINDS.find((candidate) => candidate === how);
  if (!Number.isInteger(shard) || shard < 0 || shard >= front.link.shardCount || kind === undefined) {
    const message = `cannot crash shard ${id} by ${how}: shards are 0 to ${front.link.shardCount - 1}, how is ${KINDS.join(', ')}`;
    refuse(exchange, dialect, { code: 'invalid_request', message });
    return;
  }
  front.link.crash(shard, kind);
  exchange.answer(202, [['content-type', 'application/json']], '{}');
};
