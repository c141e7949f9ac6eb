import type { TestProject } from 'vitest/node';
import { startFakeServer } from './fake-server.ts';

/** One fake endpoint for the run; each test makes a scenario of its own in it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startFakeServer();
  project.provide('fakeUrl', server.url);
  return server.close;
}

declare module 'vitest' {
  interface ProvidedContext {
    fakeUrl: string;
  }
}
