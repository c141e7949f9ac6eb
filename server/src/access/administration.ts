import { type Committer, put } from '../commit/commit.ts';
import type { Database, Sql } from '../db/database.ts';
import type { Clock } from '../kernel/clock.ts';
import { NotFoundError, ValidationError } from '../kernel/errors.ts';
import { hashSecret, objectId, secret } from '../kernel/ids.ts';
import { type Account, type Administration, type ApiKey, assertMayHaveAnotherKey } from './keys.ts';
import { DEFAULT_SETTINGS, KEY_PREFIX } from './model.ts';
import { apiKeys } from './records.ts';
import {
  countActiveKeys,
  insertAccount,
  insertApiKey,
  listAccounts,
  listApiKeys,
  lockAccount,
  selectAccountIds,
  selectApiKeys,
  updateAccount,
} from './store.ts';

/** Accounts and API keys, as whoever runs the server manages them. */
export function createAdministration({
  database,
  committer,
  clock,
}: {
  database: Database;
  committer: Committer;
  clock: Clock;
}): Administration {
  return {
    createKey({ accountId, environment, permissions, name }) {
      const key = secret(KEY_PREFIX[environment]);
      return database.transaction(async (sql) => {
        const account = accountId ?? (await onlyAccount(sql));
        // The tenant's lock is of one environment, and the limit is of both: so the account itself is locked.
        if (!(await lockAccount(sql, account))) throw noAccount(account);
        assertMayHaveAnotherKey(await countActiveKeys(sql, account));
        const made: ApiKey = {
          id: `key_${objectId()}`,
          accountId: account,
          environment,
          name,
          permissions,
          hint: key.slice(-4),
          createdAt: clock.now(),
          revokedAt: null,
        };
        await insertApiKey(sql, made, { ...made, secretHash: hashSecret(key) });
        return { key: made, secret: key };
      });
    },

    async listKeys({ accountId, revokedToo }) {
      if (accountId !== undefined) await findAccount(database.sql, accountId);
      return { keys: await listApiKeys(database.sql, { accountId, revokedToo }) };
    },

    async revokeKey({ id }) {
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
            writes: {
              records: [put(apiKeys, revoked)],
              events: [
                {
                  kind: 'credential.revoked',
                  resource: 'credential',
                  resourceId: id,
                  previousStatus: null,
                  snapshot: {},
                },
              ],
            },
          };
        },
      });
    },

    async createAccount({ name, payoutFeesCents, ...settings }) {
      const id = `acc_${objectId()}`;
      const given = withoutUndefined(settings);
      const fees = { ...DEFAULT_SETTINGS.payoutFeesCents, ...withoutUndefined(payoutFeesCents ?? {}) };
      await insertAccount(
        database.sql,
        { id, name, ...DEFAULT_SETTINGS, ...given, payoutFeesCents: fees },
        clock.now(),
      );
      return { account: await findAccount(database.sql, id) };
    },

    async listAccounts() {
      return { accounts: await listAccounts(database.sql) };
    },

    async updateAccount({ id, ...changes }) {
      if (!(await updateAccount(database.sql, id, changes))) throw noAccount(id);
      return { account: await findAccount(database.sql, id) };
    },
  };
}

/** The one that is meant where none is named. @throws NotFoundError, ValidationError */
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

function withoutUndefined<Members extends object>(members: Members) {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Members]: Exclude<Members[Name], undefined>;
  };
}
