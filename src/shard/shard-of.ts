/** The shard of a session: FNV-1a over its UTF-16 units, stable over restarts with the same number of shards. */
export function shardOf(key: string, shardCount: number): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < key.length; at += 1) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  return (hash >>> 0) % shardCount;
}
