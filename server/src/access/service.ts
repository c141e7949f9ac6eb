import {
  assertCardsAvailable,
  type CheckoutAmount,
  type CheckoutGrant,
  type TokenPause,
} from '../card-payments/model.ts';
import { type Committer, put } from '../commit/commit.ts';
import type { Database, Sql } from '../db/database.ts';
import { type Clock, plusMs } from '../kernel/clock.ts';
import { createCoalescedReads } from '../kernel/coalesce.ts';
import { newCursorKey } from '../kernel/cursor.ts';
import { NotFoundError, UnauthenticatedError } from '../kernel/errors.ts';
import { equalSecrets, hashSecret, objectId, secret } from '../kernel/ids.ts';
import type { Environment, Tenant } from '../kernel/tenant.ts';
import { assertFound, type ProductService } from '../products/model.ts';
import { assertCallbackUrl } from '../webhooks/model.ts';
import { tokens } from './collections.ts';
import { assertSameMode, type Mode } from './mode.ts';
import {
  type AccessService,
  bearer,
  type Caller,
  CHECKOUT_TOKEN_SECONDS,
  type CreateCheckoutTokenInput,
  type Credential,
  DASHBOARD_TOKEN_SECONDS,
  type DashboardScope,
  DEFAULT_SETTINGS,
  decidePauseByMerchant,
  decidePauseForDeclines,
  environmentOfKey,
  KEY_PREFIX,
  PAYMENT_TOKEN_MS,
  type PausedToken,
  TOKEN_PREFIX,
} from './model.ts';
import {
  anyAccountExists,
  findToken,
  insertAccount,
  insertApiKey,
  insertCursorKey,
  insertMode,
  insertToken,
  lockAccounts,
  oldestAccount,
  selectAccounts,
  selectApiKey,
  selectCursorKey,
  selectMode,
  selectPause,
  selectPausedTokens,
  selectToken,
  type TokenRow,
} from './store.ts';

export function createAccessService({
  database,
  committer,
  products,
  clock,
  privateAddresses,
  configuredKeys = null,
}: {
  database: Database;
  committer: Committer;
  products: Pick<ProductService, 'find'>;
  clock: Clock;
  /** Local development: webhooks may go to this machine. */
  privateAddresses: boolean;
  /** In remote mode: no other key lets anybody in, and nothing does in an environment that has none. */
  configuredKeys?: { live?: string; sandbox?: string } | null;
}): AccessService {
  // Every request reads its credential anew, so that a revocation holds at once; those of one credential that come
  // together read it together.
  const sharedKeys = createCoalescedReads<Awaited<ReturnType<typeof selectApiKey>>>();
  const sharedTokens = createCoalescedReads<TokenRow | null>();

  async function mint(
    tenant: Tenant,
    { kind, grant, ...rest }: Pick<TokenRow, 'kind' | 'grant' | 'mintedBy' | 'allowedOrigins' | 'expiresAt'>,
  ): Promise<string> {
    const token = secret(TOKEN_PREFIX[kind]);
    const row: Omit<TokenRow, 'pause'> = {
      id: `tok_${objectId()}`,
      kind,
      ...tenant,
      grant,
      createdAt: clock.now(),
      revokedAt: null,
      ...rest,
    };
    await insertToken(database.sql, row, hashSecret(token));
    return token;
  }

  return {
    async authenticate(authorization) {
      const presented = bearer(authorization);
      const environment = environmentOfKey(presented);
      if (!environment) return callerOfToken(presented);
      if (configuredKeys && !isOneOf(presented, Object.values(configuredKeys)))
        throw new UnauthenticatedError('Invalid API key');
      return callerOfKey(presented, environment);
    },

    async createCheckoutToken(tenant, keyId, input) {
      const [account] = await selectAccounts(database.sql, [tenant.accountId]);
      assertCardsAvailable(tenant.environment, account!);
      assertCallbackUrl(input.callbackUrl, privateAddresses);
      const { productId } = input.amount;
      if (productId != null) assertFound(await products.find(tenant, productId));
      const expiresAt = expiryOf(input, clock.now());
      const token = await mint(tenant, {
        kind: 'checkout',
        grant: grantOf(input),
        mintedBy: keyId,
        allowedOrigins: originsOf(input),
        expiresAt,
      });
      return { token, expiresAt };
    },

    async createDashboardToken(tenant, keyId, input) {
      const expiresAt = plusMs(clock.now(), (input.expiresInSeconds ?? DASHBOARD_TOKEN_SECONDS) * 1_000);
      const token = await mint(tenant, {
        kind: 'dashboard',
        grant: { scopes: input.scopes },
        mintedBy: keyId,
        allowedOrigins: originsOf(input),
        expiresAt,
      });
      return { token, expiresAt };
    },

    createPaymentToken(tenant, orderCode) {
      return mint(tenant, {
        kind: 'payment',
        grant: { orderCode },
        mintedBy: null,
        allowedOrigins: [],
        expiresAt: plusMs(clock.now(), PAYMENT_TOKEN_MS),
      });
    },

    async revokeToken(tenant, token) {
      const secretHash = hashSecret(token);
      await committer.change({
        tenant,
        read: (reader) => reader.load(tokens, secretHash),
        decide: (state) => {
          const row = state.get(tokens, secretHash);
          if (!row || row.kind === 'payment' || row.revokedAt) throw new NotFoundError('Token not found');
          return {
            outcome: undefined,
            writes: {
              records: [put(tokens, { ...row, revokedAt: state.now })],
              events: [
                {
                  kind: 'credential.revoked',
                  resource: 'credential',
                  resourceId: row.id,
                  previousStatus: null,
                  snapshot: {},
                },
              ],
            },
          };
        },
      });
    },

    async pauseToken(tenant, token, seconds) {
      const { id, pause } = await changePause(database.sql, committer, {
        named: token,
        tenant,
        decide: (_, now) => decidePauseByMerchant(seconds, now),
      });
      return { tokenId: id, ...pause! };
    },

    async resumeToken(tenant, token) {
      return (await changePause(database.sql, committer, { named: token, tenant, decide: () => null })).id;
    },

    pauseOf: (tokenId) => selectPause(database.sql, tokenId),
    listPausedTokens: (tenant) => listPausedTokens(database.sql, { tenant, now: clock.now() }),
  };

  async function callerOfKey(presented: string, environment: Environment): Promise<Caller> {
    const secretHash = hashSecret(presented);
    const key = await sharedKeys(secretHash, () => selectApiKey(database.sql, secretHash));
    if (!key || key.environment !== environment) throw new UnauthenticatedError('Invalid API key');
    return {
      tenant: { accountId: key.accountId, environment },
      credential: { kind: 'api_key', id: key.id, permissions: configuredKeys ? null : key.permissions },
      allowedOrigins: [],
      expiresAt: null,
      endsWith: [key.id],
    };
  }

  async function callerOfToken(presented: string): Promise<Caller> {
    const secretHash = hashSecret(presented);
    const row = await sharedTokens(secretHash, () => selectToken(database.sql, secretHash));
    if (!row || (configuredKeys && configuredKeys[row.environment] === undefined))
      throw new UnauthenticatedError('Invalid or revoked token');
    if (row.expiresAt && row.expiresAt <= clock.now())
      throw new UnauthenticatedError('This token has expired');
    return {
      tenant: { accountId: row.accountId, environment: row.environment },
      credential: credentialOf(row),
      allowedOrigins: row.allowedOrigins,
      expiresAt: row.expiresAt,
      endsWith: row.mintedBy ? [row.id, row.mintedBy] : [row.id],
    };
  }
}

const MOST_PAUSED = 100;

export async function listPausedTokens(
  sql: Sql,
  { tenant, now }: { tenant: Tenant | null; now: Date },
): Promise<PausedToken[]> {
  const rows = await selectPausedTokens(sql, { tenant, now, limit: MOST_PAUSED });
  return rows.map(({ id, pause }) => ({ tokenId: id, ...pause }));
}

/**
 * Pauses a checkout token or resumes it (null), as `decide` says of its last pause, and announces it where that changed.
 * `named` is its text or its id; `tenant` whose it has to be, null for whichever.
 * @throws NotFoundError, what `decide` throws
 */
export async function changePause(
  sql: Sql,
  committer: Committer,
  {
    named,
    tenant,
    decide,
  }: {
    named: string;
    tenant: Tenant | null;
    decide: (last: TokenPause | null, now: Date) => TokenPause | null;
  },
): Promise<{ id: string; pause: TokenPause | null; changed: boolean }> {
  const found = await findToken(sql, named);
  if (!found) throw new NotFoundError('Token not found');
  return committer.change<{ id: string; pause: TokenPause | null; changed: boolean }>({
    tenant: tenant ?? found.tenant,
    read: (reader) => reader.load(tokens, found.secretHash),
    decide(state) {
      const row = state.get(tokens, found.secretHash);
      const { now } = state;
      if (row?.kind !== 'checkout' || row.revokedAt || (row.expiresAt && row.expiresAt <= now))
        throw new NotFoundError('Token not found');
      const pause = decide(row.pause, now);
      const { id } = row;
      if (pause === row.pause) return { outcome: { id, pause, changed: false } };
      return {
        outcome: { id, pause, changed: true },
        writes: {
          records: [put(tokens, { ...row, pause })],
          events: [
            {
              kind: pause ? 'checkout_token.paused' : 'checkout_token.resumed',
              resource: 'checkout_token',
              resourceId: id,
              previousStatus: null,
              snapshot: { tokenId: id, pause },
            },
          ],
        },
      };
    },
  });
}

/** The pauses of tokens as the guard against card testing knows them. */
export function createTokenPauses({ database, committer }: { database: Database; committer: Committer }) {
  return {
    pauseOf: (tokenId: string) => selectPause(database.sql, tokenId),
    /** Whether the token is paused now and was not. */
    async pauseForDeclines(tenant: Tenant, tokenId: string): Promise<boolean> {
      const { changed } = await changePause(database.sql, committer, {
        named: tokenId,
        tenant,
        decide: (last, now) => decidePauseForDeclines(last, now) ?? last,
      }).catch((error: unknown) => {
        // It was revoked, or has ended, meanwhile.
        if (error instanceof NotFoundError) return { changed: false };
        throw error;
      });
      return changed;
    },
  };
}

/** Compares with each, whichever it is, in constant time. */
function isOneOf(presented: string, keys: readonly string[]): boolean {
  return keys.filter((key) => equalSecrets(presented, key)).length > 0;
}

function credentialOf({ id, kind, grant }: TokenRow): Credential {
  switch (kind) {
    case 'checkout':
      return { kind: 'checkout_token', id, grant: grant as CheckoutGrant };
    case 'payment':
      return { kind: 'payment_token', id, orderCode: (grant as { orderCode: string }).orderCode };
    case 'dashboard':
      return { kind: 'dashboard_token', id, scopes: (grant as { scopes: DashboardScope[] }).scopes };
  }
}

/** As a browser's Origin header says them. */
function originsOf({ allowedOrigins }: { allowedOrigins?: readonly string[] | null | undefined }): string[] {
  return (allowedOrigins ?? []).map((origin) => new URL(origin).origin);
}

/** A reusable token does not expire by itself: it is revoked. */
function expiryOf({ expiresInSeconds, reusable }: CreateCheckoutTokenInput, now: Date): Date | null {
  if (expiresInSeconds == null && reusable) return null;
  return plusMs(now, (expiresInSeconds ?? CHECKOUT_TOKEN_SECONDS) * 1_000);
}

function grantOf({
  amount,
  reusable,
  allowedOrigins: _,
  expiresInSeconds: __,
  ...details
}: CreateCheckoutTokenInput): CheckoutGrant {
  return { ...details, reusable: reusable ?? false, amount: amountOf(amount) };
}

function amountOf({ fixedCents, productId, range }: CreateCheckoutTokenInput['amount']): CheckoutAmount {
  if (fixedCents != null) return { kind: 'fixed', cents: fixedCents };
  if (productId != null) return { kind: 'product', productId };
  return { kind: 'range', minCents: range!.minCents, maxCents: range!.maxCents };
}

/**
 * What every instance needs from its database, made by whichever starts first: the key that cursors are made with, and
 * the first account. `firstKeys` is null where there is an account already.
 * @throws ModeError where the database is a remote server's
 */
export async function bootstrap({
  database,
  clock,
  name,
  keys,
}: {
  database: Database;
  clock: Clock;
  /** What payers of the first account see on its pages. */
  name: string;
  keys: { live?: string | undefined; sandbox?: string | undefined };
}): Promise<{ cursorKey: Uint8Array; firstKeys: FirstKeys | null }> {
  return database.transaction(async (sql) => {
    return {
      cursorKey: await prepareDatabase(sql, { kind: 'embedded' }),
      firstKeys: (await anyAccountExists(sql))
        ? null
        : await makeFirstAccount(sql, clock.now(), { name, keys }),
    };
  });
}

/**
 * What the first start does in either mode, and each later one holds itself against; others that start meanwhile wait
 * until this transaction ends. Returns the key that cursors are made with.
 * @throws ModeError
 */
export async function prepareDatabase(sql: Sql, wanted: Mode): Promise<Uint8Array> {
  await lockAccounts(sql);
  const held = await selectMode(sql);
  if (held) assertSameMode(held, wanted);
  else await insertMode(sql, wanted);
  return (await selectCursorKey(sql)) ?? (await makeCursorKey(sql));
}

async function makeCursorKey(sql: Sql): Promise<Uint8Array> {
  const key = newCursorKey();
  await insertCursorKey(sql, key);
  return key;
}

interface FirstKeys {
  accountId: string;
  live: string;
  sandbox: string;
}

/** With one key for each environment: the given ones, or new ones. */
async function makeFirstAccount(
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

/** The tenant that the demo shop sells for: the oldest account, live. */
export async function firstTenant(sql: Sql): Promise<Tenant> {
  return { accountId: await oldestAccount(sql), environment: 'live' };
}
