import type { CheckoutConnection } from '../checkout-state.ts';
import type { UpstreamAge } from '../operations.ts';

/** The interval of reads that check, while a stream delivers nothing, whether the service still answers. */
const EVERY_MS = 30_000;

/** The age of the rows, if the server reads them from another service. */
export class ServiceAge {
  /** The time of the rows, in milliseconds, if that service gives nothing newer; 0 if they are current. */
  staleSince = 0;
  /** Whether that service refuses the server's key. */
  isKeyRefused: boolean | undefined;
  /** The time at which the connection to the server was lost, in milliseconds; 0 if it is open. */
  lostAt = 0;
  /** The time of that service's last answer; 0 if there is no such service. */
  #readAt = 0;

  /** The connection as the page shows it: `stale` if nothing newer comes from that service although the network works. */
  shown(connection: CheckoutConnection): CheckoutConnection | 'stale' {
    return (this.staleSince || this.isKeyRefused) && /^[lpr]/.test(connection) ? 'stale' : connection;
  }

  /** The time since which the rows may be old; 0 if they are current, or were a minute ago. */
  get oldSince(): number {
    return this.staleSince || (this.lostAt < Date.now() - 60_000 ? this.lostAt : 0);
  }

  /** Records the state of the connection to the server, and returns it. */
  connect(connection: CheckoutConnection): CheckoutConnection {
    this.lostAt = /^[ro]/.test(connection) ? this.lostAt || Date.now() : 0;
    return connection;
  }

  /** Records the age that an answer reports. */
  note({ ageSeconds, stale, keyRefused }: Partial<UpstreamAge>): void {
    this.isKeyRefused = keyRefused;
    if (ageSeconds != null) this.#readAt = Date.now() - ageSeconds * 1_000;
    this.staleSince = stale ? this.#readAt : 0;
  }

  /** Calls `read` and then `onRead` at intervals until `signal` is aborted, if there is such a service. */
  watch(read: () => Promise<unknown>, onRead: () => void, signal: AbortSignal): void {
    const timer = setInterval(() => {
      if (signal.aborted) clearInterval(timer);
      else if (!document.hidden)
        void (this.#readAt || this.isKeyRefused ? read() : Promise.resolve())
          .catch(() => {
            this.staleSince = this.#readAt;
          })
          .then(onRead);
    }, EVERY_MS);
  }
}
