import { execFileSync } from 'node:child_process';

/** Tests that start threads or processes run the compiled program: bring it up to date once before all tests. */
export default function build(): void {
  execFileSync(process.execPath, ['scripts/build.mjs', '--if-stale'], { stdio: 'inherit' });
}
