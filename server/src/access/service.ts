import DataLoader from 'dataloader';
import type { CheckoutGrant } from '../kernel/caller.ts';
import {
  bearer,
  type Caller,
  type Credential,
  type DashboardScope,
  environmentOfKey,
  KEY_PREFIX,
  type PaymentGrant,
  TOKEN_PREFIX,
} from '../kernel/caller.ts';
import { type Clock, plusMs } from '../kernel/clock.ts';
import { createCoalescedReads } from '../kernel/coalesce.ts';
import { newCursorKey } from '../kernel/cursor.ts';
import { NotFoundError, UnauthenticatedError } from '../kernel/errors.ts';
import { equalSecrets, hashSecret, objectId, secret } from '../kernel/ids.ts';
import { withoutExtra } from '../kernel/list-range.ts';
import type { Cents } from '../kernel/money.ts';
import type { Environment, Tenant } from '../kernel/tenant.ts';
import { type Committer, put } from '../state/commit/commit.ts';
import type { Database, Sql } from '../state/db/database.ts';
import { tokens } from './collections.ts';
import { revocationOf } from './events.ts';
import { assertSameMode, type Mode } from './mode.ts';
import {
  type AccessService,
  type AccountSettings,
  assertMayBind,
  DASHBOARD_TOKEN_SECONDS,
  DEFAULT_SETTINGS,
  type MintToken,
  type NewToken,
  normalizeOrigins,
  PAYMENT_TOKEN_MS,
} from './model.ts';
import {
  anyAccountExists,
  insertAccount,
  insertApiKey,
  insertCursorKey,
  insertMode,
  lockAccounts,
  oldestAccount,
  type StoredToken,
  saveTokens,
  selectAccounts,
  selectCursorKey,
  selectKeysByHash,
  selectMode,
  selectTokens,
  type TokenRow,
  type ValidKey,
} from './store.ts';
import { listTokens, selectListedTokens, selectTokenName } from './token-store.ts';

export function createAccessService({
  database,
  committer,
  clock,
  configuredKeys = null,
  hasManifest = false,
}: {
  database: Database;
  committer: Committer;
  clock: Clock;
  /** The only keys that are valid in remote mode. An environment without a key is closed. */
  configuredKeys?: { live?: string; sandbox?: string } | null;
  /** Whether the server has a manifest of trusted documents, to which tokens can be bound. */
  hasManifest?: boolean;
}): AccessService {
  // Every request reads its credential from the database, so that a revocation takes effect at once; concurrent reads
  // of one credential are coalesced.
  const coalesceKey = createCoalescedReads<ValidKey | null>();
  const coalesceToken = createCoalescedReads<TokenRow | null>();
  // The credentials of many callers that come at once are read by one statement.
  const byHash = <Row>(select: (sql: Sql, secretHashes: readonly string[]) => Promise<Row[]>) =>
    new DataLoader<string, Row>((hashes) => select(database.sql, hashes), {
      cache: false,
      batchScheduleFn: (callback) => void setImmediate(callback),
    });
  const [keysByHash, tokensByHash] = [byHash(selectKeysByHash), byHash(selectTokens)];

  const mint = createTokenMint({ database, clock });

  return {
    async authenticate(authorization) {
      const presented = bearer(authorization);
      const environment = environmentOfKey(presented);
      if (!environment) return callerOfToken(presented);
      if (configuredKeys && !isOneOf(presented, Object.values(configuredKeys)))
        throw new UnauthenticatedError('Invalid API key');
      return callerOfKey(presented, environment);
    },

    async createDashboardToken(tenant, keyId, input) {
      const isBound = input.trustedDocumentsOnly ?? false;
      assertMayBind(isBound, hasManifest);
      const expiresAt = plusMs(clock.now(), (input.expiresInSeconds ?? DASHBOARD_TOKEN_SECONDS) * 1_000);
      const minted = await mint(tenant, {
        kind: 'dashboard',
        grant: { scopes: input.scopes },
        mintedBy: keyId,
        allowedOrigins: normalizeOrigins(input.allowedOrigins),
        expiresAt,
        trustedDocumentsOnly: isBound,
      });
      return { ...minted, expiresAt };
    },

    async createPaymentToken(tenant, grant, isBound = false) {
      const { token } = await mint(tenant, {
        kind: 'payment',
        grant,
        mintedBy: null,
        allowedOrigins: [],
        expiresAt: plusMs(clock.now(), PAYMENT_TOKEN_MS),
        trustedDocumentsOnly: isBound,
      });
      return token;
    },

    revokeToken: (tenant, named) => revokeToken({ database, committer }, { tenant, named }),

    async listTokens(tenant, range) {
      const page = { ...range, limit: range.limit + 1 };
      return withoutExtra(await listTokens(database.sql, tenant, { ...page, now: clock.now() }), range);
    },

    async findTokens(tenant, tokenIds) {
      const found = await selectListedTokens(database.sql, tenant, [...new Set(tokenIds)]);
      return tokenIds.map((tokenId) => found.find((token) => token.tokenId === tokenId) ?? null);
    },
  };

  async function callerOfKey(presented: string, environment: Environment): Promise<Caller> {
    const secretHash = hashSecret(presented);
    const key = await coalesceKey(secretHash, () => keysByHash.load(secretHash));
    if (!key || key.environment !== environment) throw new UnauthenticatedError('Invalid API key');
    return {
      tenant: { accountId: key.accountId, environment },
      credential: { kind: 'api_key', id: key.id, permissions: configuredKeys ? null : key.permissions },
      allowedOrigins: [],
      expiresAt: null,
      trustedDocumentsOnly: false,
      endsWith: [key.id],
    };
  }

  async function callerOfToken(presented: string): Promise<Caller> {
    const secretHash = hashSecret(presented);
    const row = await coalesceToken(secretHash, () => tokensByHash.load(secretHash));
    if (!row || (configuredKeys && configuredKeys[row.environment] === undefined))
      throw new UnauthenticatedError('Invalid or revoked token');
    if (row.expiresAt && row.expiresAt <= clock.now())
      throw new UnauthenticatedError('This token has expired');
    return {
      tenant: { accountId: row.accountId, environment: row.environment },
      credential: credentialOf(row),
      allowedOrigins: row.allowedOrigins,
      expiresAt: row.expiresAt,
      trustedDocumentsOnly: row.trustedDocumentsOnly,
      endsWith: [row.id, row.mintedBy, row.sessionId].filter((id) => id != null),
    };
  }
}

/**
 * Revokes a checkout or dashboard token that is named by its text or its id, and returns its id. With a tenant it must be one of
 * that tenant.
 * @throws NotFoundError
 */
export async function revokeToken(
  { database, committer }: { database: Database; committer: Committer },
  { tenant, named }: { tenant: Tenant | null; named: string },
): Promise<{ tokenId: string; replayed: boolean }> {
  const found = await selectTokenName(database.sql, named);
  if (!found) throw new NotFoundError('Token not found');
  const { secretHash } = found;
  return committer.change<{ tokenId: string; replayed: boolean }>({
    tenant: tenant ?? found.tenant,
    read: (reader) => reader.load(tokens, secretHash),
    decide: (state) => {
      const row = state.get(tokens, secretHash);
      if (!row || row.kind === 'payment') throw new NotFoundError('Token not found');
      // The answer to an earlier request may have been lost.
      if (row.revokedAt) return { outcome: { tokenId: row.id, replayed: true }, writes: {} };
      return {
        outcome: { tokenId: row.id, replayed: false },
        writes: {
          records: [put(tokens, { ...row, revokedAt: state.now })],
          events: [revocationOf(row.id)],
        },
      };
    },
  });
}

/** Mints tokens of every kind. */
export function createTokenMint({ database, clock }: { database: Database; clock: Clock }): MintToken {
  return async (tenant, token) => {
    const { text, record } = prepareToken(tenant, token, clock.now());
    await saveTokens(database.sql, [record]);
    return { tokenId: record.id, token: text };
  };
}

/** Makes a token of any kind, for a change that stores it in `tokens`. */
export function prepareToken(tenant: Tenant, token: NewToken, now: Date) {
  const text = secret(TOKEN_PREFIX[token.kind]);
  const record: StoredToken = {
    id: `tok_${objectId()}`,
    ...tenant,
    createdAt: now,
    revokedAt: null,
    ...token,
    secretHash: hashSecret(text),
  };
  return { text, record };
}

/** Whether a text is one of the keys. Compares it with every one, in constant time. */
function isOneOf(presented: string, keys: readonly string[]): boolean {
  return keys.filter((key) => equalSecrets(presented, key)).length > 0;
}

function credentialOf({ id, kind, grant }: TokenRow): Credential {
  switch (kind) {
    case 'checkout':
      return { kind: 'checkout_token', id, grant: grant as CheckoutGrant };
    case 'payment':
      return { kind: 'payment_token', id, ...(grant as PaymentGrant) };
    case 'dashboard':
      return { kind: 'dashboard_token', id, scopes: (grant as { scopes: DashboardScope[] }).scopes };
  }
}

/**
 * Creates the records that every instance needs, on the first start of any of them: the key that encrypts
 * cursors, and the first account. `firstKeys` is null if an account exists already.
 * @throws ModeError if the database belongs to a remote server
 */
export async function bootstrap({
  database,
  clock,
  name,
  keys,
}: {
  database: Database;
  clock: Clock;
  /** The name that payers of the first account see on its pages. */
  name: string;
  keys: { live?: string | undefined; sandbox?: string | undefined };
}): Promise<{ cursorKey: Uint8Array; firstKeys: FirstKeys | null }> {
  return database.transaction(async (sql) => {
    return {
      cursorKey: await prepareDatabase(sql, { kind: 'embedded' }),
      firstKeys: (await anyAccountExists(sql))
        ? null
        : await createFirstAccount(sql, clock.now(), { name, keys }),
    };
  });
}

/**
 * Records the mode on the first start and compares it on each later one. Other instances that start at the same time
 * wait until this transaction ends. Returns the key that encrypts cursors.
 * @throws ModeError
 */
export async function prepareDatabase(sql: Sql, configured: Mode): Promise<Uint8Array> {
  await lockAccounts(sql);
  const stored = await selectMode(sql);
  if (stored) assertSameMode(stored, configured);
  else await insertMode(sql, configured);
  return (await selectCursorKey(sql)) ?? (await createCursorKey(sql));
}

async function createCursorKey(sql: Sql): Promise<Uint8Array> {
  const key = newCursorKey();
  await insertCursorKey(sql, key);
  return key;
}

interface FirstKeys {
  accountId: string;
  live: string;
  sandbox: string;
}

/** Creates the first account with one key for each environment: the given ones, or new ones. */
async function createFirstAccount(
  sql: Sql,
  now: Date,
  { name, keys }: { name: string; keys: { live?: string | undefined; sandbox?: string | undefined } },
): Promise<FirstKeys> {
  const accountId = `acc_${objectId()}`;
  await insertAccount(sql, { id: accountId, name, ...DEFAULT_SETTINGS }, now);
  const minted = {
    live: keys.live ?? secret(KEY_PREFIX.live),
    sandbox: keys.sandbox ?? secret(KEY_PREFIX.sandbox),
  };
  for (const environment of ['live', 'sandbox'] as const)
    await insertApiKey(
      sql,
      { accountId, environment },
      {
        id: `key_${objectId()}`,
        secretHash: hashSecret(minted[environment]),
        hint: minted[environment].slice(-4),
        permissions: [],
        createdAt: now,
      },
    );
  return { accountId, ...minted };
}

/** Reads the settings of an account that its payouts depend on. */
export async function payoutSettingsOf(
  sql: Sql,
  { accountId }: Tenant,
): Promise<Pick<AccountSettings, 'payoutFeesCents' | 'pixMaxCents'>> {
  const [account] = await selectAccounts(sql, [accountId]);
  const { payoutFeesCents, pixMaxCents } = account!;
  return { payoutFeesCents, pixMaxCents };
}

/** Reads the fees of the payouts of an account's subaccounts: its own part, and that of the service. */
export async function subaccountFeesOf(
  sql: Sql,
  { accountId }: Tenant,
): Promise<{ markupCents: Cents; serviceFeeCents: Cents }> {
  const [account] = await selectAccounts(sql, [accountId]);
  const { subaccountMarkupCents, payoutFeesCents } = account!;
  return { markupCents: subaccountMarkupCents, serviceFeeCents: payoutFeesCents.pix };
}

/** Finds the tenant of the demo shop: the oldest account, live. */
export async function firstTenant(sql: Sql): Promise<Tenant> {
  return { accountId: await oldestAccount(sql), environment: 'live' };
}
