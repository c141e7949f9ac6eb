import { sql as raw } from 'kysely';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Collection } from '../../state/commit/commit.ts';
import type { Sql } from '../../state/db/database.ts';
import { ofTenant } from '../../state/db/of-tenant.ts';
import { type Intent, intentKey, keyOf, kindOf, splitIntentKey } from './transitions.ts';

export const intents: Collection<Intent> = {
  name: 'upstream_intent',
  load: selectIntents,
  keyOf,
  save: saveIntents,
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
  load: selectLastIntents,
  keyOf: ({ operation }) => operation,
  save: async () => undefined,
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
  load: selectClaims,
  keyOf: ({ key }) => key,
  save: async () => undefined,
};

export async function selectIntents(sql: Sql, tenant: Tenant, keys: readonly string[]): Promise<Intent[]> {
  const pairs = keys.map(splitIntentKey);
  const rows = await ofTenant(sql, 'upstream_intent', tenant)
    .selectAll()
    .where((row) => row.or(pairs.map(([operation, key]) => row.and({ operation, key }))))
    .execute();
  return rows.map(toIntent);
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
    intent: toIntent(last!),
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
  return rows.map(toIntent);
}

/** The intents of any kind whose outcome is not known yet, the oldest first. */
export async function selectUnresolved(
  sql: Sql,
  tenant: Tenant,
  limit: number,
  kinds: readonly string[] | undefined,
): Promise<Intent[]> {
  const rows = await ofTenant(sql, 'upstream_intent', tenant)
    .selectAll()
    .where('state', 'in', ['sending', 'in_doubt'])
    // An operation is the kind alone, or the kind, a colon and a detail.
    .$if(kinds !== undefined, (query) => query.where(raw`split_part(operation, ':', 1)`, 'in', kinds))
    .orderBy('created_at')
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(toIntent);
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

function withTenant(row: IntentRow & { account_id: string; environment: Tenant['environment'] }) {
  return { tenant: { accountId: row.account_id, environment: row.environment }, intent: toIntent(row) };
}

export async function selectOpenWithInput(sql: Sql, tenant: Tenant, inputHash: string): Promise<Intent[]> {
  const rows = await ofTenant(sql, 'upstream_intent', tenant)
    .selectAll()
    .where('state', 'in', ['sending', 'in_doubt'])
    .where('input_hash', '=', inputHash)
    .execute();
  return rows.map(toIntent);
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
  return rows.map(toIntent);
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

async function saveIntents(sql: Sql, tenant: Tenant, records: readonly Intent[]): Promise<void> {
  await sql
    .insertInto('upstream_intent')
    .values(
      records.map((intent) => ({
        account_id: tenant.accountId,
        environment: tenant.environment,
        id: intent.id,
        operation: intent.operation,
        key: intent.key,
        input_hash: intent.inputHash,
        state: intent.state,
        resource_id: intent.resourceId,
        summary: JSON.stringify(intent.summary),
        looks: intent.lookups,
        looked_at: intent.lookedUpAt,
        finding: intent.finding,
        behind_since: intent.behindSince,
        created_at: intent.createdAt,
      })),
    )
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet((row) => ({
        input_hash: row.ref('excluded.input_hash'),
        state: row.ref('excluded.state'),
        resource_id: row.ref('excluded.resource_id'),
        summary: row.ref('excluded.summary'),
        looks: row.ref('excluded.looks'),
        looked_at: row.ref('excluded.looked_at'),
        finding: row.ref('excluded.finding'),
        behind_since: row.ref('excluded.behind_since'),
        created_at: row.ref('excluded.created_at'),
      })),
    )
    .execute();
}

interface IntentRow {
  id: string;
  operation: string;
  key: string;
  input_hash: string;
  state: Intent['state'];
  resource_id: string | null;
  summary: unknown;
  looks: number;
  looked_at: Date | null;
  finding: string | null;
  behind_since: Date | null;
  created_at: Date;
}

function toIntent(row: IntentRow): Intent {
  return {
    id: row.id,
    operation: row.operation,
    key: row.key,
    inputHash: row.input_hash,
    state: row.state,
    resourceId: row.resource_id,
    summary: row.summary,
    lookups: row.looks,
    lookedUpAt: row.looked_at,
    finding: row.finding,
    behindSince: row.behind_since,
    createdAt: row.created_at,
  };
}
