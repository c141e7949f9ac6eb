import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Whole servers, killed and started again. */
const SLOW = ['bench/**/*.test.ts', 'cluster/**/*.test.ts', 'e2e/**/*.test.ts', 'faults/**/*.test.ts'];
const BROWSER = 'widget/**/*.browser.test.ts';

/**
 * What takes minutes. Whatever begins last is waited for alone, and without a record of the last run Vitest begins with
 * the largest files, which these are not.
 */
const LONGEST = [
  'sim/seeds',
  'attacks/tenants',
  'faults/kill',
  'faults/cut',
  'faults/boundaries',
  'faults/facade',
];
const strange = LONGEST.find((name) => !existsSync(here(`${name}.test.ts`)));
if (strange) throw new Error(`LONGEST names ${strange}, which is no test file.`);

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const at = LONGEST.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
      return at < 0 ? LONGEST.length : at;
    };
    return (await super.sort(files)).sort((left, right) => place(left) - place(right));
  }
}

export default defineConfig({
  root: here('.'),
  resolve: {
    // Vite takes graphql's ES modules and Node its CommonJS ones; two copies refuse each other's types.
    alias: [{ find: /^graphql$/, replacement: createRequire(import.meta.url).resolve('graphql/index.js') }],
  },
  test: {
    globalSetup: [here('support/postgres.ts')].filter((file) => existsSync(file)),
    pool: 'forks',
    // What V8 compiles better while PGlite runs costs more than so short a life gives back.
    execArgv: ['--liftoff-only'],
    sequence: { sequencer: LongestFirst },
    // Much of what runs here waits for another process.
    maxWorkers: 3,
    projects: [
      {
        extends: true,
        test: {
          name: 'fast',
          // Loading the server takes longer than most of these files; what one changes of it, it puts back.
          isolate: false,
          include: ['**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...SLOW, BROWSER],
          // For what hangs, not for what is slow: a busy machine takes several times as long as a quiet one.
          testTimeout: 240_000,
          hookTimeout: 240_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'slow',
          include: SLOW,
          testTimeout: 300_000,
          hookTimeout: 300_000,
          provide: { stand: 'service' },
        },
      },
      {
        // What a payer sees is the same through a facade: the same tests once more.
        extends: true,
        test: {
          name: 'facade',
          include: ['e2e/{outcomes,pages,paying,restart,transports}.test.ts'],
          testTimeout: 300_000,
          hookTimeout: 300_000,
          provide: { stand: 'facade' },
        },
      },
    ],
  },
});
