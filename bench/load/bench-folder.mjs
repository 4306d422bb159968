/** Files that a bench's own programs hand to one another, gone with the process. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export function benchFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'rollout-gateway-bench-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
