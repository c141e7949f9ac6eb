// What one room's mutants are tried against. Stryker reads it inside a copy of the repository.

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
    // A test that waits for what never comes says so before Stryker gives its process up, which costs much more.
    testTimeout: 4_000,
    hookTimeout: 4_000,
    reporters: [tellsOfWhatDoesNotLoad()],
  },
});

/**
 * Stryker looks at tests alone: a file that a mutant keeps from loading, and so has none, it would take for passed. It gets
 * one that failed.
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
