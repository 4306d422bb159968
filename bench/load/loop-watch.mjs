// Loaded before the gateway by `--import`: its worker threads write down every turn of their event loop that took long, as
// `[when it ended, milliseconds since 1970; how long it took; how much CPU time it used]`, one JSON array a line, to $LOOP_WATCH_FILE.
// CPU time leaves out what other programs of the machine took, to about 4 ms. It is no delay of a session: a call passes the loop several
// times, and may meet a long turn at each.
import { appendFileSync, readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const LONG_MS = 8;

const cpuMs = () => Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ', 1)[0]) / 1e6;

if (!isMainThread && process.env.LOOP_WATCH_FILE) {
  let before = performance.now();
  let cpuBefore = cpuMs();
  const watch = setInterval(() => {
    const tookMs = performance.now() - before;
    if (tookMs > LONG_MS) {
      const ended = performance.timeOrigin + before + tookMs;
      const line = [ended, tookMs, cpuMs() - cpuBefore].map((value) => Number(value.toFixed(2)));
      appendFileSync(process.env.LOOP_WATCH_FILE, `${JSON.stringify(line)}\n`);
    }
    before = performance.now();
    cpuBefore = cpuMs();
  }, 1);
  watch.unref();
}
