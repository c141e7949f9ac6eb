// The configuration of the tests that run against one target's mutants. Stryker reads it inside a copy of the
// repository.

import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import type { Reporter } from 'vitest/node';
import { ONE_GRAPHQL } from '../support/one-graphql.ts';

const { PSA_MUTANTS_TESTS = '', PSA_MUTANTS_DATABASE } = process.env;

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: here('..'),
  resolve: ONE_GRAPHQL,
  test: {
    include: PSA_MUTANTS_TESTS.split(','),
    globalSetup: PSA_MUTANTS_DATABASE ? [here('../support/postgres.ts')] : [],
    // A test that would wait forever times out before Stryker kills its process, which takes much longer.
    testTimeout: 4_000,
    hookTimeout: 4_000,
    reporters: [tellsOfWhatDoesNotLoad()],
  },
});

/**
 * Reports a failed test for a file that does not load. Stryker reads only tests: it would count a file without tests
 * as passed.
 */
function tellsOfWhatDoesNotLoad(): Reporter {
  return {
    onTestModuleEnd(module) {
      const [error] = module.errors();
      if (!error) return;
      const { task: file } = module as unknown as { task: { tasks: object[] } };
      const { message } = error;
      file.tasks.push({
        type: 'test',
        name: 'loads',
        mode: 'run',
        file,
        result: { state: 'fail', errors: [{ message }] },
      });
    },
  };
}
