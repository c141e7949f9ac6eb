import { sql as raw } from 'kysely';
import type { Clock } from '../../kernel/clock.ts';
import { ValidationError } from '../../kernel/errors.ts';
import {
  BEHIND_IN_WORDS,
  type Behind,
  type BehindCause,
  type Gap,
  type RecordsAdministration,
} from '../../kernel/records.ts';
import { type Database, ReadOnlyDatabase, type Sql } from './database.ts';
import type { Log } from './log.ts';
import { firstPartOf } from './migrate.ts';

// A database that was set back lacks the requests since then, and nothing in its rows shows that. So it gets
// a mark, which an operator removes later. A restore sets it. The timeline reveals a promoted standby; a
// disk's snapshot reveals nothing, and is marked by hand.

/** Whether the records reach to the present. */
export interface Records extends RecordsAdministration {
  /**
   * Reads the mark; null if nothing is missing. Sets it if PostgreSQL has a new timeline. Logs a change of
   * it.
   */
  behind(): Promise<Behind | null>;
  /** Reads the newest gap in the records, which they have for good: that of the mark, or of the one that was removed last; null for none. */
  newestGap(): Promise<Gap | null>;
  /** The mark as this instance last read it. */
  lastKnown(): Behind | null;
}

/** The timeline of a server that takes writes; null on a standby. The control file would show it only after a checkpoint. */
const TIMELINE = raw<number | null>`case when pg_is_in_recovery() then null
  else ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::integer end`;

/** The codes of a PostgreSQL that does not have the function, or does not permit it. */
const NOT_PERMITTED: ReadonlySet<string | undefined> = new Set(['42501', '42883', '0A000']);

interface Mark {
  behind: Behind | null;
  confirmed: Gap | null;
  timeline: number | null;
  markedTimeline: number | null;
}

export function createRecords({
  database,
  clock,
  log,
}: {
  database: Pick<Database, 'engine' | 'sql' | 'transaction'>;
  clock: Pick<Clock, 'now'>;
  log: Log;
}): Records {
  const { sql } = database;
  let hasTimeline = database.engine === 'postgres';
  let known: Behind | null = null;

  async function readTimeline(): Promise<number | null> {
    if (!hasTimeline) return null;
    try {
      const { rows } = await raw<{ timeline: number | null }>`select ${TIMELINE} as timeline`.execute(sql);
      return rows[0]!.timeline;
    } catch (error) {
      const { code } = ((error as Error).cause ?? error) as { code?: string };
      if (!NOT_PERMITTED.has(code)) throw error;
      hasTimeline = false;
      log.warn(
        { code },
        'this PostgreSQL does not show its timeline: after a failover to a standby that was behind, run psa restored --since',
      );
      return null;
    }
  }

  async function read(): Promise<Behind | null> {
    const timeline = await readTimeline();
    const mark = await selectMark(sql);
    if (timeline === null || timeline === mark?.timeline || timeline === mark?.markedTimeline)
      return mark?.behind ?? null;
    if (mark?.timeline == null) {
      await whereWritable(saveTimeline(sql, timeline), undefined);
      return mark?.behind ?? null;
    }
    const now = clock.now();
    const found: Behind = { since: (await selectLastCommit(sql)) ?? now, until: now, cause: 'timeline' };
    const saving = database.transaction(async (db) => {
      await saveMark(db, found);
      await db.updateTable('restored_records').set({ marked_timeline: timeline }).execute();
      return (await selectMark(db))!.behind;
    });
    return whereWritable(saving, found);
  }

  async function behind(): Promise<Behind | null> {
    const found = await read();
    if (found && found.since.getTime() !== known?.since.getTime())
      log.warn(
        { since: found.since, cause: found.cause },
        `the records may lack what came after this instant (${BEHIND_IN_WORDS[found.cause]}), until psa restored --confirm`,
      );
    if (!found && known) log.info({}, 'the records were confirmed: they count as complete');
    known = found;
    return found;
  }

  return {
    behind,
    newestGap: async () => (await behind()) ?? (await selectMark(sql))?.confirmed ?? null,
    lastKnown: () => known,
    async restored({ since, confirm = false }) {
      if (since && confirm)
        throw new ValidationError([{ path: 'since', message: 'cannot be given with --confirm' }]);
      const now = clock.now();
      if (since && since > now)
        throw new ValidationError([{ path: 'since', message: 'must not be in the future' }]);
      if (since) await saveMark(sql, { since, until: now, cause: 'operator' });
      const before = await behind();
      if (!confirm) return { behind: before, ended: null };
      const timeline = await readTimeline();
      if (before)
        await sql
          .updateTable('restored_records')
          .set({
            confirmed_since: before.since,
            confirmed_until: before.until,
            behind_since: null,
            behind_until: null,
            cause: null,
            marked_timeline: null,
            ...(timeline === null ? {} : { timeline }),
          })
          .execute();
      return { behind: await behind(), ended: before };
    },
  };
}

/**
 * Marks a database that was filled from a backup, in the transaction that fills it. The timeline in the
 * backup is another server's. The tables of an older version's backup have no mark yet.
 */
export async function markRestored(sql: Sql, takenAt: Date): Promise<void> {
  await raw.raw(firstPartOf('0021_restored_records')).execute(sql);
  // The time of the database, which the servers use.
  const { rows } = await raw<{ now: Date }>`select greatest(clock_timestamp(), ${takenAt}) as now`.execute(
    sql,
  );
  await saveMark(sql, { since: takenAt, until: rows[0]!.now, cause: 'backup' });
  await sql.updateTable('restored_records').set({ timeline: null, marked_timeline: null }).execute();
}

/**
 * Sets the mark. An existing mark keeps its earlier instant, because the records since then are still
 * missing.
 */
async function saveMark(sql: Sql, { since, until, cause }: Behind): Promise<void> {
  await sql
    .insertInto('restored_records')
    .values({ behind_since: since, behind_until: until, cause })
    .onConflict((conflict) =>
      conflict.column('one').doUpdateSet({
        behind_since: raw<Date>`least(restored_records.behind_since, excluded.behind_since)`,
        behind_until: raw<Date>`greatest(restored_records.behind_until, excluded.behind_until)`,
        cause: raw<BehindCause>`excluded.cause`,
      }),
    )
    .execute();
}

async function saveTimeline(sql: Sql, timeline: number): Promise<void> {
  await sql
    .insertInto('restored_records')
    .values({ timeline })
    .onConflict((conflict) =>
      conflict.column('one').doUpdateSet({
        timeline: raw<number>`coalesce(restored_records.timeline, excluded.timeline)`,
      }),
    )
    .execute();
}

async function selectMark(sql: Sql): Promise<Mark | null> {
  const row = await sql.selectFrom('restored_records').selectAll().executeTakeFirst();
  if (!row) return null;
  const { behind_since: since, behind_until: until, cause } = row;
  const { confirmed_since, confirmed_until } = row;
  return {
    behind: since && until && cause ? { since, until, cause } : null,
    confirmed: confirmed_since && confirmed_until ? { since: confirmed_since, until: confirmed_until } : null,
    timeline: row.timeline,
    markedTimeline: row.marked_timeline,
  };
}

/**
 * The instant of the last commit that a promoted standby received from the server before it. PostgreSQL knows
 * it until it restarts; after that it is the time of the last recorded request. Null if there is none.
 */
async function selectLastCommit(sql: Sql): Promise<Date | null> {
  const { rows } = await raw<{ last: Date | null }>`
    select coalesce(
      pg_last_xact_replay_timestamp(),
      (select max(created_at) from upstream_intent),
      (select max(created_at) from account)
    ) as last`.execute(sql);
  return rows[0]!.last;
}

/**
 * The outcome of a write, or `otherwise` if the database takes no writes at the moment: a server on it still
 * answers queries.
 */
async function whereWritable<Result>(writing: Promise<Result>, otherwise: Result): Promise<Result> {
  return writing.catch((error: unknown) => {
    if (error instanceof ReadOnlyDatabase) return otherwise;
    throw error;
  });
}
