import { type RawBuilder, sql as raw } from 'kysely';
import { hashSecret } from '../kernel/ids.ts';
import type { ListRange } from '../kernel/list-range.ts';
import type { Tenant } from '../kernel/tenant.ts';
import type { Sql } from '../state/db/database.ts';
import { selectRange } from '../state/db/lists.ts';
import { ofTenant } from '../state/db/of-tenant.ts';
import { isTokenId, type ListedToken, type TokenFilter } from './model.ts';
import { selectApiKeys, type TokenRow, tokenTable } from './store.ts';

/** Finds the hash and the account of a token that is named by its text or its id. */
export async function selectTokenName(
  sql: Sql,
  named: string,
): Promise<{ secretHash: string; tenant: Tenant } | null> {
  const query = sql.selectFrom('token').select(['account_id', 'environment', 'secret_hash']);
  const row = await (isTokenId(named)
    ? query.where('id', '=', named)
    : query.where('secret_hash', '=', hashSecret(named))
  ).executeTakeFirst();
  return (
    (row && {
      secretHash: row.secret_hash,
      tenant: { accountId: row.account_id, environment: row.environment },
    }) ??
    null
  );
}

// The texts of these conditions are those of the partial indexes.
const IS_MINTED = raw<boolean>`kind <> 'payment'`;
const IS_CHECKOUT = raw<boolean>`kind = 'checkout'`;
const IS_DASHBOARD = raw<boolean>`kind = 'dashboard'`;
const IS_REUSABLE = raw<boolean>`"grant" ->> 'reusable' = 'true'`;
const IS_SINGLE = raw<boolean>`"grant" ->> 'reusable' is distinct from 'true'`;
/** A token ends with the key that minted it; an account has few keys. */
const IS_OF_LIVE_KEY = raw<boolean>`(minted_by is null or minted_by not in (
  select api_key.id from api_key where api_key.account_id = token.account_id and api_key.revoked_at is not null
))`;

/** The conditions of a filter. */
function conditionsOf({ kind, reusable, ended }: TokenFilter, now: Date): RawBuilder<boolean>[] {
  return [
    IS_MINTED,
    ...(kind && !kind.includes('checkout') ? [IS_DASHBOARD] : []),
    ...(kind && !kind.includes('dashboard') ? [IS_CHECKOUT] : []),
    ...(reusable === undefined ? [] : [IS_CHECKOUT, reusable ? IS_REUSABLE : IS_SINGLE]),
    ...(ended ? [] : inForce(now)),
  ];
}

/** Conditions of tokens that are in force. */
const inForce = (now: Date) => [
  raw<boolean>`revoked_at is null`,
  raw<boolean>`(expires_at is null or expires_at > ${now})`,
  IS_OF_LIVE_KEY,
];

/** Lists a range of the tokens, newest first. */
export async function listTokens(
  sql: Sql,
  tenant: Tenant,
  { now, kind, reusable, ended, ...range }: TokenFilter & ListRange & { now: Date },
): Promise<{ position: number; token: ListedToken }[]> {
  const list = { table: 'token', columns: [...Object.values(tokenTable.columns), 'number'] };
  const where = conditionsOf({ kind, reusable, ended }, now);
  const rows = await selectRange<{ number: number }>(sql, tenant, { ...list, where }, range);
  const tokens = await toListed(sql, rows.map(tokenTable.fromRow));
  return rows.map(({ number }, index) => ({ position: number, token: tokens[index]! }));
}

/** Lists the newest tokens of all accounts that are in force, or of one account, for the operator. */
export async function listTokensOfAll(
  sql: Sql,
  {
    now,
    accountId,
    reusable,
    ended,
    limit,
  }: { now: Date; accountId?: string | undefined; limit: number } & Omit<TokenFilter, 'kind'>,
): Promise<(ListedToken & Tenant)[]> {
  const conditions = [
    ...conditionsOf({ reusable, ended }, now),
    ...(accountId === undefined ? [] : [raw`account_id = ${accountId}`]),
  ];
  const { rows } = await raw<object>`
    select * from token where ${raw.join(conditions, raw` and `)} order by number desc limit ${limit}`.execute(
    sql,
  );
  const tokens = rows.map(tokenTable.fromRow);
  const listed = await toListed(sql, tokens);
  return listed.map((token, index) => {
    const { accountId: of, environment } = tokens[index]!;
    return { ...token, accountId: of, environment };
  });
}

export async function selectListedTokens(
  sql: Sql,
  tenant: Tenant,
  tokenIds: readonly string[],
): Promise<ListedToken[]> {
  const rows = await ofTenant(sql, 'token', tenant)
    .selectAll()
    .where('id', 'in', tokenIds)
    .where('kind', '<>', 'payment')
    .execute();
  return toListed(sql, rows.map(tokenTable.fromRow));
}

/** The tokens as lists show them, with the end of the keys that minted them. */
async function toListed(sql: Sql, rows: readonly TokenRow[]): Promise<ListedToken[]> {
  const keyIds = [...new Set(rows.flatMap(({ mintedBy }) => mintedBy ?? []))];
  const keys = keyIds.length === 0 ? [] : await selectApiKeys(sql, keyIds);
  return rows.map(({ id, accountId: _, environment: __, revokedAt, ...token }) => ({
    ...token,
    tokenId: id,
    revokedAt: revokedAt ?? keys.find((key) => key.id === token.mintedBy)?.revokedAt ?? null,
  })) as ListedToken[];
}
