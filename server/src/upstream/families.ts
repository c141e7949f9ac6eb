import type { UpstreamFamily } from '../kernel/upstream-family.ts';
import type { UpstreamDependencies } from './dependencies.ts';
import { notOffered } from './responses.ts';

/**
 * Refuses a request of a family that the operator has not enabled, because the service may not support it.
 * `what` begins a sentence: `Creating charges`.
 * @throws PreconditionError
 */
export function assertTaken(
  { families }: Pick<UpstreamDependencies, 'families'>,
  family: UpstreamFamily,
  what: string,
): void {
  if (!families.has(family)) throw notOffered(what);
}
