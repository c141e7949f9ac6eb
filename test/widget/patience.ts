import { vi } from 'vitest';

/** A timeout for busy machines; Vitest's default of one second is too short. */
const OPTIONS = { timeout: 60_000, interval: 20 };

/** Resolves as soon as `check` does not throw. */
export function waitFor<Result>(check: () => Result | Promise<Result>): Promise<Result> {
  return vi.waitFor(check, OPTIONS);
}

/** Resolves as soon as `check` returns a truthy value. */
export function waitUntil<Result>(check: () => Result | Promise<Result>) {
  return vi.waitUntil(check, OPTIONS);
}
