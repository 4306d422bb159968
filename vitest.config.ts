import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    globalSetup: 'test/support/build.ts',
    include: ['test/**/*.test.ts'],
    exclude: ['test/live/**', 'test/oracle/**', 'test/faults/**'],
    pool: 'forks',
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
