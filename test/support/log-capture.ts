import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';

/** The kinds of output of the servers under test. */
export type OutputKind = 'log' | 'error' | 'metrics' | 'trace';

/**
 * Records what a server has written, for the search through all of it at the end of a test run (test/run.mjs names the
 * folder). Without a folder nothing is recorded.
 */
export function captureOutput(kind: OutputKind, text: string): void {
  const folder = process.env.PSA_TEST_SAID;
  if (folder === undefined || text === '') return;
  const test = expect.getState().testPath?.replace(/^.*\/test\//, '') ?? '';
  const lines = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => `${kind}\t${test}\t${line}\n`);
  appendFileSync(join(folder, `${process.pid}.txt`), lines.join(''));
}

/** Records each error in an answer, at any depth. */
export function captureErrors(answer: unknown): void {
  if (process.env.PSA_TEST_SAID === undefined || typeof answer !== 'object' || answer === null) return;
  if ('message' in answer || 'error' in answer) captureOutput('error', JSON.stringify(answer));
  else for (const member of Object.values(answer)) captureErrors(member);
}
