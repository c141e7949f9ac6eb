// Tenants for the benchmark of writes: one is opened through the server's interfaces, and the others are copies of its
// rows, because ten thousand would take minutes to open.
import { toQuery } from './replay.mjs';

/** The names of a copied tenant, by its number. @param {number} number */
export function namesOf(number) {
  const digits = String(number).padStart(6, '0');
  return {
    key: `ps_live_bench${digits}`,
    accountId: `acc_bench${digits}`,
    subaccountIds: [`sacc_${number.toString(16).padStart(32, '0')}`],
  };
}

/**
 * Copies a tenant `count` times: its settings, its balances, its webhook address and its one subaccount, but nothing of what
 * has happened in it and of what is due. Each copy has an API key of its own.
 *
 * @param {any} database @param {{ accountId: string, subaccountId: string }} tenant @param {number} count
 */
export async function copyTenant(database, { accountId, subaccountId }, count) {
  const copy = async (/** @type {any} */ sql) => {
    const send = async (/** @type {string} */ text, /** @type {unknown[]} */ parameters = []) =>
      (await sql.getExecutor().executeQuery(toQuery({ sql: text, parameters }))).rows;
    // The rows of the tenant have passed the triggers and the references already.
    await send('set local session_replication_role = replica');
    for (const { name, columns } of await send(TABLES))
      await send(copyOf(name, columns), [accountId, subaccountId, count]);
    await send(KEYS, [accountId, count]);
  };
  // Without a deadline of its statements: one copies ten thousand rows.
  await database.maintenance((/** @type {any} */ untimed) => untimed.transaction(copy));
}

/** The tables that hold the state of a tenant, with the columns that an insert may name. */
const TABLES = `
  select table_name as name, string_agg(format('%I', column_name), ', ' order by ordinal_position) as columns
  from information_schema.columns
  where table_schema = 'public' and is_generated = 'NEVER'
    and table_name !~ '^(event|posting|task|idempotency|api_key|simulated_.*|webhook_(delivery|attempt))$'
    and (table_name = 'account' or table_name in (
      select table_name from information_schema.columns where table_schema = 'public' and column_name = 'account_id'))
  group by table_name`;

/** @param {string} table @param {string} columns */
function copyOf(table, columns) {
  return `
    insert into ${table} (${columns}) overriding user value
    select ${columns} from (
      select (jsonb_populate_record(null::${table}, replace(replace(to_jsonb(original)::text,
        $1, 'acc_bench' || lpad(copy::text, 6, '0')), $2, 'sacc_' || lpad(to_hex(copy), 32, '0'))::jsonb)).*
      from ${table} original, generate_series(0, $3::integer - 1) copy
      where original.${table === 'account' ? 'id' : 'account_id'} = $1
    ) copied`;
}

const KEYS = `
  insert into api_key
  select (jsonb_populate_record(null::api_key, to_jsonb(original) || jsonb_build_object(
    'id', 'key_bench' || digits, 'account_id', 'acc_bench' || digits,
    'secret_hash', encode(sha256(convert_to('ps_live_bench' || digits, 'UTF8')), 'hex')))).*
  from api_key original, generate_series(0, $2::integer - 1) copy, lpad(copy::text, 6, '0') digits
  where original.account_id = $1`;
