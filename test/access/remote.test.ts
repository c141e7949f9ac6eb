import { copyFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { bootstrapRemote, createAdministration } from '../../server/src/access/administration.ts';
import { ModeError } from '../../server/src/access/mode.ts';
import { bootstrap, createAccessService, createTokenMint } from '../../server/src/access/service.ts';
import { selectMode } from '../../server/src/access/store.ts';
import { PermissionError, UnauthenticatedError } from '../../server/src/kernel/errors.ts';
import { hashSecret } from '../../server/src/kernel/ids.ts';
import { tenantKey } from '../../server/src/kernel/tenant.ts';
import { snapshots } from '../../server/src/programs/modes/parts.ts';
import { createCommitter } from '../../server/src/state/commit/committer.ts';
import type { Database } from '../../server/src/state/db/database.ts';
import { migrate } from '../../server/src/state/db/migrate.ts';
import { openPostgres } from '../../server/src/state/db/postgres.ts';
import { STREAM_CHANNEL } from '../../server/src/state/events/announcement.ts';
import { createCredentialWatch } from '../../server/src/state/events/credential.ts';
import { createLogTailer } from '../../server/src/state/events/log-tailer.ts';
import { createManualClock } from '../support/clock.ts';
import { openOlderAccount } from '../support/core.ts';
import {
  connectTo,
  createPostgresDatabase,
  describeOnDatabase,
  takePostgresDatabase,
} from '../support/database.ts';
import { deferred } from '../support/deferred.ts';
import { silent } from '../support/templates.ts';

const SERVICE = 'https://api.example/payments';
const MIGRATIONS = fileURLToPath(new URL('../../server/src/state/db/migrations', import.meta.url));
const LIVE = 'ps_live_0123456789abcdefghij';
const OTHER = 'ps_live_abcdefghij0123456789';
const SANDBOX = 'ps_test_9876543210abcdefghij';

interface Keys {
  live?: string;
  sandbox?: string;
}

/** The id of a key. By it the operator recognizes two keys of one account. */
const idOf = (key: string) => `key_${hashSecret(key).slice(0, 24)}`;

/** Starts the part of a facade that authenticates, with these keys of the service. */
async function start(
  database: Database,
  keys: Keys,
  {
    url = SERVICE,
    acceptedKeys = Object.values(keys).map(idOf),
  }: { url?: string; acceptedKeys?: string[] } = {},
) {
  const clock = createManualClock();
  const notified: Promise<void>[] = [];
  const committer = createCommitter({
    database,
    clock,
    onCommit: (committed) =>
      notified.push(database.notify(STREAM_CHANNEL, ...committed.map(({ tenant }) => tenantKey(tenant)))),
  });
  const started = await bootstrapRemote({
    database,
    committer,
    clock,
    upstream: { url, keys, acceptedKeys },
  });
  await Promise.all(notified);
  return {
    ...started,
    clock,
    tenant: { accountId: started.accountId, environment: 'live' as const },
    access: createAccessService({ database, committer, clock, configuredKeys: keys }),
    mint: createTokenMint({ database, clock }),
    administration: createAdministration({ database, committer, clock }),
  };
}

type Started = Awaited<ReturnType<typeof start>>;

async function refused({ access }: Started, credential: string): Promise<void> {
  await expect(access.authenticate(`Bearer ${credential}`)).rejects.toBeInstanceOf(UnauthenticatedError);
}

async function tokenOf({ mint, tenant }: Started, keyId: string | null): Promise<string> {
  const grant = { amount: { kind: 'fixed', cents: 500 }, reusable: true };
  const life = { mintedBy: keyId, allowedOrigins: [], expiresAt: null, trustedDocumentsOnly: false };
  return (await mint(tenant, { kind: 'checkout', grant, ...life })).token;
}

describeOnDatabase('in front of a service', (open) => {
  test('Only the configured keys are valid in front of a service', async () => {
    const database = await open();
    const server = await start(database, { live: LIVE, sandbox: SANDBOX });
    for (const [key, environment] of [
      [LIVE, 'live'],
      [SANDBOX, 'sandbox'],
    ] as const) {
      const caller = await server.access.authenticate(`Bearer ${key}`);
      expect(caller.tenant).toEqual({ accountId: server.accountId, environment });
      // The service alone knows what the keys permit, and refuses by itself.
      expect(caller.credential).toMatchObject({ kind: 'api_key', permissions: null });
    }
    for (const other of [OTHER, `${LIVE}x`, LIVE.slice(0, -1), LIVE.replace('ps_live_', 'ps_test_')])
      await refused(server, other);
  });

  test('A key that only the database contains is refused', async () => {
    const database = await open();
    const server = await start(database, { live: LIVE });
    await database.sql
      .insertInto('api_key')
      .values({
        id: 'key_planted',
        account_id: server.accountId,
        environment: 'live',
        secret_hash: hashSecret(OTHER),
        permissions: [],
        created_at: server.clock.now(),
        revoked_at: null,
        name: null,
        hint: null,
      })
      .execute();
    await refused(server, OTHER);
  });

  test('Configured keys are stored hashed, and keep their ids after a restart', async () => {
    const database = await open();
    const first = await start(database, { live: LIVE, sandbox: 'ps_test_short' });
    const rows = await database.sql.selectFrom('api_key').selectAll().orderBy('environment').execute();
    expect(rows).toMatchObject([
      { environment: 'live', name: 'PSA_UPSTREAM_LIVE_KEY', hint: 'ghij', secret_hash: hashSecret(LIVE) },
      // The key is too short for a part of it to be shown.
      { environment: 'sandbox', name: 'PSA_UPSTREAM_TEST_KEY', hint: null },
    ]);
    expect(JSON.stringify(rows)).not.toContain(LIVE.slice(-5));
    const again = await start(database, { live: LIVE, sandbox: 'ps_test_short' });
    expect(again.accountId).toBe(first.accountId);
    expect(Buffer.from(again.cursorKey)).toEqual(Buffer.from(first.cursorKey));
    expect(await database.sql.selectFrom('api_key').selectAll().orderBy('environment').execute()).toEqual(
      rows,
    );
    expect(await database.sql.selectFrom('account').select('id').execute()).toHaveLength(1);
    expect(await database.sql.selectFrom('event').select('kind').execute()).toEqual([]);
  });

  test('A key that is no longer configured ends with its tokens, and returns with them', async () => {
    const database = await open();
    const before = await start(database, { live: LIVE });
    const { credential } = await before.access.authenticate(`Bearer ${LIVE}`);
    const token = await tokenOf(before, credential.id);

    const after = await start(database, { live: OTHER });
    await refused(after, LIVE);
    await refused(after, token);
    // An instance still runs with the old configuration.
    await refused(before, LIVE);
    await after.access.authenticate(`Bearer ${OTHER}`);

    const corrected = await start(database, { live: LIVE });
    await corrected.access.authenticate(`Bearer ${LIVE}`);
    expect((await corrected.access.authenticate(`Bearer ${token}`)).endsWith).toContain(credential.id);
    await refused(corrected, OTHER);
  });

  test('A key that may be of another account is refused, and ends nothing, until the operator accepts it', async () => {
    const database = await open();
    const before = await start(database, { live: LIVE });
    for (const acceptedKeys of [[], [idOf(LIVE)]])
      await expect(start(database, { live: OTHER, sandbox: SANDBOX }, { acceptedKeys })).rejects.toThrow(
        new ModeError(
          `PSA_UPSTREAM_LIVE_KEY is not the key that this database has known: with the key of another account, choose another PSA_DATA_DIR or DATABASE_URL; with a new key of the same account, set PSA_UPSTREAM_ACCEPT_KEY=${idOf(OTHER)}`,
        ),
      );
    await before.access.authenticate(`Bearer ${LIVE}`);
    expect(await database.sql.selectFrom('api_key').select('id').execute()).toEqual([{ id: idOf(LIVE) }]);
    // The first key of an environment is compared with no other.
    await start(database, { live: LIVE, sandbox: SANDBOX }, { acceptedKeys: [] });
    await start(database, { live: OTHER, sandbox: SANDBOX }, { acceptedKeys: [idOf(OTHER)] });
    // The key before and the accepted key are known now.
    await start(database, { live: LIVE }, { acceptedKeys: [] });
    await start(database, { live: OTHER }, { acceptedKeys: [] });
  });

  test('A key that is no longer configured closes its connections on another instance', async () => {
    const database = await open();
    const before = await start(database, { live: LIVE });
    const onFault = () => undefined;
    const tailer = createLogTailer({ database, snapshots, clock: before.clock, onError: onFault });
    await tailer.start();
    const watch = createCredentialWatch({ access: before.access, tailer, clock: before.clock, onFault });
    const ended = deferred<unknown>();
    const caller = await before.access.authenticate(`Bearer ${LIVE}`);
    const stop = await watch(`Bearer ${LIVE}`, caller, { credentialEnded: ended.resolve });
    await start(database, { live: OTHER });
    expect(await ended.promise).toBeInstanceOf(UnauthenticatedError);
    stop();
    await tailer.close();
  });

  test('An environment without a key refuses every credential, older tokens included', async () => {
    const database = await open();
    const before = await start(database, { live: LIVE, sandbox: SANDBOX });
    const token = await tokenOf(before, null);
    const payment = await before.access.createPaymentToken(before.tenant, { orderCode: 'PSC-1' });
    const after = await start(database, { sandbox: SANDBOX });
    for (const credential of [LIVE, token, payment]) await refused(after, credential);
    await after.access.authenticate(`Bearer ${SANDBOX}`);
  });

  test('Keys and accounts are listed in front of a service, and cannot be changed', async () => {
    const { administration, accountId } = await start(await open(), { live: LIVE });
    const { keys } = await administration.listKeys({ revokedToo: false });
    expect(keys).toMatchObject([{ accountId, environment: 'live', name: 'PSA_UPSTREAM_LIVE_KEY' }]);
    expect((await administration.listAccounts()).accounts).toMatchObject([{ id: accountId, activeKeys: 1 }]);
    const managed = [
      () => administration.createKey({ environment: 'live', permissions: [], name: null }),
      () => administration.revokeKey({ id: keys[0]!.id }),
      () => administration.createAccount({ name: 'Outra' }),
      () => administration.updateAccount({ id: accountId, name: 'Outra' }),
    ];
    for (const manage of managed) await expect(manage()).rejects.toBeInstanceOf(PermissionError);
    expect(await administration.listKeys({ revokedToo: true })).toEqual({ keys });
  });

  test('A database belongs to one mode and one service', async () => {
    const clock = createManualClock();
    const embedded = async (database: Database) => bootstrap({ database, clock, name: 'Loja', keys: {} });
    const [ours, theirs] = [await open(), await open()];
    await embedded(ours);
    await start(theirs, { live: LIVE });

    await expect(start(ours, { live: LIVE })).rejects.toThrow(
      /^The database holds an embedded service's own/,
    );
    await expect(embedded(theirs)).rejects.toThrow(
      /^The database is of a server in front of https:\/\/api.example: set PSA_UPSTREAM_URL/,
    );
    await expect(start(theirs, { live: LIVE }, { url: 'https://other.example' })).rejects.toThrow(
      /api.example, and PSA_UPSTREAM_URL names https:\/\/other.example: [^\n]*PSA_DATA_DIR or DATABASE_URL$/,
    );
    await expect(embedded(theirs)).rejects.toBeInstanceOf(ModeError);
    // Nothing has changed; another path of the same service is the same service.
    await embedded(ours);
    await start(theirs, { live: LIVE }, { url: 'https://api.example' });
  });
});

describe('a database from before there was another mode', () => {
  test.each([
    ['An older database with an account becomes an embedded service’s', true, { kind: 'embedded' }],
    ['An older database without an account may become either mode’s', false, null],
  ])('%s', async (_, started, mode) => {
    const clock = createManualClock();
    const database = await openPostgres({
      databaseUrl: await createPostgresDatabase('template1'),
      clock,
      log: silent,
    });
    onTestFinished(() => database.close());
    const folder = mkdtempSync(join(tmpdir(), 'psa-older-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    for (const file of readdirSync(MIGRATIONS).filter((name) => name < '0009'))
      copyFileSync(join(MIGRATIONS, file), join(folder, file));
    await migrate(database, folder);
    if (started) await openOlderAccount(database.sql);
    await migrate(database);
    expect(await selectMode(database.sql)).toEqual(mode);
  });
});

describe('two instances that start at once in front of a service', () => {
  test('Two instances that start at once create one account, with each key once', async () => {
    const databaseUrl = await takePostgresDatabase();
    const clock = createManualClock();
    const databases = await Promise.all([0, 1].map(() => connectTo(databaseUrl, clock)));
    await start(databases[0]!, { live: OTHER });
    const keys = { live: LIVE, sandbox: SANDBOX };
    const [one, two] = await Promise.all(databases.map((database) => start(database, keys)));
    expect(one!.accountId).toBe(two!.accountId);
    const { keys: active } = await one!.administration.listKeys({ revokedToo: false });
    expect(active).toHaveLength(2);
    expect((await one!.administration.listKeys({ revokedToo: true })).keys).toHaveLength(3);
    const events = await databases[0]!.sql.selectFrom('event').select('kind').execute();
    expect(events).toEqual([{ kind: 'credential.revoked' }]);
    await Promise.all(databases.map((database) => database.close()));
  });
});
