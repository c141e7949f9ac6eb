import { sql as raw } from 'kysely';
import type { Sql } from '../../state/db/database.ts';
import type { HeldSlot } from './scheduler.ts';

/**
 * The latest time that any instance has seen in a change of the account `a`. A time that is more than
 * `leewayMs` ahead dates from before the clock was set back, and does not count.
 */
const latestAt = (leewayMs: number) => raw<Date>`case
  when a.last_at > excluded.last_at + ${leewayMs} * interval '1 millisecond' then excluded.last_at
  else greatest(a.last_at, excluded.last_at)
end`;

/**
 * Locks the account until the transaction ends, creates it if it is new, and returns the time for all
 * instances: the latest that any of them has seen. If that is more than `leewayMs` ahead of `now`, it dates
 * from before the clock was set back, and is set back too: see `capSlots`.
 */
export async function lockAccount(
  sql: Sql,
  { key, now, leewayMs }: { key: string; now: Date; leewayMs: number },
): Promise<{ at: Date; blockedUntil: Date | null }> {
  const { rows } = await raw<{ last_at: Date; blocked_until: Date | null }>`
    insert into upstream_account as a (key, last_at) values (${key}, ${now})
    on conflict (key) do update set last_at = ${latestAt(leewayMs)}
    returning last_at, blocked_until
  `.execute(sql);
  const { last_at: at, blocked_until: blockedUntil } = rows[0]!;
  return { at, blockedUntil };
}

/**
 * Deletes the slots that have ended by `at`, and selects those held then. Runs in the transaction that has
 * locked the account.
 */
export async function selectHeld(sql: Sql, key: string, at: Date): Promise<HeldSlot[]> {
  await sql
    .deleteFrom('upstream_slot')
    .where('account_key', '=', key)
    .where('held_until', '<=', at)
    .execute();
  const rows = await sql
    .selectFrom('upstream_slot')
    .select(['class', 'subject', 'network', 'held_until'])
    .where('account_key', '=', key)
    .execute();
  return rows.map(({ class: priority, subject: token, network, held_until: heldUntil }) => ({
    class: priority,
    subject: token === null ? null : { token, network },
    heldUntil,
  }));
}

/**
 * Ends every slot by `latestEnd`, which is the end of a slot granted now: later ends date from before the
 * clock was set back.
 */
export async function capSlots(sql: Sql, key: string, latestEnd: Date): Promise<void> {
  await sql
    .updateTable('upstream_slot')
    .set({ held_until: latestEnd })
    .where('account_key', '=', key)
    .where('held_until', '>', latestEnd)
    .execute();
}

export async function insertSlots(
  sql: Sql,
  key: string,
  slots: readonly (HeldSlot & { id: string })[],
): Promise<void> {
  await sql
    .insertInto('upstream_slot')
    .values(
      slots.map(({ id, class: priority, subject, heldUntil }) => ({
        id,
        account_key: key,
        class: priority,
        subject: subject?.token ?? null,
        network: subject?.network ?? null,
        held_until: heldUntil,
      })),
    )
    .execute();
}

/**
 * Ends a request: its slot is held for `heldMs` from now, by the latest clock, but not longer than before.
 */
export async function endSlot(
  sql: Sql,
  { id, now, heldMs }: { id: string; now: Date; heldMs: number },
): Promise<void> {
  await raw`
    update upstream_slot s
    set held_until = least(
      s.held_until, greatest(a.last_at, ${now}::timestamptz) + ${heldMs} * interval '1 millisecond'
    )
    from upstream_account a where a.key = s.account_key and s.id = ${id}
  `.execute(sql);
}

/** Frees a slot whose request was not sent. */
export async function dropSlot(sql: Sql, id: string): Promise<void> {
  await sql.deleteFrom('upstream_slot').where('id', '=', id).execute();
}

/**
 * Stops all requests for `ms` from now, on every instance, and returns the end. It never shortens an earlier
 * block, except one that lasts longer than `leewayMs`, the longest of blocks: such a block dates from before
 * the clock was set back.
 */
export async function blockAccount(
  sql: Sql,
  { key, now, ms, leewayMs }: { key: string; now: Date; ms: number; leewayMs: number },
): Promise<Date> {
  const at = latestAt(leewayMs);
  const { rows } = await raw<{ blocked_until: Date }>`
    insert into upstream_account as a (key, last_at, blocked_until)
    values (${key}, ${now}, ${now}::timestamptz + ${ms} * interval '1 millisecond')
    on conflict (key) do update set
      last_at = ${at},
      blocked_until = greatest(
        case when a.blocked_until <= ${at} + ${leewayMs} * interval '1 millisecond' then a.blocked_until end,
        ${at} + ${ms} * interval '1 millisecond'
      )
    returning blocked_until
  `.execute(sql);
  return rows[0]!.blocked_until;
}
