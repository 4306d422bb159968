/** Names of sessions that live where a bench wants them. */
const dist = new URL(process.env.DIST ?? '../../dist/', import.meta.url);
const { shardOf } = await import(new URL('shard/shard-of.js', dist));
const { rendezvousScore } = await import(new URL('backend/placement.js', dist));

/** @param engine the one of `engines` whose prefix cache is theirs, any where absent */
export function* sessionsOn(shard, shards, prefix, engine, engines = []) {
  for (let number = 0; ; number++) {
    const name = `${prefix}-${number}`;
    if (shardOf(name, shards) !== shard) continue;
    if (engine === undefined || engines.every((url) => rendezvousScore(name, url) <= rendezvousScore(name, engine))) yield name;
  }
}
