import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';

/** Log lines, errors and metrics of the servers under test. */
export type Said = 'log' | 'error' | 'metrics' | 'trace';

/**
 * Writes down what a server has said, for the look through all of it at the end of a test run (test/run.mjs names the
 * folder). Without a folder nobody looks, and nothing is written.
 */
export function said(kind: Said, text: string): void {
  const folder = process.env.PSA_TEST_SAID;
  if (folder === undefined || text === '') return;
  const test = expect.getState().testPath?.replace(/^.*\/test\//, '') ?? '';
  const lines = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => `${kind}\t${test}\t${line}\n`);
  appendFileSync(join(folder, `${process.pid}.txt`), lines.join(''));
}

/** The same of each error in an answer: what it says, wherever it stands in there. */
export function saidErrors(answer: unknown): void {
  if (process.env.PSA_TEST_SAID === undefined || typeof answer !== 'object' || answer === null) return;
  if ('message' in answer || 'error' in answer) said('error', JSON.stringify(answer));
  else for (const member of Object.values(answer)) saidErrors(member);
}
