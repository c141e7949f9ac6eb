import type { Database } from '../../db/database.ts';
import { type Clock, plusMs } from '../../kernel/clock.ts';
import type { Intent } from './transitions.ts';

/** The channel on which an instance names an intent that it has sent and that has ended. */
const CHANNEL = 'psa_intent';
/** Nearly every answer has come by then. A lost notification costs a waiting caller this. */
const WAIT_MS = 5_000;

/** Notifies the other instances that a request has ended, so that a caller there need not wait longer. */
export interface SettledSignal {
  /** Notifies the other instances that an intent has ended. A lost notification costs time, and nothing else. */
  notifySettled(intent: Intent): void;
  /**
   * Resolves when `read` no longer gives the intent as being sent, or after a while: the instance that sends it may have
   * ended.
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
  /** The callers that wait here for another instance, by intent. */
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
    // Without an id, some may have been lost.
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
      const late = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const cancel = clock.schedule(plusMs(clock.now(), WAIT_MS * pace), () => {
        isLate = true;
        waker();
      });
      try {
        // The connection that listens may be away for longer than a caller waits.
        await Promise.race([listen(), late]);
        while (!isLate) {
          const woken = new Promise<void>((resolve) => {
            wake = resolve;
          });
          // After the promise, so that a notification during the reading is not missed.
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
      // A connection that is not there yet is not waited for: the database ends it.
      listening?.then((unlisten) => unlisten()).catch(() => undefined);
    },
  };
}
