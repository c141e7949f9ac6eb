import { vi } from 'vitest';

/** A timeout for busy machines; Vitest's default of one second is too short. */
const PATIENCE = { timeout: 20_000, interval: 20 };

/** Resolves as soon as `look` does not throw. */
export function waitFor<Result>(look: () => Result | Promise<Result>): Promise<Result> {
  return vi.waitFor(look, PATIENCE);
}

/** Resolves as soon as `look` returns a truthy value. */
export function waitUntil<Result>(look: () => Result | Promise<Result>) {
  return vi.waitUntil(look, PATIENCE);
}
