import { type Clock, plusMs } from '../../kernel/clock.ts';
import { OutageError } from '../../kernel/errors.ts';
import { ReadOnlyDatabase } from '../../state/db/database.ts';
import type { Log } from '../../state/db/log.ts';

/** The reasons for which an instance is not ready. */
export const UNREADY_CAUSES = [
  'disk_full',
  'out_of_memory',
  'io_error',
  'read_only',
  'away',
  'other',
] as const;
export type UnreadyCause = (typeof UNREADY_CAUSES)[number];

/** Whether the database takes writes, and if not, why. */
export interface Readiness {
  /** Tries a write. Logs a cause when it is found, and its end. */
  isReady(): Promise<boolean>;
  /** The cause that was found last; null while the instance is ready. */
  cause(): UnreadyCause | null;
  close(): Promise<void>;
}

/** The interval of checks whether the cause has ended, while no proxy asks. */
const LOOK_MS = 1_000;

export function createReadiness({
  takesWrites,
  clock,
  log,
}: {
  takesWrites: () => Promise<boolean>;
  clock: Clock;
  log: Log;
}): Readiness {
  let cause: UnreadyCause | null = null;
  let trial: Promise<boolean> | null = null;
  let cancel: (() => void) | undefined;
  let isClosed = false;

  function isReady(): Promise<boolean> {
    trial ??= takesWrites()
      .then(
        (takes) => found(takes ? null : new ReadOnlyDatabase('it is a standby, or was made read-only')),
        found,
      )
      .finally(() => {
        trial = null;
      });
    return trial;
  }

  function found(error: unknown): boolean {
    const next = error === null ? null : causeOf(error);
    if (next !== null && next !== cause)
      log.warn({ cause: next, reason: (error as Error).message }, 'not ready: the database takes no writes');
    if (next === null && cause !== null) log.info({}, 'ready again: the database takes writes');
    cause = next;
    cancel?.();
    if (cause !== null && !isClosed)
      cancel = clock.schedule(plusMs(clock.now(), LOOK_MS), () => void isReady());
    return cause === null;
  }

  return {
    isReady,
    cause: () => cause,
    async close() {
      isClosed = true;
      cancel?.();
      await trial;
    },
  };
}

function causeOf(error: unknown): UnreadyCause {
  if (error instanceof ReadOnlyDatabase) return 'read_only';
  const { code = '' } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
  if (code === '53100') return 'disk_full';
  if (code === '53200') return 'out_of_memory';
  if (/^58/.test(code)) return 'io_error';
  return error instanceof OutageError ? 'away' : 'other';
}
