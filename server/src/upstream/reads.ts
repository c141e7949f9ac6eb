import type { Environment } from '../kernel/tenant.ts';
import type { Errand } from './upstream.ts';

/** What the service said to a GET. */
export interface Read {
  readonly status: number;
  readonly body: unknown;
  /** When it was asked: the answer is at least as new as that. */
  readonly at: Date;
  /** The last known answer, where the service could not be asked for a newer one. */
  readonly stale: boolean;
}

/** GETs that cost the budget no more than they must. */
export interface Reads {
  /**
   * Identical reads under way (same environment and path) are one request, and an answer is given again for `keepMs`.
   * Where the budget is spent or the service fails, the last known answer is given with `stale: true`, if there is one.
   * What is given is shared: it must not be changed.
   * @throws RateLimitError, UpstreamFault
   */
  get(
    environment: Environment,
    path: `/v1/${string}`,
    options: { errand: Errand; keepMs: number },
  ): Promise<Read>;
  /**
   * After a write in this environment: nothing that was read before, or whose reading began before, is given out as
   * fresh again. It stays as what is last known.
   */
  forget(environment: Environment): void;
}
