import { DEFAULT_SETTINGS } from '../../server/src/access/model.ts';
import {
  type AccountRow,
  insertAccount,
  insertApiKey,
  saveTokens,
  type TokenRow,
} from '../../server/src/access/store.ts';
import { KEY_PREFIX, type Permission, TOKEN_PREFIX } from '../../server/src/kernel/caller.ts';
import { type Clock, plusMs } from '../../server/src/kernel/clock.ts';
import { hashSecret, objectId, secret } from '../../server/src/kernel/ids.ts';
import type { Environment } from '../../server/src/kernel/tenant.ts';
import type { TestApp } from './app.ts';

type Server = Pick<TestApp, 'database'> & { clock: Clock };

/** Adds an account beside the first one. `addKey` adds its keys. */
export async function addAccount(app: Server, settings: Partial<AccountRow> = {}): Promise<string> {
  const id = `acc_${objectId()}`;
  await insertAccount(
    app.database.sql,
    { id, name: 'Outra Loja', ...DEFAULT_SETTINGS, ...settings },
    // The account is younger than the first one, which is found by its age.
    plusMs(app.clock.now(), 1),
  );
  return id;
}

/** Adds a key to an account, by default to the first one. */
export async function addKey(
  app: Server,
  {
    accountId,
    environment = 'live',
    permissions = [],
  }: { accountId?: string; environment?: Environment; permissions?: Permission[] } = {},
): Promise<string> {
  const key = secret(KEY_PREFIX[environment]);
  await insertApiKey(
    app.database.sql,
    { accountId: accountId ?? (await firstAccount(app)), environment },
    { id: `key_${objectId()}`, secretHash: hashSecret(key), permissions, createdAt: app.clock.now() },
  );
  return key;
}

/** Adds a token as the server would mint it, also of a kind or with settings that no operation creates yet. */
export async function addToken(
  app: TestApp,
  row: Pick<TokenRow, 'kind' | 'grant'> & Partial<Omit<TokenRow, 'id'>>,
): Promise<string> {
  const token = secret(TOKEN_PREFIX[row.kind]);
  await saveTokens(app.database.sql, [
    {
      id: `tok_${objectId()}`,
      accountId: await firstAccount(app),
      environment: 'live',
      mintedBy: null,
      allowedOrigins: [],
      createdAt: app.clock.now(),
      expiresAt: null,
      revokedAt: null,
      trustedDocumentsOnly: false,
      ...row,
      secretHash: hashSecret(token),
    },
  ]);
  return token;
}

async function firstAccount(app: Pick<TestApp, 'database'>): Promise<string> {
  const first = await app.database.sql
    .selectFrom('account')
    .select('id')
    .orderBy('created_at')
    .executeTakeFirstOrThrow();
  return first.id;
}
