/** Resolves with the name of the first signal that asks to stop; a second one ends the process at once. */
export const stopSignal = (): Promise<string> =>
  new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => {
        process.once(signal, () => process.exit(1));
        resolve(signal);
      });
    }
  });
