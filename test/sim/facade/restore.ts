import { PaymentError } from '../../../server/src/kernel/errors.ts';
import { createDoubts } from '../../../server/src/programs/modes/doubts.ts';
import { createCommitter } from '../../../server/src/state/commit/committer.ts';
import { checkBackup, restoreDatabase, saveDatabase } from '../../../server/src/state/db/backup.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import { createRecords, markRestored } from '../../../server/src/state/db/records.ts';
import { announcement, STREAM_CHANNEL } from '../../../server/src/state/events/announcement.ts';
import type { Random } from '../../faults/random.ts';
import type { ManualClock } from '../../support/clock.ts';
import { connectTo } from '../../support/database.ts';
import { emptyDatabase } from '../../support/emptier.ts';
import { silent } from '../../support/templates.ts';
import { bringBack, type Snapshot, takeSnapshot } from './snapshot.ts';

/** One of so many restores is done as `psa restore` does it; the others bring the same rows back in a tenth of the time. */
const ONE_WHOLE_OF = 16;

/** A backup at a random step of a story, and its restore at a later one. */
export function createRestore({
  databaseUrl,
  clock,
  steps,
  fate,
}: {
  databaseUrl: string;
  clock: ManualClock;
  steps: number;
  fate: Random;
}) {
  const savesAt = 1 + fate.below(Math.max(1, steps - 4));
  const goesBackAt = savesAt + 1 + fate.below(Math.max(1, steps - savesAt));
  const isWhole = fate.below(ONE_WHOLE_OF) === 0;
  let saved: string[] = [];
  let snapshot: Snapshot = [];
  let savedAt: Date | null = null;
  let isBehind = false;

  let connected: Promise<Database> | undefined;

  /** Runs an operation of the operator, whose programs share one connection. */
  async function withDatabase<Result>(work: (database: Database) => Promise<Result>): Promise<Result> {
    connected ??= connectTo(databaseUrl, clock);
    return work(await connected);
  }

  async function* texts() {
    yield* saved;
  }

  return {
    savesAt,
    goesBackAt,
    isBehind: () => isBehind,
    /** The instant of the backup; null before it. */
    savedAt: () => savedAt,

    async save(): Promise<void> {
      saved = [];
      savedAt = clock.now();
      if (!isWhole) {
        snapshot = await takeSnapshot(databaseUrl);
        return;
      }
      await withDatabase((database) =>
        saveDatabase(database, {
          takenAt: clock.now(),
          async write(all) {
            for await (const text of all) saved.push(text);
          },
        }),
      );
    },

    /** Restores the backup. With `marks` false, the records do not show the restore. */
    async goBack({ marks }: { marks: boolean }): Promise<void> {
      if (isWhole) await emptyDatabase(databaseUrl);
      else await bringBack(databaseUrl, snapshot);
      await withDatabase(async (database) => {
        if (isWhole) {
          const header = await checkBackup(texts(), () => undefined);
          await restoreDatabase(database, { header, texts: texts() });
        } else await database.transaction((sql) => markRestored(sql, savedAt!));
        // The database has the machine's time, and the story a time of its own.
        if (marks)
          await database.sql.updateTable('restored_records').set({ behind_until: clock.now() }).execute();
        else await database.sql.deleteFrom('restored_records').execute();
      });
      isBehind = true;
    },

    async close(): Promise<void> {
      await (await connected)?.close();
    },

    /** Runs `psa restored --confirm`. */
    async confirm(): Promise<void> {
      await withDatabase((database) =>
        createRecords({ database, clock, log: silent }).restored({ confirm: true }),
      );
      isBehind = false;
    },

    /** Settles each doubt by the resource of its key; null if there is none, undefined if it is not known yet. */
    async settleDoubts(madeBy: (key: string) => string | null | undefined): Promise<void> {
      await withDatabase(async (database) => {
        const notified: Promise<void>[] = [];
        const committer = createCommitter({
          database,
          clock,
          onCommit: (committed) =>
            notified.push(
              database.notify(STREAM_CHANNEL, ...committed.map(({ tenant }) => announcement(tenant))),
            ),
        });
        const { listDoubts, settleDoubt } = createDoubts({ database, committer, clock });
        for (const { id, key } of (await listDoubts()).doubts) {
          const made = madeBy(key);
          if (made === undefined) continue;
          // A subaccount's payout settles by itself, and a payout that no list has shown yet is settled later.
          await settleDoubt({ id, made }).catch((error: unknown) => {
            if (!(error instanceof PaymentError)) throw error;
          });
        }
        await Promise.all(notified);
      });
    },
  };
}
