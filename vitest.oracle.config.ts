import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: { globalSetup: 'test/support/build.ts', include: ['test/oracle/**/*.test.ts'], testTimeout: 900_000, hookTimeout: 600_000 },
});
