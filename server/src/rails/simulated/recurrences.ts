import type { Selectable } from 'kysely';
import { type Clock, plusMs } from '../../kernel/clock.ts';
import { deterministicId } from '../../kernel/ids.ts';
import { dayOf, instantOf, plusDays } from '../../kernel/sao-paulo.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Database, Sql } from '../../state/db/database.ts';
import type { Tables } from '../../state/db/tables.ts';
import type { DebitReport, PixRail } from '../pix.ts';
import { endToEndId } from './bank.ts';

/** The hour of its day at which an attempt ends: the bank retries by itself from 18:00 on. */
const HOUR_OF_OUTCOME = 21;
/** The hour of the evening before, after which an attempt can no longer be recalled. */
const RECALL_HOUR = 22;

const REFUSAL = 'Saldo insuficiente';

/** Notifies the service that a code has something new to read. */
export type Notify = (
  sql: Sql,
  tenant: Tenant,
  /** The end-to-end id of a credit of the code, or the name of a change of its recurrence. */
  notice: { txid: string; at: Date } & ({ endToEndId: string } | { recurrence: string }),
) => Promise<void>;

/** An attempt as the simulator shows it. */
export interface SimulatedDebit {
  id: string;
  dueAt: Date;
  /** The time at which the attempt ends. */
  at: Date;
  outcome: 'paid' | 'failed' | 'canceled';
}

/** The payer's bank of recurrences, with the controls of the simulated payer. */
export interface SimulatedRecurrences
  extends Pick<PixRail, 'schedule' | 'cancelSchedule' | 'cancelRecurrence' | 'recurrenceOf'> {
  /** Ends a recurrence as its payer does. False if it has ended, or does not exist. */
  endByPayer(txid: string): Promise<boolean>;
  /** Decides the newest open attempt, now. False if there is none. */
  decideDebit(txid: string, outcome: 'paid' | 'failed'): Promise<boolean>;
  /** Finds the newest open attempt; null if there is none. */
  openDebit(txid: string): Promise<SimulatedDebit | null>;
}

type CodeRow = Selectable<Tables['simulated_pix_code']>;
type DebitRow = Selectable<Tables['simulated_pix_debit']>;

/** The books of recurrences: tables of the bank's own, written before it answers. */
export function createSimulatedRecurrences({
  database,
  clock,
  notify,
}: {
  database: Database;
  clock: Clock;
  notify: Notify;
}): SimulatedRecurrences {
  /** Locks a code, so that the bank's changes of its recurrence happen one after the other. */
  function lockCode(sql: Sql, txid: string): Promise<CodeRow | undefined> {
    return sql
      .selectFrom('simulated_pix_code')
      .selectAll()
      .where('txid', '=', txid)
      .where('is_recurrence', '=', true)
      .forUpdate()
      .executeTakeFirst();
  }

  function tenantOf({ account_id, environment }: CodeRow): Tenant {
    return { accountId: account_id, environment };
  }

  /** Records the money of an attempt that is paid, and removes the record of an attempt that is not. */
  async function bookMoney(sql: Sql, debit: DebitRow): Promise<void> {
    await sql.deleteFrom('simulated_pix_credit').where('debit_id', '=', debit.id).execute();
    if (debit.outcome !== 'paid') return;
    await sql
      .insertInto('simulated_pix_credit')
      .values({
        end_to_end_id: debit.end_to_end_id,
        txid: debit.txid,
        amount_cents: debit.amount_cents,
        arrives_at: debit.happens_at,
        debit_id: debit.id,
      })
      .execute();
  }

  async function change(sql: Sql, debit: DebitRow, changed: Partial<DebitRow>): Promise<void> {
    const next = { ...debit, ...changed };
    await sql.updateTable('simulated_pix_debit').set(changed).where('id', '=', debit.id).execute();
    await bookMoney(sql, next);
  }

  function openDebits(sql: Sql, txid: string): Promise<DebitRow[]> {
    return sql
      .selectFrom('simulated_pix_debit')
      .selectAll()
      .where('txid', '=', txid)
      .where('outcome', '<>', 'canceled')
      .where('happens_at', '>', clock.now())
      .orderBy('happens_at', 'desc')
      .execute();
  }

  /** Recalls an attempt, unless its evening before has come. */
  async function recall(sql: Sql, debit: DebitRow): Promise<void> {
    const until = instantOf(plusDays(dayOf(debit.due_at), -1), RECALL_HOUR);
    if (clock.now() < until) await change(sql, debit, { outcome: 'canceled' });
  }

  async function end(txid: string, by: 'merchant' | 'payer'): Promise<boolean> {
    return database.transaction(async (sql) => {
      const code = await lockCode(sql, txid);
      if (!code || code.ended_at) return false;
      const at = clock.now();
      await sql
        .updateTable('simulated_pix_code')
        .set({ ended_at: at, ended_by: by })
        .where('txid', '=', txid)
        .execute();
      for (const debit of await openDebits(sql, txid)) await recall(sql, debit);
      if (by === 'payer') await notify(sql, tenantOf(code), { txid, recurrence: 'end', at });
      return true;
    });
  }

  return {
    schedule: ({ id, txid, amountCents, dueAt }) =>
      database.transaction(async (sql) => {
        const code = await lockCode(sql, txid);
        const known = await sql
          .selectFrom('simulated_pix_debit')
          .select('id')
          .where('id', '=', id)
          .executeTakeFirst();
        if (known) return 'scheduled';
        if (!code || code.ended_at) return 'ended';
        const over = instantOf(dayOf(dueAt), HOUR_OF_OUTCOME);
        // An attempt that was sent too late is tried at once.
        const at = over > clock.now() ? over : plusMs(clock.now(), 1_000);
        const isFirst = id.endsWith('.1');
        const isRefused = code.refused_attempts === 'all' || (code.refused_attempts === 'first' && isFirst);
        const debit: DebitRow = {
          id,
          txid,
          amount_cents: amountCents,
          due_at: dueAt,
          happens_at: at,
          outcome: isRefused ? 'failed' : 'paid',
          reason: isRefused ? REFUSAL : null,
          end_to_end_id: endToEndId(at, deterministicId(11, 'PixDebit', id).toUpperCase()),
        };
        await sql.insertInto('simulated_pix_debit').values(debit).execute();
        await bookMoney(sql, debit);
        await notify(sql, tenantOf(code), { txid, recurrence: id, at });
        return 'scheduled';
      }),

    cancelSchedule: ({ id, txid }) =>
      database.transaction(async (sql) => {
        await lockCode(sql, txid);
        const debit = (await openDebits(sql, txid)).find((each) => each.id === id);
        if (debit) await recall(sql, debit);
      }),

    async cancelRecurrence(txid) {
      await end(txid, 'merchant');
    },
    endByPayer: (txid) => end(txid, 'payer'),

    async recurrenceOf(txid) {
      const code = await database.sql
        .selectFrom('simulated_pix_code')
        .selectAll()
        .where('txid', '=', txid)
        .executeTakeFirst();
      const rows = await database.sql
        .selectFrom('simulated_pix_debit')
        .selectAll()
        .where('txid', '=', txid)
        .where('outcome', '<>', 'canceled')
        .where('happens_at', '<=', clock.now())
        .orderBy('happens_at')
        .execute();
      return {
        endedByPayerAt: code?.ended_by === 'payer' ? code.ended_at : null,
        debits: rows.map(toReport),
      };
    },

    async openDebit(txid) {
      const [debit] = await openDebits(database.sql, txid);
      return debit
        ? { id: debit.id, dueAt: debit.due_at, at: debit.happens_at, outcome: debit.outcome }
        : null;
    },

    decideDebit: (txid, outcome) =>
      database.transaction(async (sql) => {
        const code = await lockCode(sql, txid);
        const [debit] = code ? await openDebits(sql, txid) : [];
        if (!code || !debit) return false;
        const at = clock.now();
        const reason = outcome === 'failed' ? REFUSAL : null;
        await change(sql, debit, { outcome, reason, happens_at: at });
        await notify(sql, tenantOf(code), { txid, recurrence: debit.id, at });
        return true;
      }),
  };
}

function toReport({ id, outcome, end_to_end_id, amount_cents, happens_at, reason }: DebitRow): DebitReport {
  return outcome === 'paid'
    ? { id, status: 'paid', endToEndId: end_to_end_id, amountCents: amount_cents, at: happens_at }
    : { id, status: 'failed', reason: reason ?? REFUSAL, at: happens_at };
}
