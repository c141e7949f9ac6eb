import { KEY_PREFIX } from '../kernel/caller.ts';
import type { Clock } from '../kernel/clock.ts';
import { NotFoundError, PermissionError, ValidationError } from '../kernel/errors.ts';
import { hashSecret, objectId, secret } from '../kernel/ids.ts';
import { withoutUndefined } from '../kernel/objects.ts';
import type { Environment } from '../kernel/tenant.ts';
import { type Committer, put } from '../state/commit/commit.ts';
import type { Database, Sql } from '../state/db/database.ts';
import { setBrand } from './brand-store.ts';
import { apiKeys } from './collections.ts';
import { revocationOf } from './events.ts';
import {
  type Account,
  type Administration,
  type ApiKey,
  assertMayHaveAnotherKey,
  type TokenOverview,
} from './keys.ts';
import { ModeError } from './mode.ts';
import { DEFAULT_SETTINGS } from './model.ts';
import { prepareDatabase, revokeToken } from './service.ts';
import {
  anyAccountExists,
  countActiveKeys,
  insertAccount,
  insertApiKey,
  insertOrRestoreApiKey,
  listAccounts,
  listApiKeys,
  lockAccount,
  oldestAccount,
  selectAccountIds,
  selectApiKeys,
  selectMode,
  updateAccount,
} from './store.ts';
import { listTokensOfAll } from './token-store.ts';

/** The largest number of tokens that the command lists. */
const MAX_LISTED = 100;

/** Accounts and API keys, as the operator of the server manages them. */
export function createAdministration({
  database,
  committer,
  clock,
}: {
  database: Database;
  committer: Committer;
  clock: Clock;
}): Administration & TokenOverview {
  return {
    createKey({ accountId, environment, permissions, name }) {
      const key = secret(KEY_PREFIX[environment]);
      return database.transaction(async (sql) => {
        await assertKeysManagedHere(sql);
        const account = accountId ?? (await onlyAccount(sql));
        // The tenant's lock covers one environment and the limit covers both, so the account itself is locked.
        if (!(await lockAccount(sql, account))) throw noAccount(account);
        assertMayHaveAnotherKey(await countActiveKeys(sql, account));
        const created: ApiKey = {
          id: `key_${objectId()}`,
          accountId: account,
          environment,
          name,
          permissions,
          hint: key.slice(-4),
          createdAt: clock.now(),
          revokedAt: null,
        };
        await insertApiKey(sql, created, { ...created, secretHash: hashSecret(key) });
        return { key: created, secret: key };
      });
    },

    async listKeys({ accountId, revokedToo }) {
      if (accountId !== undefined) await findAccount(database.sql, accountId);
      return { keys: await listApiKeys(database.sql, { accountId, revokedToo }) };
    },

    async revokeKey({ id }) {
      await assertKeysManagedHere(database.sql);
      const [found] = await selectApiKeys(database.sql, [id]);
      if (!found) throw new NotFoundError(`API key ${id} not found`);
      return committer.change({
        tenant: { accountId: found.accountId, environment: found.environment },
        read: (reader) => reader.load(apiKeys, id),
        decide: (state) => {
          const key = state.need(apiKeys, id);
          if (key.revokedAt) throw new NotFoundError(`API key ${id} is revoked already`);
          const revoked: ApiKey = { ...key, revokedAt: state.now };
          return {
            outcome: { key: revoked },
            writes: { records: [put(apiKeys, revoked)], events: [revocationOf(id)] },
          };
        },
      });
    },

    async listTokens({ accountId, reusable, ended }) {
      if (accountId !== undefined) await findAccount(database.sql, accountId);
      const part = { now: clock.now(), limit: MAX_LISTED };
      return { tokens: await listTokensOfAll(database.sql, { ...part, accountId, reusable, ended }) };
    },

    async revokeToken({ token }) {
      const { tokenId } = await revokeToken({ database, committer }, { tenant: null, named: token });
      return { tokenId };
    },

    async createAccount({ name, payoutFeesCents, ...settings }) {
      await assertAccountsManagedHere(database.sql);
      const id = `acc_${objectId()}`;
      const chosen = withoutUndefined(settings);
      const fees = { ...DEFAULT_SETTINGS.payoutFeesCents, ...withoutUndefined(payoutFeesCents ?? {}) };
      await insertAccount(
        database.sql,
        { id, name, ...DEFAULT_SETTINGS, ...chosen, payoutFeesCents: fees },
        clock.now(),
      );
      return { account: await findAccount(database.sql, id) };
    },

    async listAccounts() {
      return { accounts: await listAccounts(database.sql) };
    },

    async updateAccount({ id, color, logo, ...changes }) {
      await assertAccountsManagedHere(database.sql);
      const isSettings = Object.values(changes).some((value) => value !== undefined);
      await database.transaction(async (sql) => {
        const isThere = isSettings ? await updateAccount(sql, id, changes) : await lockAccount(sql, id);
        if (!isThere) throw noAccount(id);
        if (color !== undefined || logo !== undefined) await setBrand(sql, id, { color, logo });
      });
      return { account: await findAccount(database.sql, id) };
    },
  };
}

/**
 * Finds the account with an id, or the only one, for a command that changes data of this server.
 * @throws NotFoundError, ValidationError (there are several), PermissionError (in remote mode)
 */
export async function findManagedAccount(sql: Sql, accountId: string | undefined): Promise<string> {
  await assertAccountsManagedHere(sql);
  return findNamedAccount(sql, accountId);
}

/**
 * Finds the account with an id, or the only one, for a command that reads. @throws NotFoundError, ValidationError (there are
 * several)
 */
export async function findNamedAccount(sql: Sql, accountId: string | undefined): Promise<string> {
  return accountId === undefined ? onlyAccount(sql) : (await findAccount(sql, accountId)).id;
}

/**
 * Prepares the database of a server in remote mode at each start, in place of `bootstrap`: binds it to one
 * merchant at one service, and makes its keys exactly the configured ones. A key that is no longer configured
 * is revoked, which ends its tokens and their connections on any instance; `committer` announces it. No key
 * is generated.
 * @throws ModeError if the database belongs to another mode or service, or may belong to another account
 */
export async function bootstrapRemote({
  database,
  committer,
  clock,
  upstream,
}: {
  database: Database;
  committer: Committer;
  clock: Clock;
  upstream: {
    url: string;
    keys: { live?: string; sandbox?: string };
    /** The ids of keys that the operator has confirmed as new keys of the same account. */
    acceptedKeys?: readonly string[];
  };
}): Promise<{ cursorKey: Uint8Array; accountId: string }> {
  const { unconfigured, ...started } = await database.transaction(async (sql) => {
    const cursorKey = await prepareDatabase(sql, {
      kind: 'remote',
      upstreamOrigin: new URL(upstream.url).origin,
    });
    if (!(await anyAccountExists(sql)))
      await insertAccount(
        sql,
        { id: `acc_${objectId()}`, name: ACCOUNT_NAME, ...DEFAULT_SETTINGS },
        clock.now(),
      );
    const accountId = await oldestAccount(sql);
    const configured = new Set<string>();
    const before = await listApiKeys(sql, { accountId, revokedToo: true });
    for (const environment of ['live', 'sandbox'] as const) {
      const key = upstream.keys[environment];
      if (key === undefined) continue;
      const row = configuredKey(key, { accountId, environment, createdAt: clock.now() });
      assertSameAccount(row, before, upstream.acceptedKeys ?? []);
      await insertOrRestoreApiKey(sql, row, hashSecret(key));
      configured.add(row.id);
    }
    const active = await listApiKeys(sql, { accountId, revokedToo: false });
    return { cursorKey, accountId, unconfigured: active.filter(({ id }) => !configured.has(id)) };
  });
  // Each revocation is a change of its tenant, with its event. If the process ends in between, the next start
  // continues here; no request is served before that.
  for (const { id, accountId, environment } of unconfigured)
    await committer.change({
      tenant: { accountId, environment },
      read: (reader) => reader.load(apiKeys, id),
      decide(state) {
        const key = state.need(apiKeys, id);
        // Another instance that started at the same time has revoked it.
        if (key.revokedAt) return { outcome: undefined };
        const revoked: ApiKey = { ...key, revokedAt: state.now };
        return {
          outcome: undefined,
          writes: { records: [put(apiKeys, revoked)], events: [revocationOf(id)] },
        };
      },
    });
  return started;
}

/**
 * Refuses a key that may belong to another account, which would then see this account's data: the hashes in
 * the database are those of other keys, and the operator has not confirmed it as a new key of the same
 * account.
 * @throws ModeError
 */
function assertSameAccount(
  { id, environment, name }: ApiKey,
  before: readonly ApiKey[],
  accepted: readonly string[],
): void {
  const ofEnvironment = before.filter((key) => key.environment === environment);
  if (ofEnvironment.length === 0 || ofEnvironment.some((key) => key.id === id) || accepted.includes(id))
    return;
  throw new ModeError(
    `${name} is not the key that this database has known: with the key of another account, choose another PSA_DATA_DIR or DATABASE_URL; with a new key of the same account, set PSA_UPSTREAM_ACCEPT_KEY=${id}`,
  );
}

/** The account's name in the operator's lists. Payers see the name that the service shows them. */
const ACCOUNT_NAME = 'Minha loja';

/**
 * The record of a configured key. A key has the same id on every instance and after every restart, so it
 * keeps its tokens.
 */
function configuredKey(
  key: string,
  { accountId, environment, createdAt }: { accountId: string; environment: Environment; createdAt: Date },
): ApiKey {
  return {
    id: `key_${hashSecret(key).slice(0, 24)}`,
    accountId,
    environment,
    name: environment === 'live' ? 'PSA_UPSTREAM_LIVE_KEY' : 'PSA_UPSTREAM_TEST_KEY',
    permissions: [],
    // The last four characters would reveal too much of a short key.
    hint: key.length >= KEY_PREFIX[environment].length + HINTED_LENGTH ? key.slice(-4) : null,
    createdAt,
    revokedAt: null,
  };
}

const HINTED_LENGTH = 16;

/** @throws PermissionError in remote mode */
async function assertKeysManagedHere(sql: Sql): Promise<void> {
  if (await isRemote(sql))
    throw new PermissionError(
      'This server stands in front of the service, and its keys come from the configuration: change PSA_UPSTREAM_LIVE_KEY or PSA_UPSTREAM_TEST_KEY and restart it',
    );
}

/** @throws PermissionError in remote mode */
async function assertAccountsManagedHere(sql: Sql): Promise<void> {
  if (await isRemote(sql))
    throw new PermissionError(
      'This server stands in front of the service, for one account that is kept there: nothing about accounts can be changed here',
    );
}

async function isRemote(sql: Sql): Promise<boolean> {
  return (await selectMode(sql))?.kind === 'remote';
}

/** Finds the only account, for a command that names none. @throws NotFoundError, ValidationError */
async function onlyAccount(sql: Sql): Promise<string> {
  const [first, ...others] = await selectAccountIds(sql);
  if (first === undefined) throw new NotFoundError('There is no account yet');
  if (others.length > 0)
    throw new ValidationError([
      {
        path: 'accountId',
        message: `is missing: there are ${others.length + 1} accounts, so one must be named`,
      },
    ]);
  return first;
}

async function findAccount(sql: Sql, id: string): Promise<Account> {
  const [account] = await listAccounts(sql, id);
  if (!account) throw noAccount(id);
  return account;
}

function noAccount(id: string): NotFoundError {
  return new NotFoundError(`Account ${id} not found`);
}
