import { sql as raw } from 'kysely';
import type { Sql } from '../db/database.ts';
import { plusMs } from '../kernel/clock.ts';

/** Ended windows that a reservation takes away. It adds one at most, so the table does not grow. */
const SWEPT = 10;

/**
 * Counts `want` more into the current window of `key`, which this begins where there is none, in one statement. Returns
 * when that window ends and what all instances have asked for in it, this included.
 *
 * A window that ends later than two lengths from now is from before the clock was set back. One length is the
 * window's own; the other is for instances whose clocks differ.
 */
export async function reserve(
  sql: Sql,
  { key, want, lengthMs, now }: { key: string; want: number; lengthMs: number; now: Date },
): Promise<{ endsAt: Date; used: number }> {
  const over = raw<boolean>`(w.ends_at <= ${now} or w.ends_at > ${plusMs(now, 2 * lengthMs)})`;
  const { rows } = await raw<{ ends_at: Date; used: number }>`
    with swept as (
      delete from rate_window where key in (
        select key from rate_window where ends_at <= ${plusMs(now, -lengthMs)} and key <> ${key}
        order by ends_at limit ${SWEPT} for update skip locked
      )
    )
    insert into rate_window as w (key, ends_at, used) values (${key}, ${plusMs(now, lengthMs)}, ${want})
    on conflict (key) do update set
      ends_at = case when ${over} then excluded.ends_at else w.ends_at end,
      used = case when ${over} then excluded.used else w.used + excluded.used end
    returning ends_at, used
  `.execute(sql);
  const { ends_at: endsAt, used } = rows[0]!;
  return { endsAt, used };
}

/** What was reserved in these windows and will not be taken. A window that has ended since, or begun anew, keeps its count. */
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
      -- In one order, for instances that stop together.
      order by w.key for update of w
    )
    update rate_window w set used = w.used - own.unused from own where w.key = own.key
  `.execute(sql);
}
