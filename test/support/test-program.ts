import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Program, runProgram } from './program.ts';

/** Runs the server, and ends it with the test. */
export function runInTest(environment: Record<string, string>, from: 'sources' | 'built' = 'built'): Program {
  const program = runProgram(environment, from);
  onTestFinished(() => void program.child.kill('SIGKILL'));
  return program;
}

/** Creates a folder that is removed with the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'psa-program-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
