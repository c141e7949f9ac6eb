import type { CheckoutConnection } from '../checkout-state.ts';
import type { UpstreamAge } from '../operations.ts';

/** The interval of the reads that show, beside a stream that brings nothing, whether the service still answers. */
const EVERY_MS = 30_000;

/** The age of the rows, where the server asks another service for them. */
export class ServiceAge {
  /** The time of the rows, in milliseconds, where that service gives nothing newer; 0 where they are current. */
  staleSince = 0;
  /** Whether that service refuses the server's key. */
  isKeyRefused: boolean | undefined;
  /** The time at which the connection to the server was lost, in milliseconds; 0 where it is open. */
  lostAt = 0;
  /** The time of the last answer of that service; 0 where there is none behind the server. */
  #readAt = 0;

  /** The connection as the page shows it: `stale` where the rows are old, and not for want of a network. */
  shown(connection: CheckoutConnection): CheckoutConnection | 'stale' {
    return this.staleSince && /^[lpr]/.test(connection) ? 'stale' : connection;
  }

  /** The time since which the rows may be old; 0 where they are current, or were a minute ago. */
  get oldSince(): number {
    return this.staleSince || (this.lostAt < Date.now() - 60_000 ? this.lostAt : 0);
  }

  /** Takes the connection to the server, and returns it. */
  connect(connection: CheckoutConnection): CheckoutConnection {
    this.lostAt = /^[ro]/.test(connection) ? this.lostAt || Date.now() : 0;
    return connection;
  }

  /** Takes the age that an answer reports. */
  note({ ageSeconds, stale, keyRefused }: Partial<UpstreamAge>): void {
    this.isKeyRefused = keyRefused;
    if (ageSeconds != null) this.#readAt = Date.now() - ageSeconds * 1_000;
    this.staleSince = stale ? this.#readAt : 0;
  }

  /** Calls `onRead` at intervals until `signal` is aborted, after `read` where there is such a service. */
  watch(read: () => Promise<unknown>, onRead: () => void, signal: AbortSignal): void {
    const timer = setInterval(() => {
      if (signal.aborted) clearInterval(timer);
      else if (!document.hidden)
        void (this.#readAt ? read() : Promise.resolve())
          .catch(() => {
            this.staleSince = this.#readAt;
          })
          .then(onRead);
    }, EVERY_MS);
  }
}
