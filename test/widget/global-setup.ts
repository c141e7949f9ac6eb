import type { TestProject } from 'vitest/node';
import { firstInSample } from '../support/scale.ts';
import { startFakePayouts } from './fake-payouts.ts';
import { startFakeServer } from './fake-server.ts';

/** Starts one fake endpoint of each kind for the run; each test creates its own scenario there. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startFakeServer();
  const payouts = await startFakePayouts();
  project.provide('fakeUrl', server.url);
  project.provide('fakePayoutsUrl', payouts.url);
  project.provide('axeSchemes', firstInSample(['light', 'dark']));
  return async () => {
    await server.close();
    await payouts.close();
  };
}

declare module 'vitest' {
  interface ProvidedContext {
    fakeUrl: string;
    fakePayoutsUrl: string;
    /** The color schemes in which axe checks each state. */
    axeSchemes: readonly string[];
  }
}
