import { setTimeout as wait } from 'node:timers/promises';
import { DataDirLockedError } from '../db/lock.ts';
import type { Clock } from '../kernel/clock.ts';

/** The wait while another process has locked the data folder and does not answer: a starting server, another command. */
const LOCK_WAIT_MS = 15_000;
const LOCK_RETRY_MS = 100;

/** Repeats an attempt while the data folder is locked. @throws what `attempt` throws, and `toError` where it stays locked */
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
          `${folder} is in use by a process that does not answer to this command. Stop it, or look at its log`,
        );
      await wait(LOCK_RETRY_MS);
    }
  }
}
