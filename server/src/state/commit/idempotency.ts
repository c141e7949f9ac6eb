import { sql as raw } from 'kysely';
import { IdempotencyError } from '../../kernel/errors.ts';
import type { RequestKeys } from '../../kernel/request-keys.ts';
import type { Sql } from '../db/database.ts';
import {
  isOfWanted,
  loadOf,
  type TenantKey,
  type TenantRecord,
  tenantArrays,
  tenantOf,
} from '../db/each-tenant.ts';
import type { TenantTable } from '../db/tenant-table.ts';
import { type Change, type Collection, put, type Reader, type State } from './commit.ts';

/** The result of an idempotency key. A key belongs to one operation with one input, permanently. */
export interface IdempotencyRecord {
  operation: string;
  key: string;
  inputHash: string;
  resourceId: string;
}

/** The idempotency keys of all operations. The key of a record in it is `operation␟key`. */
export const idempotency: Collection<IdempotencyRecord> = {
  name: 'idempotency',
  loadEach: selectKeys,
  keyOf: ({ operation, key }) => idempotencyKeyOf(operation, key),
  saveEach: insertKeys,
};

const SEPARATOR = '\u001f';

export function idempotencyKeyOf(operation: string, key: string): string {
  return operation + SEPARATOR + key;
}

/**
 * Reads the earlier result of a key, and with `readMade` the resource that it made; null without a key or a
 * result.
 */
export async function readReplay(
  reader: Reader,
  operation: string,
  key: string | null | undefined,
  readMade: (resourceId: string) => Promise<unknown>,
): Promise<void> {
  if (key == null) return;
  const done = await reader.load(idempotency, idempotencyKeyOf(operation, key));
  if (done) await readMade(done.resourceId);
}

/**
 * Returns the id of the resource that an earlier request with the same key made, or null.
 * @throws IdempotencyError if the key was used with another input
 */
export function replayed(state: State, operation: string, key: string, inputHash: string): string | null {
  const record = state.get(idempotency, idempotencyKeyOf(operation, key));
  if (!record) return null;
  if (record.inputHash !== inputHash)
    throw new IdempotencyError('This idempotency key was used before with another input');
  return record.resourceId;
}

/** Finds what the requests with a key have made, in the records that their own transactions have written. */
export function createRequestKeys(sql: Sql): RequestKeys {
  return {
    async resourceOf(tenant, operation, key) {
      const [done] = await loadOf(selectKeys, sql, tenant, [idempotencyKeyOf(operation, key)]);
      return done?.resourceId ?? null;
    },
  };
}

export function remember(record: IdempotencyRecord): Change {
  return put(idempotency, record);
}

async function selectKeys(sql: Sql, keys: readonly TenantKey[]): Promise<TenantRecord<IdempotencyRecord>[]> {
  const pairs = keys.map(({ key }) => key.split(SEPARATOR) as [string, string]);
  const { rows } = await raw<
    TenantTable & { operation: string; key: string; input_hash: string; resource_id: string }
  >`
    select found.* from unnest(
      ${tenantArrays(keys)},
      ${pairs.map(([operation]) => operation)}::text[],
      ${pairs.map(([, key]) => key)}::text[]
    ) wanted (account_id, environment, operation, key)
    cross join lateral (
      select account_id, environment, operation, key, input_hash, resource_id from idempotency
      where ${isOfWanted('idempotency')} and operation = wanted.operation and key = wanted.key
      -- With a limit each key is looked up, whatever number of keys the planner expects: it once scanned all of a tenant.
      limit 1
    ) found
  `.execute(sql);
  return rows.map((row) => ({
    tenant: tenantOf(row),
    record: {
      operation: row.operation,
      key: row.key,
      inputHash: row.input_hash,
      resourceId: row.resource_id,
    },
  }));
}

async function insertKeys(sql: Sql, saved: readonly TenantRecord<IdempotencyRecord>[]): Promise<void> {
  await raw`
    /* remember_keys */
    insert into idempotency (account_id, environment, operation, key, input_hash, resource_id)
    select * from unnest(
      ${tenantArrays(saved)},
      ${saved.map(({ record }) => record.operation)}::text[],
      ${saved.map(({ record }) => record.key)}::text[],
      ${saved.map(({ record }) => record.inputHash)}::text[],
      ${saved.map(({ record }) => record.resourceId)}::text[]
    )
  `.execute(sql);
}
