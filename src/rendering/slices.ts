/** Long works of this thread that wait for their next slice, in order. */
const waiting: (() => void)[] = [];

/**
 * Resolves in a later turn of the thread's event loop, in which no other caller of this goes on. So what comes from outside waits
 * for one slice, however many long works there are.
 */
export function nextSlice(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(release);
  });
}

function release(): void {
  waiting.shift()!();
  if (waiting.length > 0) setImmediate(release);
}
