import { CompiledQuery, sql as raw } from 'kysely';
import type { Database, Sql } from '../../../server/src/state/db/database.ts';
import type { Random } from '../../faults/random.ts';

/** A value of one row that was changed behind the back of the triggers. */
interface Planted {
  table: string;
  column: string;
  accountId: string;
  environment: string;
  before: string | null;
  after: string;
  /** Restores the value. */
  undo(): Promise<void>;
}

/** Columns of amounts, statuses and versions that follow from nothing else in the books, each with the reason. */
const FREE: Readonly<Record<string, string>> = {
  'product.price_cents': 'a price is what the merchant sets',
  'payment.ltc_revision': 'it counts the reports of the network',
  'webhook_delivery.event_version': 'the name of an event that may be gone',
  'webhook_delivery.resource_version': 'the order of deliveries',
  'webhook_delivery.response_status': 'what a receiver has answered',
  'pix_subscription.failed_in_row': 'a count that only decides what comes next',
  'observed_entry.fee_cents': 'what the service has shown of a fee',
};

const MONEY =
  /(_cents|_litoshi|_delta)$|^(amount|balance|litoshi|subaccounts|pending|dispute_hold|ltc|receivable|cents|unexplained)$/;
const STATE = /(^|_)status$|^(state|version|count|attempts|entries)$/;

/** Values of the columns of statuses: a constraint refuses those of other tables. */
const STATUSES = [
  ...[
    'pending',
    'paid',
    'expired',
    'failed',
    'refunded',
    'processing',
    'completed',
    'denied',
    'returned',
    'reversed',
  ],
  ...[
    'open',
    'under_review',
    'won',
    'lost',
    'forgiven',
    'delivered',
    'exhausted',
    'revoked',
    'active',
    'past_due',
  ],
  ...['canceled', 'scheduled', 'retrying', 'seen', 'unmatched', 'credited', 'gone'],
];

/** The tables of the books. */
const TABLES = [
  'posting',
  'ledger_account',
  'ledger_transaction',
  'stream',
  'event',
  'card_payment',
  'payment',
  'charge',
  'pix_subscription',
  'subscription_cycle',
  'pix_credit',
  'ltc_output',
  'refund',
  'payment_return',
  'payout',
  'subaccount',
  'statement_entry',
  'subaccount_payout',
  'dispute',
  'test_payment',
  'webhook_delivery',
  'delivered_content',
  'list_count',
  'list_amount',
];

interface Column {
  table: string;
  column: string;
  type: string;
}

/** Lists the columns in which a value is planted. */
export async function plantable(sql: Sql, tables: readonly string[] = TABLES): Promise<Column[]> {
  const { rows } = await raw<Column>`
    select table_name as table, column_name as column, data_type as type from information_schema.columns
    where table_schema = 'public' and table_name = any(${tables}::text[]) order by table_name, ordinal_position`.execute(
    sql,
  );
  return rows.filter(
    ({ table, column }) => (MONEY.test(column) || STATE.test(column)) && !(`${table}.${column}` in FREE),
  );
}

/** Changes the value of a column in a random row; null if no row has another value that the table's constraints allow. */
export async function plant(
  database: Database,
  { table, column, type }: Column,
  random: Random,
): Promise<Planted | null> {
  const at = raw.ref(column);
  const { rows } = await raw<{ ctid: string; account_id: string; environment: string; value: string }>`
    select ctid::text, account_id, environment, ${at}::text as value from ${raw.table(table)}
    where ${at} is not null ${/^list_/.test(table) ? raw`and count <> 0` : raw``}
      -- What moved before the opening is remembered, and is in no sum.
      ${table === 'observed_entry' ? raw`and (is_entry or ${column} = 'unexplained')` : raw``} order by ctid`.execute(
    database.sql,
  );
  if (rows.length === 0) return null;
  const row = rows[random.below(rows.length)]!;
  const others =
    type === 'text'
      ? STATUSES.filter((status) => status !== row.value)
      : [1, -1, 100, -100].map((by) => String(Number(row.value) + by));
  const from = random.below(others.length || 1);
  for (const after of [...others.slice(from), ...others.slice(0, from)]) {
    const ctid = await change(database, { table, column, type, ctid: row.ctid, value: after });
    if (ctid !== null)
      return {
        ...{
          table,
          column,
          accountId: row.account_id,
          environment: row.environment,
          before: row.value,
          after,
        },
        async undo() {
          await change(database, { table, column, type, ctid, value: row.value });
        },
      };
  }
  return null;
}

/** Sets a value without triggers, and returns the new place of the row; null if a constraint refuses it. */
async function change(
  database: Database,
  { table, column, type, ctid, value }: Column & { ctid: string; value: string },
): Promise<string | null> {
  try {
    return await database.transaction(async (sql) => {
      await raw`set local session_replication_role = replica`.execute(sql);
      const text = `update ${table} set ${column} = $1::${type} where ctid = $2::tid returning ctid::text`;
      const { rows } = await sql.executeQuery<{ ctid: string }>(CompiledQuery.raw(text, [value, ctid]));
      return rows[0]!.ctid;
    });
  } catch (error) {
    if (/^23/.test((error as { code?: string }).code ?? '')) return null;
    throw error;
  }
}
