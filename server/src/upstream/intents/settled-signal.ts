import { type Clock, plusMs } from '../../kernel/clock.ts';
import type { Database } from '../../state/db/database.ts';
import type { Intent } from './transitions.ts';

/** The channel on which an instance names an intent whose request has ended. */
const CHANNEL = 'psa_intent';
/**
 * The longest wait for another instance. Nearly every request ends within it. A lost notification costs as
 * much.
 */
const WAIT_MS = 5_000;

/** Notifies the other instances that a request has ended, so that a caller there need not wait longer. */
export interface SettledSignal {
  /** Notifies the other instances that an intent has ended. A lost notification costs a waiting caller 5 s. */
  notifySettled(intent: Intent): void;
  /**
   * Resolves when `read` no longer returns the intent in the state `sending`, or after 5 s, because the
   * instance that sends it may have crashed.
   */
  waitForSender(intent: Intent, read: () => Promise<Intent | undefined>): Promise<void>;
  close(): void;
}

export function createSettledSignal({
  database,
  clock,
  pace,
  onFault,
}: {
  database: Database;
  clock: Clock;
  pace: number;
  onFault: (fault: unknown) => void;
}): SettledSignal {
  /** The wake functions of the callers that wait for another instance, by intent id. */
  const waiting = new Map<string, Set<() => void>>();
  let listening: Promise<() => Promise<void>> | undefined;
  let closed = false;

  function listen(): Promise<unknown> {
    listening ??= database.listen(CHANNEL, onNotification).catch((error: unknown) => {
      listening = undefined;
      throw error;
    });
    return listening;
  }

  function onNotification(id: string): void {
    // An empty id means that notifications may have been lost.
    const notified = id === '' ? [...waiting.values()] : [waiting.get(id) ?? []];
    for (const wakers of notified) for (const wake of wakers) wake();
  }

  return {
    notifySettled({ id }) {
      database.notify(CHANNEL, id).catch((error: unknown) => {
        if (!closed) onFault(error);
      });
    },

    async waitForSender({ id }, read) {
      let isLate = false;
      let wake: () => void = () => undefined;
      const waker = (): void => wake();
      waiting.set(id, (waiting.get(id) ?? new Set()).add(waker));
      const timeout = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const cancel = clock.schedule(plusMs(clock.now(), WAIT_MS * pace), () => {
        isLate = true;
        waker();
      });
      try {
        // The listening connection may be lost for longer than a caller waits.
        await Promise.race([listen(), timeout]);
        while (!isLate) {
          const woken = new Promise<void>((resolve) => {
            wake = resolve;
          });
          // The read follows the promise, so that a notification during it is not missed.
          if ((await read())?.state !== 'sending') return;
          await woken;
        }
      } finally {
        cancel();
        const wakers = waiting.get(id);
        wakers?.delete(waker);
        if (wakers?.size === 0) waiting.delete(id);
      }
    },

    close() {
      closed = true;
      // This does not wait for a connection that is still being opened: the database closes it.
      listening?.then((unlisten) => unlisten()).catch(() => undefined);
    },
  };
}
