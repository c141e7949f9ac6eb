import { sql as raw } from 'kysely';
import type { ListRange } from '../../kernel/list-range.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Collection } from '../../state/commit/commit.ts';
import type { Sql } from '../../state/db/database.ts';
import { loadPerTenant } from '../../state/db/each-tenant.ts';
import { ofTenant } from '../../state/db/of-tenant.ts';
import { type Columns, changing, fixed, json, type RowsOf, table } from '../../state/db/table.ts';
import type { TenantTable } from '../../state/db/tenant-table.ts';
import { type Intent, intentKey, keyOf, kindOf, splitIntentKey } from './transitions.ts';

const columns = {
  id: fixed('id'),
  operation: fixed('operation'),
  key: fixed('key'),
  inputHash: changing('input_hash'),
  state: changing('state'),
  resourceId: changing('resource_id'),
  summary: json(changing('summary')),
  lookups: changing('looks'),
  lookedUpAt: changing('looked_at'),
  finding: changing('finding'),
  behindSince: changing('behind_since'),
  createdAt: changing('created_at'),
} satisfies Columns<Intent>;

declare module '../../state/db/tables.ts' {
  interface Tables {
    upstream_intent: RowsOf<Intent, typeof columns>;
  }
}

const intentTable = table<Intent>('upstream_intent', columns, { key: 'id' });

/** Intents by their operation and key. */
export const intents: Collection<Intent> = {
  ...intentTable,
  loadEach: loadPerTenant(selectIntents),
  keyOf,
};

/** The newest intent of an operation, under any key, that is done or may be. Read only. */
export interface LastIntent {
  operation: string;
  intent: Intent;
  /** The ids of all resources that the operation has made, the newest first. */
  made: readonly string[];
}

/** The last intents as a group of commands sees them. They are not saved: they are derived from the intents. */
export const lastIntents: Collection<LastIntent> = {
  name: 'last upstream_intent',
  loadEach: loadPerTenant(selectLastIntents),
  keyOf: ({ operation }) => operation,
  saveEach: async () => undefined,
};

/** A resource of the service and the one intent that has made it. */
export interface Claim {
  /** The kind and the id of the resource: `kind␟id`. */
  key: string;
  intentId: string;
}

/** The claims. They are not saved: a done intent is the claim to its resource. */
export const claims: Collection<Claim> = {
  name: 'what upstream_intent has made',
  loadEach: loadPerTenant(selectClaims),
  keyOf: ({ key }) => key,
  saveEach: async () => undefined,
};

export async function selectIntents(sql: Sql, tenant: Tenant, keys: readonly string[]): Promise<Intent[]> {
  const pairs = keys.map(splitIntentKey);
  const rows = await ofTenant(sql, 'upstream_intent', tenant)
    .selectAll()
    .where((row) => row.or(pairs.map(([operation, key]) => row.and({ operation, key }))))
    .execute();
  return rows.map(intentTable.fromRow);
}

async function selectLastIntents(
  sql: Sql,
  tenant: Tenant,
  operations: readonly string[],
): Promise<LastIntent[]> {
  const rows = await ofTenant(sql, 'upstream_intent', tenant)
    .selectAll()
    .where('operation', 'in', operations)
    .where('state', 'in', ['sending', 'in_doubt', 'done'])
    .orderBy('created_at', 'desc')
    .execute();
  return [...Map.groupBy(rows, ({ operation }) => operation)].map(([operation, [last, ...earlier]]) => ({
    operation,
    intent: intentTable.fromRow(last!),
    made: [last!, ...earlier].flatMap(({ resource_id }) => resource_id ?? []),
  }));
}

/** The intents of one kind whose outcome is not known yet, the oldest first. */
export async function selectOpenIntents(sql: Sql, tenant: Tenant, kind: string): Promise<Intent[]> {
  const rows = await ofTenant(sql, 'upstream_intent', tenant)
    .selectAll()
    .where('state', 'in', ['sending', 'in_doubt'])
    .where((row) => row.or([row('operation', '=', kind), row('operation', 'like', `${kind}:%`)]))
    .orderBy('created_at')
    .execute();
  return rows.map(intentTable.fromRow);
}

/** The intents of any kind whose outcome is not known yet, the oldest first. */
export async function selectUnresolved(
  sql: Sql,
  tenant: Tenant,
  { end, limit, after, before }: ListRange,
  kinds: readonly string[] | undefined,
): Promise<{ position: number; intent: Intent }[]> {
  // The place of an intent is its millisecond, and its number among those of that millisecond.
  const open = ofTenant(sql, 'upstream_intent', tenant)
    .selectAll()
    .select(
      raw<number>`floor(extract(epoch from created_at) * 1000)::bigint * 1000
        + row_number() over (partition by created_at order by id)`.as('position'),
    )
    .where('state', 'in', ['sending', 'in_doubt']);
  const rows = await sql
    .selectFrom(open.as('open'))
    .selectAll()
    // An operation is the kind alone, or the kind, a colon and a detail.
    .$if(kinds !== undefined, (query) => query.where(raw`split_part(operation, ':', 1)`, 'in', kinds))
    .$if(after !== undefined, (query) => query.where('position', '>', after!))
    .$if(before !== undefined, (query) => query.where('position', '<', before!))
    .orderBy('position', end === 'first' ? 'asc' : 'desc')
    .limit(limit)
    .execute();
  const oldestFirst = end === 'first' ? rows : rows.reverse();
  return oldestFirst.map((row) => ({ position: Number(row.position), intent: intentTable.fromRow(row) }));
}

/** The intents of all accounts whose outcome is not known yet, the oldest first. */
export async function selectAllUnresolved(
  sql: Sql,
  limit: number,
): Promise<{ tenant: Tenant; intent: Intent }[]> {
  const rows = await sql
    .selectFrom('upstream_intent')
    .selectAll()
    .where('state', 'in', ['sending', 'in_doubt'])
    .orderBy('created_at')
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(withTenant);
}

export async function selectIntentById(
  sql: Sql,
  id: string,
): Promise<{ tenant: Tenant; intent: Intent } | null> {
  const row = await sql.selectFrom('upstream_intent').selectAll().where('id', '=', id).executeTakeFirst();
  return row ? withTenant(row) : null;
}

function withTenant(row: TenantTable) {
  return {
    tenant: { accountId: row.account_id, environment: row.environment },
    intent: intentTable.fromRow(row),
  };
}

export async function selectOpenWithInput(sql: Sql, tenant: Tenant, inputHash: string): Promise<Intent[]> {
  const rows = await ofTenant(sql, 'upstream_intent', tenant)
    .selectAll()
    .where('state', 'in', ['sending', 'in_doubt'])
    .where('input_hash', '=', inputHash)
    .execute();
  return rows.map(intentTable.fromRow);
}

/**
 * The newest 1,000 done intents of one kind whose resource has no name of the service, only the intent's own
 * id.
 */
export async function selectUnidentified(sql: Sql, tenant: Tenant, kind: string): Promise<Intent[]> {
  const rows = await ofTenant(sql, 'upstream_intent', tenant)
    .selectAll()
    .where('state', '=', 'done')
    .where('operation', '=', kind)
    .whereRef('resource_id', '=', 'id')
    .orderBy('created_at', 'desc')
    .limit(1_000)
    .execute();
  return rows.map(intentTable.fromRow);
}

export async function selectClaims(sql: Sql, tenant: Tenant, keys: readonly string[]): Promise<Claim[]> {
  const pairs = keys.map(splitIntentKey);
  if (pairs.length === 0) return [];
  const rows = await ofTenant(sql, 'upstream_intent', tenant)
    .selectAll()
    .where('state', '=', 'done')
    .where((row) =>
      row.or(
        pairs.map(([kind, id]) =>
          row.and([
            row('resource_id', '=', id),
            row.or([row('operation', '=', kind), row('operation', 'like', `${kind}:%`)]),
          ]),
        ),
      ),
    )
    .execute();
  return rows.map((row) => ({ key: intentKey(kindOf(row), row.resource_id!), intentId: row.id }));
}
