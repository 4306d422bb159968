import type { TreeNode } from './node.js';

/** Finds children by (parent, hash). Whatever it returns still has to be compared. */
export class NodeIndex {
  readonly #buckets = new Map<number, TreeNode | TreeNode[]>();

  add(parent: TreeNode, hash: number, node: TreeNode): void {
    const key = keyOf(parent, hash);
    const bucket = this.#buckets.get(key);
    if (bucket === undefined) this.#buckets.set(key, node);
    else if (Array.isArray(bucket)) bucket.push(node);
    else this.#buckets.set(key, [bucket, node]);
  }

  /** Children of `parent` with this hash, oldest first. */
  find(parent: TreeNode, hash: number): readonly TreeNode[] {
    const bucket = this.#buckets.get(keyOf(parent, hash));
    if (bucket === undefined) return [];
    return (Array.isArray(bucket) ? bucket : [bucket]).filter((node) => node.parent === parent);
  }
}

const keyOf = (parent: TreeNode, hash: number): number => parent.id * 2 ** 32 + (hash >>> 0);
