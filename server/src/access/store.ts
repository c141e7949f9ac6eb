import { type Generated, sql as raw, type Selectable } from 'kysely';
import type { Permission } from '../kernel/caller.ts';
import type { Environment, Tenant } from '../kernel/tenant.ts';
import type { Sql } from '../state/db/database.ts';
import {
  isOfWanted,
  type TenantKey,
  type TenantRecord,
  tenantOf,
  wantedKeys,
} from '../state/db/each-tenant.ts';
import { readFees, toFeeColumns } from '../state/db/payout-fees.ts';
import { type Columns, changing, fixed, json, type RowsOf, table } from '../state/db/table.ts';
import type { Tables } from '../state/db/tables.ts';
import type { TenantTable } from '../state/db/tenant-table.ts';
import type { Account, ApiKey } from './keys.ts';
import type { Mode } from './mode.ts';
import type { AccountSettings, NewToken } from './model.ts';

export interface AccountRow extends AccountSettings {
  id: string;
  name: string;
}

/**
 * Serializes instances that start at the same time on one empty database, so that they create one account and one
 * cursor key.
 */
export async function lockAccounts(sql: Sql): Promise<void> {
  await raw`lock table account in share row exclusive mode`.execute(sql);
}

export async function anyAccountExists(sql: Sql): Promise<boolean> {
  return (await sql.selectFrom('account').select('id').limit(1).executeTakeFirst()) !== undefined;
}

export async function oldestAccount(sql: Sql): Promise<string> {
  const row = await sql
    .selectFrom('account')
    .select('id')
    .orderBy('created_at')
    .orderBy('id')
    .executeTakeFirstOrThrow();
  return row.id;
}

/** Reads the key that encrypts cursors; null before the first start. */
export async function selectCursorKey(sql: Sql): Promise<Uint8Array | null> {
  return (await sql.selectFrom('cursor_key').select('key').executeTakeFirst())?.key ?? null;
}

export async function insertCursorKey(sql: Sql, key: Uint8Array): Promise<void> {
  await sql.insertInto('cursor_key').values({ key }).execute();
}

/** Reads the mode of the database; null before the first start. */
export async function selectMode(sql: Sql): Promise<Mode | null> {
  const row = await sql.selectFrom('database_mode').select('upstream_origin').executeTakeFirst();
  if (!row) return null;
  return row.upstream_origin === null
    ? { kind: 'embedded' }
    : { kind: 'remote', upstreamOrigin: row.upstream_origin };
}

export async function insertMode(sql: Sql, mode: Mode): Promise<void> {
  const upstream_origin = mode.kind === 'remote' ? mode.upstreamOrigin : null;
  await sql.insertInto('database_mode').values({ mode: mode.kind, upstream_origin }).execute();
}

export async function insertAccount(sql: Sql, account: AccountRow, createdAt: Date): Promise<void> {
  await sql
    .insertInto('account')
    .values({
      id: account.id,
      name: account.name,
      card_payments_enabled: account.cardPaymentsEnabled,
      card_release_days: account.cardReleaseDays,
      pix_enabled: account.pixEnabled,
      pix_fee_cents: account.pixFeeCents,
      ltc_enabled: account.ltcEnabled,
      ...toFeeColumns(account.payoutFeesCents),
      pix_max_cents: account.pixMaxCents,
      subaccount_markup_cents: account.subaccountMarkupCents,
      created_at: createdAt,
    })
    .execute();
}

export async function selectAccounts(sql: Sql, ids: readonly string[]): Promise<AccountRow[]> {
  const rows = await sql.selectFrom('account').selectAll().where('id', 'in', ids).execute();
  return rows.map(toAccount);
}

/** Selects the accounts of tenants, each by its id. */
export async function selectAccountsOf(
  sql: Sql,
  keys: readonly TenantKey[],
): Promise<TenantRecord<AccountRow>[]> {
  const own = keys.filter(({ tenant, key }) => key === tenant.accountId);
  if (own.length === 0) return [];
  const found = await selectAccounts(sql, [...new Set(own.map(({ key }) => key))]);
  const byId = new Map(found.map((account) => [account.id, account]));
  return own.flatMap(({ tenant, key }) => {
    const record = byId.get(key);
    return record ? [{ tenant, record }] : [];
  });
}

function toAccount(row: Selectable<Tables['account']>): AccountRow {
  return {
    id: row.id,
    name: row.name,
    cardPaymentsEnabled: row.card_payments_enabled,
    cardReleaseDays: row.card_release_days,
    pixEnabled: row.pix_enabled,
    pixFeeCents: row.pix_fee_cents,
    ltcEnabled: row.ltc_enabled,
    payoutFeesCents: readFees(row),
    pixMaxCents: row.pix_max_cents,
    subaccountMarkupCents: row.subaccount_markup_cents,
  };
}

/** Lists the ids of all accounts, oldest first. */
export async function selectAccountIds(sql: Sql): Promise<string[]> {
  const rows = await sql.selectFrom('account').select('id').orderBy('created_at').orderBy('id').execute();
  return rows.map(({ id }) => id);
}

/** Lists accounts, oldest first, each with the number of its active keys; with `id` only that account. */
export async function listAccounts(sql: Sql, id?: string): Promise<Account[]> {
  let query = sql
    .selectFrom('account')
    .leftJoin('account_brand', 'account_brand.account_id', 'account.id')
    .selectAll('account')
    .select(['account_brand.color', 'account_brand.logo_hash'])
    .select((builder) =>
      builder
        .selectFrom('api_key')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .whereRef('api_key.account_id', '=', 'account.id')
        .where('revoked_at', 'is', null)
        .as('active_keys'),
    );
  if (id !== undefined) query = query.where('id', '=', id);
  const rows = await query.orderBy('created_at').orderBy('id').execute();
  return rows.map((row) => ({
    ...toAccount(row),
    color: row.color,
    logoHash: row.logo_hash,
    createdAt: row.created_at,
    activeKeys: row.active_keys ?? 0,
  }));
}

/**
 * Locks an account against other lockers, but not against rows that refer to it. Returns false if it does not
 * exist.
 */
export async function lockAccount(sql: Sql, id: string): Promise<boolean> {
  const row = await sql
    .selectFrom('account')
    .select('id')
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst();
  return row !== undefined;
}

/** Sets the given columns in one statement. Returns false if the account does not exist. */
export async function updateAccount(
  sql: Sql,
  id: string,
  {
    name,
    cardPaymentsEnabled,
    cardReleaseDays,
    pixEnabled,
    pixFeeCents,
    ltcEnabled,
    payoutFeesCents: fees = {},
    pixMaxCents,
    subaccountMarkupCents,
  }: {
    name?: string | undefined;
    cardPaymentsEnabled?: boolean | undefined;
    cardReleaseDays?: number | undefined;
    pixEnabled?: boolean | undefined;
    pixFeeCents?: number | undefined;
    ltcEnabled?: boolean | undefined;
    payoutFeesCents?:
      | { [Method in keyof AccountSettings['payoutFeesCents']]?: number | undefined }
      | undefined;
    pixMaxCents?: number | null | undefined;
    subaccountMarkupCents?: number | undefined;
  },
): Promise<boolean> {
  const { numUpdatedRows } = await sql
    .updateTable('account')
    // Kysely leaves out columns that are undefined.
    .set({
      name,
      card_payments_enabled: cardPaymentsEnabled,
      card_release_days: cardReleaseDays,
      pix_enabled: pixEnabled,
      pix_fee_cents: pixFeeCents,
      ltc_enabled: ltcEnabled,
      ...toFeeColumns(fees),
      pix_max_cents: pixMaxCents,
      subaccount_markup_cents: subaccountMarkupCents,
    })
    .where('id', '=', id)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

const keyColumns = {
  id: fixed('id'),
  accountId: fixed('account_id'),
  environment: fixed('environment'),
  name: fixed('name'),
  permissions: fixed('permissions'),
  hint: fixed('hint'),
  createdAt: fixed('created_at'),
  revokedAt: changing('revoked_at'),
} satisfies Columns<ApiKey>;

/** The hash of a credential, which is written and looked up, but never read. */
interface Hashed {
  secretHash?: string;
}

const withHash = ({ secretHash }: Hashed) => ({ secret_hash: secretHash });

export const apiKeyTable = table<ApiKey & Hashed, 'secretHash'>('api_key', keyColumns, {
  key: 'id',
  own: withHash,
});

export async function insertApiKey(
  sql: Sql,
  tenant: Tenant,
  key: Pick<ApiKey, 'id' | 'permissions' | 'createdAt'> &
    Partial<Pick<ApiKey, 'name' | 'hint'>> & { secretHash: string },
): Promise<void> {
  await apiKeyTable.insert(sql, tenant, [{ name: null, hint: null, ...tenant, revokedAt: null, ...key }]);
}

/** Inserts a configured key, or restores a revoked one that is back in the configuration. */
export async function insertOrRestoreApiKey(sql: Sql, key: ApiKey, secretHash: string): Promise<void> {
  await apiKeyTable.save(sql, key, [{ ...key, revokedAt: null, secretHash }]);
}

/** Counts the active keys of an account, in both environments. */
export async function countActiveKeys(sql: Sql, accountId: string): Promise<number> {
  const { count } = await sql
    .selectFrom('api_key')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('account_id', '=', accountId)
    .where('revoked_at', 'is', null)
    .executeTakeFirstOrThrow();
  return count;
}

/** Reads keys in any state. */
export async function selectApiKeys(sql: Sql, ids: readonly string[]): Promise<ApiKey[]> {
  const rows = await sql.selectFrom('api_key').selectAll().where('id', 'in', ids).execute();
  return rows.map(apiKeyTable.fromRow);
}

/** Lists keys, oldest first. */
export async function listApiKeys(
  sql: Sql,
  { accountId, revokedToo }: { accountId?: string | undefined; revokedToo: boolean },
): Promise<ApiKey[]> {
  let query = sql.selectFrom('api_key').selectAll();
  if (accountId !== undefined) query = query.where('account_id', '=', accountId);
  if (!revokedToo) query = query.where('revoked_at', 'is', null);
  return (await query.orderBy('created_at').orderBy('id').execute()).map(apiKeyTable.fromRow);
}

export async function updateApiKeys(sql: Sql, keys: readonly ApiKey[]): Promise<void> {
  for (const { id, revokedAt } of keys)
    await sql.updateTable('api_key').set({ revoked_at: revokedAt }).where('id', '=', id).execute();
}

/** Finds active keys by the hashes of their texts; null for each that there is not. */
export async function selectKeysByHash(
  sql: Sql,
  secretHashes: readonly string[],
): Promise<(ValidKey | null)[]> {
  const rows = await sql
    .selectFrom('api_key')
    .select(['secret_hash', 'id', 'account_id', 'environment', 'permissions'])
    .where('secret_hash', '=', (any) => any.fn.any(any.val([...secretHashes])))
    .where('revoked_at', 'is', null)
    .execute();
  const keys = new Map(
    rows.map(({ secret_hash: hash, id, account_id: accountId, environment, permissions }) => [
      hash,
      { id, accountId, environment, permissions: permissions as Permission[] },
    ]),
  );
  return secretHashes.map((hash) => keys.get(hash) ?? null);
}

export interface ValidKey {
  id: string;
  accountId: string;
  environment: Environment;
  permissions: Permission[];
}

export interface TokenRow extends NewToken {
  id: string;
  accountId: string;
  environment: Environment;
  createdAt: Date;
  revokedAt: Date | null;
}

export type StoredToken = TokenRow & { secretHash: string };

const tokenColumns = {
  id: fixed('id'),
  kind: fixed('kind'),
  accountId: fixed('account_id'),
  environment: fixed('environment'),
  mintedBy: fixed('minted_by'),
  sessionId: fixed('session_id'),
  grant: json(fixed('grant')),
  allowedOrigins: fixed('allowed_origins'),
  createdAt: fixed('created_at'),
  expiresAt: fixed('expires_at'),
  revokedAt: changing('revoked_at'),
  trustedDocumentsOnly: fixed('trusted_documents_only'),
} satisfies Columns<TokenRow>;

declare module '../state/db/tables.ts' {
  interface Tables {
    api_key: RowsOf<ApiKey, typeof keyColumns> & { secret_hash: string };
    token: RowsOf<TokenRow, typeof tokenColumns> & {
      secret_hash: string;
      number: Generated<number>;
      paused_at: Date | null;
      paused_until: Date | null;
      pause_reason: 'merchant' | 'declines' | null;
    };
  }
}

export const tokenTable = table<TokenRow & Hashed, 'secretHash'>('token', tokenColumns, {
  key: 'id',
  own: withHash,
});

/** Inserts tokens, or changes whether they are revoked. */
export async function saveTokens(sql: Sql, tokens: readonly StoredToken[]): Promise<void> {
  await tokenTable.saveEach(
    sql,
    tokens.map((token) => ({ tenant: token, record: token })),
  );
}

/** Finds a token that is not revoked, and whose minting key is not revoked. The token may have expired. */
export async function selectTokens(sql: Sql, secretHashes: readonly string[]): Promise<(TokenRow | null)[]> {
  const rows = await sql
    .selectFrom('token')
    .leftJoin('api_key', 'api_key.id', 'token.minted_by')
    .selectAll('token')
    .where('token.secret_hash', '=', (any) => any.fn.any(any.val([...secretHashes])))
    .where('token.revoked_at', 'is', null)
    .where('api_key.revoked_at', 'is', null)
    .execute();
  const tokens = new Map(rows.map((row) => [row.secret_hash, tokenTable.fromRow(row)]));
  return secretHashes.map((hash) => tokens.get(hash) ?? null);
}

/** Reads tokens in any state, for a decision about them. */
export async function selectTokensByHash(
  sql: Sql,
  hashes: readonly TenantKey[],
): Promise<TenantRecord<StoredToken>[]> {
  const { rows } = await raw<TenantTable & { secret_hash: string }>`
    select token.* from ${wantedKeys(hashes)}
    join token on ${isOfWanted('token')} and token.secret_hash = wanted.key`.execute(sql);
  return rows.map((row) => ({
    tenant: tenantOf(row),
    record: { ...tokenTable.fromRow(row), secretHash: row.secret_hash },
  }));
}
