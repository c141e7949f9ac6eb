import { setTimeout as wait } from 'node:timers/promises';
import type { Clock } from '../../kernel/clock.ts';
import { DataDirLockedError } from '../../state/db/lock.ts';

/** The longest wait for the lock of the data folder, which a starting server or another command holds for a while. */
const LOCK_WAIT_MS = 15_000;
const LOCK_RETRY_MS = 100;

/** Repeats an attempt while the data folder is locked. @throws the errors of `attempt`; that of `toError` if the folder stays locked */
export async function retryWhileLocked<Result>(
  attempt: () => Promise<Result>,
  {
    folder,
    clock,
    toError,
  }: { folder: string; clock: Pick<Clock, 'ms'>; toError: (message: string) => Error },
): Promise<Result> {
  for (const deadline = clock.ms() + LOCK_WAIT_MS; ; ) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof DataDirLockedError)) throw error;
      if (clock.ms() > deadline)
        throw toError(
          `${folder} is in use by a process that does not answer this command. Stop it, or read its log`,
        );
      await wait(LOCK_RETRY_MS);
    }
  }
}
