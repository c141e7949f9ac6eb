import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Whole servers, killed and started again. */
const SLOW = ['bench/**/*.test.ts', 'cluster/**/*.test.ts', 'e2e/**/*.test.ts', 'faults/**/*.test.ts'];
const BROWSER = 'widget/**/*.browser.test.ts';

export default defineConfig({
  root: here('.'),
  resolve: {
    // Vite takes graphql's ES modules and Node its CommonJS ones; two copies refuse each other's types.
    alias: [{ find: /^graphql$/, replacement: createRequire(import.meta.url).resolve('graphql/index.js') }],
  },
  test: {
    globalSetup: [here('support/postgres.ts')].filter((file) => existsSync(file)),
    pool: 'forks',
    // Much of what runs here waits for another process.
    maxWorkers: 3,
    projects: [
      {
        extends: true,
        test: {
          name: 'fast',
          include: ['**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...SLOW, BROWSER],
          // PGlite's first start takes seconds, and more on a busy machine.
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'slow',
          include: SLOW,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          provide: { stand: 'service' },
        },
      },
      {
        // What a payer sees is the same through a facade: the same tests once more.
        extends: true,
        test: {
          name: 'facade',
          include: ['e2e/{outcomes,pages,paying,restart,transports}.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          provide: { stand: 'facade' },
        },
      },
    ],
  },
});
