import type { CheckoutConnection } from '../checkout-state.ts';
import type { UpstreamAge } from '../operations.ts';

/** The interval of the reads that show, beside a stream that brings nothing, whether the service still answers. */
const EVERY_MS = 30_000;

/** The age of the rows, where the server asks another service for them. */
export class ServiceAge {
  /** The time of the rows, in milliseconds, where that service gives nothing newer; 0 where they are current. */
  staleSince = 0;
  /** The time of the last answer of that service; 0 where there is none behind the server. */
  #readAt = 0;

  /** The connection as the page shows it: `stale` where it is open, and the rows are old all the same. */
  shown(connection: CheckoutConnection): CheckoutConnection | 'stale' {
    return this.staleSince && /^[lp]/.test(connection) ? 'stale' : connection;
  }

  /** Takes the age that an answer reports. */
  note({ ageSeconds, stale }: Partial<UpstreamAge>): void {
    if (ageSeconds != null) this.#readAt = Date.now() - ageSeconds * 1_000;
    this.staleSince = stale ? this.#readAt : 0;
  }

  /** Calls `read` at intervals until `signal` is aborted, where there is such a service. */
  watch(read: () => Promise<unknown>, onRead: () => void, signal: AbortSignal): void {
    const timer = setInterval(() => {
      if (signal.aborted) clearInterval(timer);
      else if (this.#readAt && !document.hidden)
        void read()
          .catch(() => {
            this.staleSince = this.#readAt;
          })
          .then(onRead);
    }, EVERY_MS);
  }
}
