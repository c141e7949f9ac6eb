import { vi } from 'vitest';

/** Longer than a busy machine takes: Vitest's own second is not. */
const PATIENCE = { timeout: 20_000, interval: 20 };

/** Resolves as soon as `look` does not throw any more. */
export function waitFor<Result>(look: () => Result | Promise<Result>): Promise<Result> {
  return vi.waitFor(look, PATIENCE);
}

/** Resolves as soon as `look` finds something. */
export function waitUntil<Result>(look: () => Result | Promise<Result>) {
  return vi.waitUntil(look, PATIENCE);
}
