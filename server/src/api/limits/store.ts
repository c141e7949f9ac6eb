import { sql as raw } from 'kysely';
import { plusMs } from '../../kernel/clock.ts';
import type { Sql } from '../../state/db/database.ts';

/** The least of ended windows that one statement deletes, and their number for each window that it may add: the table does not grow. */
const SWEEP_LIMIT = 10;
const SWEPT_FOR_EACH = 3;

/** Deletes windows that ended a minute ago, except those of `keys`: one statement cannot change a row twice. */
function sweep(keys: readonly string[], now: Date) {
  return raw`
    delete from rate_window where key in (
      select key from rate_window where ends_at <= ${plusMs(now, -SWEEP_AFTER_MS)} and key <> all(${keys}::text[])
      order by ends_at limit ${Math.max(SWEEP_LIMIT, SWEPT_FOR_EACH * keys.length)} for update skip locked
    )
  `;
}

const SWEEP_AFTER_MS = 60_000;

/** The admissions that an instance reserves in the window of a key. */
export interface Wanted {
  readonly key: string;
  readonly want: number;
}

/** A window: its end, and the sum that all instances have reserved in it. */
export interface ReservedWindow {
  readonly endsAt: Date;
  readonly used: number;
}

/**
 * Adds what is wanted to the current window of each key in one statement, which begins the windows that there are not.
 * Returns the windows by their keys, with these reservations.
 *
 * A window that ends later than two lengths from now was begun before the clock was set back. One length is the window's
 * own; the other is for instances whose clocks differ.
 */
export async function reserve(
  sql: Sql,
  wanted: readonly Wanted[],
  { lengthMs, now }: { lengthMs: number; now: Date },
): Promise<ReadonlyMap<string, ReservedWindow>> {
  const keys = wanted.map(({ key }) => key);
  const isOver = raw<boolean>`(w.ends_at <= ${now} or w.ends_at > ${plusMs(now, 2 * lengthMs)})`;
  const { rows } = await raw<{ key: string; ends_at: Date; used: number }>`
    with swept as (${sweep(keys, now)})
    insert into rate_window as w (key, ends_at, used)
    -- Locked in one order: concurrent statements would deadlock.
    select key, ${plusMs(now, lengthMs)}::timestamptz, want
    from unnest(${keys}::text[], ${wanted.map(({ want }) => want)}::bigint[]) r (key, want) order by key
    on conflict (key) do update set
      ends_at = case when ${isOver} then excluded.ends_at else w.ends_at end,
      used = case when ${isOver} then excluded.used else w.used + excluded.used end
    returning key, ends_at, used
  `.execute(sql);
  return new Map(rows.map(({ key, used, ends_at: endsAt }) => [key, { endsAt, used }]));
}

/** Returns unused reservations to their windows. A window that has ended since, or was begun again, keeps its count. */
export async function release(
  sql: Sql,
  reserved: readonly { key: string; endsAt: Date; unused: number }[],
): Promise<void> {
  await raw`
    with own as (
      select w.key, r.unused
      from rate_window w
        join unnest(
          ${reserved.map(({ key }) => key)}::text[],
          ${reserved.map(({ endsAt }) => endsAt)}::timestamptz[],
          ${reserved.map(({ unused }) => unused)}::bigint[]
        ) r (key, ends_at, unused) using (key, ends_at)
      -- Locked in one order: instances that stop together would deadlock.
      order by w.key for update of w
    )
    update rate_window w set used = w.used - own.unused from own where w.key = own.key
  `.execute(sql);
}

// ── Counts that are forgotten after a quiet time ────────────────────────────────────────────────

/** A count, and the instant at which it is forgotten if nothing more is counted. */
export interface Count {
  used: number;
  endsAt: Date;
}

/** Reads the counts of these keys that are not forgotten. */
export async function selectCounts(
  sql: Sql,
  keys: readonly string[],
  { now, quietMs }: { now: Date; quietMs: number },
): Promise<Map<string, Count>> {
  const rows = await sql
    .selectFrom('rate_window')
    .selectAll()
    .where('key', 'in', keys)
    .where('ends_at', '>', now)
    // A later end was written before the clock was set back.
    .where('ends_at', '<=', plusMs(now, 2 * quietMs))
    .execute();
  return new Map(rows.map(({ key, used, ends_at: endsAt }) => [key, { used, endsAt }]));
}

/** Adds one, up to `most`, to a count that still equals `seen`. Returns false, without a change, if it does not. */
export async function addIfUnchanged(
  sql: Sql,
  {
    key,
    seen,
    now,
    quietMs,
    most,
  }: { key: string; seen: Count | null; now: Date; quietMs: number; most: number },
): Promise<boolean> {
  const isUnchanged = seen
    ? raw<boolean>`w.used = ${seen.used} and w.ends_at = ${seen.endsAt}`
    : raw<boolean>`(w.ends_at <= ${now} or w.ends_at > ${plusMs(now, 2 * quietMs)})`;
  const { rows } = await raw`
    with swept as (${sweep([key], now)})
    insert into rate_window as w (key, ends_at, used) values (${key}, ${plusMs(now, quietMs)}, ${Math.min((seen?.used ?? 0) + 1, most)})
    on conflict (key) do update set ends_at = excluded.ends_at, used = excluded.used where ${isUnchanged}
    returning key
  `.execute(sql);
  return rows.length > 0;
}

/** Adds one to each count, up to `most`. Returns the new counts. */
export async function addToCounts(
  sql: Sql,
  keys: readonly string[],
  { now, quietMs, most }: { now: Date; quietMs: number; most: number },
): Promise<Map<string, number>> {
  const isOver = raw<boolean>`(w.ends_at <= ${now} or w.ends_at > ${plusMs(now, 2 * quietMs)})`;
  const { rows } = await raw<{ key: string; used: number }>`
    with swept as (${sweep(keys, now)})
    insert into rate_window as w (key, ends_at, used)
    -- Locked in one order: concurrent statements would deadlock.
    select key, ${plusMs(now, quietMs)}::timestamptz, 1 from unnest(${keys}::text[]) key order by key
    on conflict (key) do update set
      ends_at = excluded.ends_at,
      used = case when ${isOver} then 1 else least(w.used + 1, ${most}::bigint) end
    returning key, used
  `.execute(sql);
  return new Map(rows.map(({ key, used }) => [key, used]));
}

/** Subtracts `by` from each count, down to zero. */
export async function takeFromCounts(
  sql: Sql,
  amounts: readonly { key: string; by: number }[],
): Promise<void> {
  await raw`
    with own as (
      select w.key, a.by
      from rate_window w
        join unnest(${amounts.map(({ key }) => key)}::text[], ${amounts.map(({ by }) => by)}::bigint[]) a (key, by)
          using (key)
      order by w.key for update of w
    )
    update rate_window w set used = greatest(0, w.used - own.by) from own where w.key = own.key
  `.execute(sql);
}
