import { beforeAll, describe, expect, test } from 'vitest';
import { createAdministration } from '../../server/src/access/administration.ts';
import { selectBrand, selectLogo } from '../../server/src/access/brand-store.ts';
import { type Administration, MAX_ACTIVE_KEYS } from '../../server/src/access/keys.ts';
import { DEFAULT_SETTINGS } from '../../server/src/access/model.ts';
import {
  NotFoundError,
  PreconditionError,
  UnauthenticatedError,
  ValidationError,
} from '../../server/src/kernel/errors.ts';
import { hashSecret } from '../../server/src/kernel/ids.ts';
import { tenantKey } from '../../server/src/kernel/tenant.ts';
import { createCommitter } from '../../server/src/state/commit/committer.ts';
import type { Database } from '../../server/src/state/db/database.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { createManualClock } from '../support/clock.ts';
import { type Core, startCore } from '../support/core.ts';
import { connectTo, describeOnDatabase, takePostgresDatabase } from '../support/database.ts';
import { readAfter } from '../support/events.ts';
import { openRawSocket } from '../support/raw-socket.ts';

const administrationOf = ({ database, committer, clock }: Pick<Core, 'database' | 'committer' | 'clock'>) =>
  createAdministration({ database, committer, clock });
const key = (accountId: string, environment: 'live' | 'sandbox' = 'live') => ({
  accountId,
  environment,
  permissions: [],
  name: null,
});

describeOnDatabase('API keys', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  test('An API key is shown once, stored hashed, and valid for what it permits', async () => {
    const core = await startCore({ database });
    const administration = administrationOf(core);
    const { key: made, secret } = await administration.createKey({
      accountId: core.tenant.accountId,
      environment: 'sandbox',
      permissions: ['subcontas.sacar'],
      name: 'Folha',
    });
    expect(secret).toMatch(/^ps_test_[A-Za-z0-9_-]{43}$/);
    expect(made).toEqual({
      id: expect.stringMatching(/^key_[0-9a-f]{24}$/),
      accountId: core.tenant.accountId,
      environment: 'sandbox',
      name: 'Folha',
      permissions: ['subcontas.sacar'],
      hint: secret.slice(-4),
      createdAt: core.clock.now(),
      revokedAt: null,
    });
    expect((await core.access.authenticate(`Bearer ${secret}`)).credential).toEqual({
      kind: 'api_key',
      id: made.id,
      permissions: ['subcontas.sacar'],
    });
    const { keys } = await administration.listKeys({ accountId: core.tenant.accountId, revokedToo: false });
    expect(keys).toEqual([made]);
    const row = await database.sql
      .selectFrom('api_key')
      .selectAll()
      .where('id', '=', made.id)
      .executeTakeFirstOrThrow();
    expect(row.secret_hash).toBe(hashSecret(secret));
    expect(JSON.stringify(row)).not.toContain(secret.slice(-5));
  });

  test('An account has at most ten active API keys in both environments, however many are created at once', async () => {
    const core = await startCore({ database });
    const administration = administrationOf(core);
    const { accountId } = core.tenant;
    const asked = await Promise.allSettled(
      Array.from({ length: 25 }, (_, index) =>
        administration.createKey(key(accountId, index % 2 ? 'live' : 'sandbox')),
      ),
    );
    const made = asked.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    expect(made).toHaveLength(MAX_ACTIVE_KEYS);
    for (const each of asked)
      if (each.status === 'rejected') expect(each.reason).toBeInstanceOf(PreconditionError);
    await expect(administration.createKey(key(accountId))).rejects.toThrow(
      'This account has 10 active API keys, and 10 are the most: revoke one first',
    );
    // Another account has ten keys of its own, and a revoked key makes room for a new one.
    const other = await startCore({ database });
    await administration.createKey(key(other.tenant.accountId));
    await administration.revokeKey({ id: made[0]!.key.id });
    await administration.createKey(key(accountId));
    await expect(administration.createKey(key(accountId))).rejects.toBeInstanceOf(PreconditionError);
  });

  test('A key is revoked once, with its tokens, and the revocation is an event', async () => {
    const core = await startCore({ database });
    const administration = administrationOf(core);
    const { accountId } = core.tenant;
    const { key: made, secret } = await administration.createKey(key(accountId));
    const { token } = await core.checkoutTokens.create(core.tenant, made.id, {
      amount: { fixedCents: 500 },
    });
    const { key: kept, secret: other } = await administration.createKey(key(accountId));
    core.clock.advance(1_000);
    const revoked = await Promise.allSettled([1, 2, 3].map(() => administration.revokeKey({ id: made.id })));
    expect(revoked.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
    for (const credential of [secret, token])
      await expect(core.access.authenticate(`Bearer ${credential}`)).rejects.toBeInstanceOf(
        UnauthenticatedError,
      );
    await core.access.authenticate(`Bearer ${other}`);
    const list = async (revokedToo: boolean) =>
      (await administration.listKeys({ accountId, revokedToo })).keys;
    expect(await list(false)).toEqual([kept]);
    expect(await list(true)).toEqual(
      expect.arrayContaining([kept, { ...made, revokedAt: core.clock.now() }]),
    );
    const { events } = await readAfter(database.sql, core.tenant, { after: 0, limit: 10 });
    expect(events).toMatchObject([{ kind: 'credential.revoked', resourceId: made.id }]);
  });

  test('Unknown keys and accounts are not found', async () => {
    const core = await startCore({ database });
    const administration = administrationOf(core);
    await expect(administration.revokeKey({ id: 'key_unknown' })).rejects.toBeInstanceOf(NotFoundError);
    await expect(administration.createKey(key('acc_unknown'))).rejects.toBeInstanceOf(NotFoundError);
    await expect(
      administration.listKeys({ accountId: 'acc_unknown', revokedToo: true }),
    ).rejects.toBeInstanceOf(NotFoundError);
  });
});

describeOnDatabase('accounts', (open) => {
  test('Accounts are created, listed and changed, and a single account need not be named', async () => {
    const database = await open();
    const clock = createManualClock();
    const committer = createCommitter({ database, clock, onCommit: () => undefined });
    const administration: Administration = createAdministration({ database, committer, clock });
    const nowhere = { environment: 'live' as const, permissions: [], name: null };
    await expect(administration.createKey(nowhere)).rejects.toThrow('There is no account yet');

    const { account } = await administration.createAccount({
      name: 'Padaria',
      payoutFeesCents: { ltc: 700 },
      cardReleaseDays: 30,
    });
    expect(account).toEqual({
      id: expect.stringMatching(/^acc_[0-9a-f]{24}$/),
      name: 'Padaria',
      createdAt: clock.now(),
      activeKeys: 0,
      color: null,
      logoHash: null,
      ...DEFAULT_SETTINGS,
      cardReleaseDays: 30,
      payoutFeesCents: { ...DEFAULT_SETTINGS.payoutFeesCents, ltc: 700 },
    });
    expect((await administration.createKey(nowhere)).key.accountId).toBe(account.id);

    clock.advance(1_000);
    const { account: second } = await administration.createAccount({ name: 'Livraria' });
    await expect(administration.createKey(nowhere)).rejects.toBeInstanceOf(ValidationError);
    const changes = {
      payoutFeesCents: { pix: 0, usd: 1 },
      subaccountMarkupCents: 5,
      pixMaxCents: 1_500_000,
      cardPaymentsEnabled: false,
    };
    const { account: changed } = await administration.updateAccount({ id: account.id, ...changes });
    expect(changed).toEqual({
      ...account,
      activeKeys: 1,
      ...changes,
      payoutFeesCents: { ...account.payoutFeesCents, pix: 0, usd: 1 },
    });
    expect((await administration.listAccounts()).accounts).toEqual([changed, second]);
    const noCeiling = await administration.updateAccount({ id: second.id, pixMaxCents: null });
    expect(noCeiling.account.pixMaxCents).toBeNull();
    await expect(administration.updateAccount({ id: 'acc_unknown', name: 'X' })).rejects.toBeInstanceOf(
      NotFoundError,
    );
  });

  test('The colour and the logo of an account are its own, and each is set and taken away alone', async () => {
    const database = await open();
    const clock = createManualClock();
    const committer = createCommitter({ database, clock, onCommit: () => undefined });
    const administration = createAdministration({ database, committer, clock });
    const [one, other] = [
      (await administration.createAccount({ name: 'Padaria da Ana' })).account.id,
      (await administration.createAccount({ name: 'Casa Lia' })).account.id,
    ];
    const logo = { bytes: Buffer.from([0x89, 0, 0xff]), type: 'image/png' as const, hash: 'c'.repeat(64) };
    const set = async (change: object) => {
      const { account } = await administration.updateAccount({ id: one, ...change });
      const shown = await selectBrand(database.sql, one);
      expect(shown).toEqual({ color: account.color, logoHash: account.logoHash });
      return [account.name, account.color, account.logoHash];
    };
    expect(await set({ color: '#7a1f5c' })).toEqual(['Padaria da Ana', '#7a1f5c', null]);
    expect(await set({ logo })).toEqual(['Padaria da Ana', '#7a1f5c', logo.hash]);
    expect(await selectLogo(database.sql, logo.hash)).toEqual({ type: 'image/png', bytes: logo.bytes });
    expect(await set({ name: 'Ana', color: null })).toEqual(['Ana', null, logo.hash]);
    expect(await selectBrand(database.sql, other)).toBeNull();
    expect(await set({ logo: null })).toEqual(['Ana', null, null]);
    expect(await selectLogo(database.sql, logo.hash)).toBeNull();
    await expect(
      administration.updateAccount({ id: 'acc_unknown', color: '#7a1f5c' }),
    ).rejects.toBeInstanceOf(NotFoundError);
  });
});

describe('on several instances', () => {
  test('An account has at most ten keys over several instances', async () => {
    const databaseUrl = await takePostgresDatabase();
    const clock = createManualClock();
    const databases = await Promise.all([1, 2, 3].map(() => connectTo(databaseUrl, clock)));
    const instances = databases.map((database) =>
      createAdministration({
        database,
        clock,
        committer: createCommitter({ database, clock, onCommit: () => undefined }),
      }),
    );
    const { account } = await instances[0]!.createAccount({ name: 'Padaria' });
    const asked = await Promise.allSettled(
      Array.from({ length: 30 }, (_, index) => instances[index % 3]!.createKey(key(account.id))),
    );
    expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
    await Promise.all(databases.map((database) => database.close()));
  });

  test('A key that is revoked on one instance closes its connections on the other', async () => {
    const databaseUrl = await takePostgresDatabase();
    const clock = createManualClock();
    const openOne = () => connectTo(databaseUrl, clock);
    const apps: TestApp[] = [];
    for (let index = 0; index < 2; index += 1)
      apps.push(await startApp({ database: await openOne(), clock }));
    const [one, other] = apps;
    const committer = createCommitter({
      database: one!.database,
      clock,
      onCommit: (committed) =>
        void one!.database.notify('psa_stream', ...committed.map(({ tenant }) => tenantKey(tenant))),
    });
    const administration = createAdministration({ database: one!.database, committer, clock });
    const { key: made, secret } = await administration.createKey({
      environment: 'live',
      permissions: [],
      name: null,
    });
    const socket = openRawSocket(other!.url);
    await socket.init(secret);
    socket.send({
      id: 'a',
      type: 'subscribe',
      payload: { query: 'subscription { allCardPaymentUpdates { cursor } }' },
    });
    await administration.revokeKey({ id: made.id });
    expect(await socket.closed).toEqual({ code: 4403, reason: 'This credential was revoked' });
    for (const app of apps) {
      expect(app.faults).toEqual([]);
      await app.close();
    }
  });
});
