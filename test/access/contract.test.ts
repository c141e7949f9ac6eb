import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import { bootstrap, createAccessService } from '../../server/src/access/service.ts';
import { insertApiKey } from '../../server/src/access/store.ts';
import { bearer, environmentOfKey, type Permission } from '../../server/src/kernel/caller.ts';
import { plusMs } from '../../server/src/kernel/clock.ts';
import { NotFoundError, UnauthenticatedError } from '../../server/src/kernel/errors.ts';
import { equalSecrets, hashSecret, objectId, secret } from '../../server/src/kernel/ids.ts';
import type { Environment } from '../../server/src/kernel/tenant.ts';
import { createCommitter } from '../../server/src/state/commit/committer.ts';
import type { Database } from '../../server/src/state/db/database.ts';
import { createManualClock } from '../support/clock.ts';
import { type Core, startCore } from '../support/core.ts';
import { connectTo, describeOnDatabase, takePostgresDatabase } from '../support/database.ts';
import { readAfter } from '../support/events.ts';
import { recordStatements } from '../support/statements.ts';

const DAY = 86_400_000;

describeOnDatabase('credentials', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  test('A credential identifies its account, in the environment of its prefix', async () => {
    const core = await startCore({ database });
    for (const environment of ['live', 'sandbox'] as const) {
      const { key, id } = await issueKey(core, environment);
      expect(await core.access.authenticate(`Bearer ${key}`)).toEqual({
        tenant: { ...core.tenant, environment },
        credential: { kind: 'api_key', id, permissions: [] },
        allowedOrigins: [],
        expiresAt: null,
        trustedDocumentsOnly: false,
        endsWith: [id],
      });
    }
  });

  test('A credential with the prefix of the other environment is refused', async () => {
    const core = await startCore({ database });
    const { key } = await issueKey(core, 'sandbox');
    await refused(core, key.replace('ps_test_', 'ps_live_'));
    // A key is refused even if its row says one environment and its prefix another.
    const odd = secret('ps_live_');
    await insertApiKey(
      database.sql,
      { ...core.tenant, environment: 'sandbox' },
      { id: `key_${objectId()}`, secretHash: hashSecret(odd), permissions: [], createdAt: core.clock.now() },
    );
    await refused(core, odd);
  });

  test.each([
    null,
    undefined,
    '',
    'Bearer',
    'Bearer ',
    'Basic YW5hOnNlbmhh',
    `Bearer ${'x'.repeat(257)}`,
    'Bearer ps_live_unknown',
    'Bearer ps_checkout_unknown',
    'Bearer unknown',
    'Bearer ps_live_a ps_live_b',
    'Bearer ps_live_\u0000',
    `Bearer ps_live_' or true --`,
  ])('A missing, malformed or unknown credential is refused: %j', async (authorization) => {
    const core = await startCore({ database });
    await expect(core.access.authenticate(authorization)).rejects.toBeInstanceOf(UnauthenticatedError);
  });

  test('A revoked key is refused, and so are the tokens that it minted', async () => {
    const core = await startCore({ database });
    const { key, id } = await issueKey(core, 'live');
    const mint = (keyId: string | null) =>
      core.checkoutTokens.create(core.tenant, keyId, { amount: { fixedCents: 500 }, reusable: true });
    const [{ token }, { token: other }] = [await mint(id), await mint(null)];
    expect((await core.access.authenticate(`Bearer ${token}`)).endsWith).toContain(id);
    await database.sql
      .updateTable('api_key')
      .set({ revoked_at: core.clock.now() })
      .where('id', '=', id)
      .execute();
    await refused(core, key);
    await refused(core, token);
    expect((await core.access.authenticate(`Bearer ${other}`)).credential.kind).toBe('checkout_token');
  });

  test('Credentials that are presented at once are read by one statement of each kind', async () => {
    const recorded = recordStatements(database);
    const core = await startCore({ database: recorded.database });
    const grant = { amount: { fixedCents: 500 } };
    const given = await Promise.all(
      [1, 2, 3].map(async () => [
        (await issueKey(core, 'live')).key,
        (await core.checkoutTokens.create(core.tenant, null, grant)).token,
      ]),
    );
    recorded.statements.length = 0;
    const callers = await Promise.all(
      given.flat().map((credential) => core.access.authenticate(`Bearer ${credential}`)),
    );
    expect(new Set(callers.map(({ endsWith: [id] }) => id)).size).toBe(6);
    expect(recorded.statements).toHaveLength(2);
  });

  test('Credentials are stored hashed: no part of their text is in the database', async () => {
    const core = await startCore({ database });
    const { key, id } = await issueKey(core, 'live');
    const { token } = await core.checkoutTokens.create(core.tenant, id, { amount: { fixedCents: 500 } });
    const { token: revoked } = await core.checkoutTokens.create(core.tenant, id, {
      amount: { fixedCents: 500 },
    });
    const { payment } = await core.cardPayments.create(core.tenant, { valueCents: 500 });
    const paymentToken = await core.access.createPaymentToken(core.tenant, { orderCode: payment.orderCode });
    await core.access.revokeToken(core.tenant, revoked);

    const everything = await dump(database);
    expect(everything).toContain(payment.orderCode);
    for (const given of [key, token, revoked, paymentToken]) {
      expect(everything).toContain(hashSecret(given));
      expect(everything).not.toContain(given);
      expect(everything).not.toContain(given.slice(-20));
    }
  });

  describe('of a page', () => {
    test('Checkout tokens reveal nothing of their grant, and are never the same', async () => {
      const core = await startCore({ database });
      const input = { amount: { fixedCents: 500 }, customer: { name: 'Ana' }, metadata: '{"pedido":1}' };
      const tokens = await Promise.all(
        Array.from({ length: 8 }, () => core.checkoutTokens.create(core.tenant, null, input)),
      );
      for (const { token } of tokens) expect(token).toMatch(/^ps_checkout_[A-Za-z0-9_-]{43}$/);
      expect(new Set(tokens.map(({ token }) => token)).size).toBe(8);
    });

    test('A checkout token expires at its instant, not a millisecond before; a reusable one only ends when it is revoked', async () => {
      const core = await startCore({ database, follows: false });
      const day = await core.checkoutTokens.create(core.tenant, null, { amount: { fixedCents: 500 } });
      const minute = await core.checkoutTokens.create(core.tenant, null, {
        amount: { fixedCents: 500 },
        reusable: true,
        expiresInSeconds: 60,
      });
      const forever = await core.checkoutTokens.create(core.tenant, null, {
        amount: { fixedCents: 500 },
        reusable: true,
      });
      expect(forever.expiresAt).toBeNull();
      core.clock.advance(60_000 - 1);
      await core.access.authenticate(`Bearer ${minute.token}`);
      core.clock.advance(1);
      await refused(core, minute.token);
      core.clock.advance(DAY - 60_000 - 1);
      await core.access.authenticate(`Bearer ${day.token}`);
      core.clock.advance(1);
      await refused(core, day.token);
      core.clock.advance(1_000 * DAY);
      expect((await core.access.authenticate(`Bearer ${forever.token}`)).expiresAt).toBeNull();
    });

    test('A checkout token is revoked once, by its own account, and the revocation is an event', async () => {
      const [core, other] = [await startCore({ database }), await startCore({ database })];
      const { token } = await core.checkoutTokens.create(core.tenant, null, {
        amount: { fixedCents: 500 },
      });
      await expect(other.access.revokeToken(other.tenant, token)).rejects.toBeInstanceOf(NotFoundError);
      const sandbox = { ...core.tenant, environment: 'sandbox' } as const;
      await expect(core.access.revokeToken(sandbox, token)).rejects.toBeInstanceOf(NotFoundError);
      const { credential } = await core.access.authenticate(`Bearer ${token}`);

      const revoked = await Promise.all([1, 2, 3].map(() => core.access.revokeToken(core.tenant, token)));
      expect(revoked.filter(({ replayed }) => !replayed)).toHaveLength(1);
      expect(new Set(revoked.map(({ tokenId }) => tokenId)).size).toBe(1);
      await refused(core, token);
      const { events } = await readAfter(database.sql, core.tenant, { after: 0, limit: 10 });
      expect(events).toMatchObject([{ kind: 'credential.revoked', resourceId: credential.id, version: 1 }]);
    });

    test.each(['', 'ps_checkout_unknown', 'with \u0000', 'ps_live_test'])(
      'A token that does not exist cannot be revoked: %j',
      async (token) => {
        const core = await startCore({ database });
        await expect(core.access.revokeToken(core.tenant, token)).rejects.toBeInstanceOf(NotFoundError);
      },
    );

    test('A payment token outlives its payment by days, reads it alone, and cannot be revoked by the merchant', async () => {
      const core = await startCore({ database });
      const { payment } = await core.cardPayments.create(core.tenant, { valueCents: 500 });
      const token = await core.access.createPaymentToken(core.tenant, { orderCode: payment.orderCode });
      expect((await core.access.authenticate(`Bearer ${token}`)).credential).toMatchObject({
        kind: 'payment_token',
        orderCode: payment.orderCode,
      });
      await expect(core.access.revokeToken(core.tenant, token)).rejects.toBeInstanceOf(NotFoundError);
      core.clock.advance(7 * DAY - 1);
      await core.access.authenticate(`Bearer ${token}`);
      core.clock.advance(1);
      await refused(core, token);
    });
  });

  describe('let in with what they were given', () => {
    const DETAILS = {
      description: 'Caneca',
      customer: { name: 'Ana' },
      metadata: '{"pedido":1}',
      successUrl: 'https://shop.example/ok',
    };
    const PAGES = ['https://shop.example/', 'http://localhost:3000'];
    const ORIGINS = ['https://shop.example', 'http://localhost:3000'];

    test.each([
      [{ fixedCents: 500 }, { kind: 'fixed', cents: 500 }],
      [
        { fixedCents: null, range: { minCents: 100, maxCents: 200 } },
        { kind: 'range', minCents: 100, maxCents: 200 },
      ],
    ] as const)('A checkout token carries its grant: %j', async (amount, granted) => {
      const core = await startCore({ database });
      const { id } = await issueKey(core, 'live');
      const { token, expiresAt } = await core.checkoutTokens.create(core.tenant, id, {
        amount,
        ...DETAILS,
        reusable: null,
        allowedOrigins: PAGES,
        expiresInSeconds: 60,
      });
      expect(expiresAt).toEqual(plusMs(core.clock.now(), 60_000));
      const caller = await core.access.authenticate(`Bearer ${token}`);
      expect(caller).toEqual({
        tenant: core.tenant,
        credential: {
          kind: 'checkout_token',
          id: expect.stringMatching(/^tok_[0-9a-f]{24}$/),
          grant: { ...DETAILS, amount: granted, reusable: false },
        },
        allowedOrigins: ORIGINS,
        expiresAt,
        trustedDocumentsOnly: false,
        endsWith: [caller.credential.id, id],
      });
    });

    test('A checkout token for a product is only minted for an existing one', async () => {
      const core = await startCore({ database });
      const product = await core.products.create(core.tenant, { name: 'Caneca', priceCents: 500 });
      const { token } = await core.checkoutTokens.create(core.tenant, null, {
        amount: { productId: product.id },
        reusable: true,
      });
      const caller = await core.access.authenticate(`Bearer ${token}`);
      expect(caller).toMatchObject({
        credential: { grant: { amount: { kind: 'product', productId: product.id }, reusable: true } },
        allowedOrigins: [],
        endsWith: [caller.credential.id],
      });
      await expect(
        core.checkoutTokens.create(core.tenant, null, { amount: { productId: objectId() } }),
      ).rejects.toBeInstanceOf(NotFoundError);
    });

    test('A checkout token is only minted where the account takes cards', async () => {
      const core = await startCore({ database, account: { cardPaymentsEnabled: false } });
      await expect(
        core.checkoutTokens.create(core.tenant, null, { amount: { fixedCents: 500 } }),
      ).rejects.toMatchObject({ code: 'CARD_PAYMENTS_NOT_CONFIGURED' });
      await expect(
        core.checkoutTokens.create({ ...core.tenant, environment: 'sandbox' }, null, {
          amount: { fixedCents: 500 },
        }),
      ).rejects.toMatchObject({ code: 'NOT_IN_SANDBOX' });
    });

    test('A dashboard token lives for an hour, or as long as is asked', async () => {
      const core = await startCore({ database });
      const { id } = await issueKey(core, 'live');
      const { token, expiresAt } = await core.access.createDashboardToken(core.tenant, id, {
        scopes: ['wallet', 'payouts'],
        allowedOrigins: PAGES,
      });
      expect(token).toMatch(/^ps_dashboard_/);
      expect(expiresAt).toEqual(plusMs(core.clock.now(), 3_600_000));
      const caller = await core.access.authenticate(`Bearer ${token}`);
      expect(caller).toEqual({
        tenant: core.tenant,
        credential: { kind: 'dashboard_token', id: caller.credential.id, scopes: ['wallet', 'payouts'] },
        allowedOrigins: ORIGINS,
        expiresAt,
        trustedDocumentsOnly: false,
        endsWith: [caller.credential.id, id],
      });
      const short = await core.access.createDashboardToken(core.tenant, id, {
        scopes: ['wallet'],
        expiresInSeconds: 60,
      });
      expect(short.expiresAt).toEqual(plusMs(core.clock.now(), 60_000));
      await core.access.revokeToken(core.tenant, token);
      await refused(core, token);
    });

    test('A payment token carries its order code', async () => {
      const core = await startCore({ database });
      const token = await core.access.createPaymentToken(core.tenant, { orderCode: 'PSC-1' });
      expect(token).toMatch(/^ps_payment_/);
      const caller = await core.access.authenticate(`Bearer ${token}`);
      expect(caller).toEqual({
        tenant: core.tenant,
        credential: { kind: 'payment_token', id: caller.credential.id, orderCode: 'PSC-1' },
        allowedOrigins: [],
        expiresAt: plusMs(core.clock.now(), 7 * DAY),
        trustedDocumentsOnly: false,
        endsWith: [caller.credential.id],
      });
    });
  });

  test('Only the configured keys are valid, and none in an environment without one', async () => {
    const core = await startCore({ database });
    const { committer, clock } = core;
    const [live, other, sandbox] = [
      await issueKey(core, 'live', ['subcontas.sacar']),
      await issueKey(core, 'live'),
      await issueKey(core, 'sandbox'),
    ];
    const mine = createAccessService({
      database,
      committer,
      clock,
      configuredKeys: { live: live.key },
    });
    // Only the service knows what a key permits.
    expect((await mine.authenticate(`Bearer ${live.key}`)).credential).toEqual({
      kind: 'api_key',
      id: live.id,
      permissions: null,
    });
    for (const { key } of [other, sandbox])
      await expect(mine.authenticate(`Bearer ${key}`)).rejects.toBeInstanceOf(UnauthenticatedError);

    const token = await core.access.createPaymentToken(core.tenant, { orderCode: 'PSC-1' });
    expect((await mine.authenticate(`Bearer ${token}`)).tenant).toEqual(core.tenant);
    const inSandbox = await core.access.createPaymentToken(
      { ...core.tenant, environment: 'sandbox' },
      { orderCode: 'PSC-1' },
    );
    expect((await core.access.authenticate(`Bearer ${inSandbox}`)).tenant.environment).toBe('sandbox');
    await expect(mine.authenticate(`Bearer ${inSandbox}`)).rejects.toBeInstanceOf(UnauthenticatedError);
  });

  // ── Builders ──────────────────────────────────────────────────────────────────────────────────

  async function issueKey(
    core: Core,
    environment: Environment,
    permissions: Permission[] = [],
  ): Promise<{ id: string; key: string }> {
    const [id, key] = [`key_${objectId()}`, secret(environment === 'live' ? 'ps_live_' : 'ps_test_')];
    await insertApiKey(
      database.sql,
      { ...core.tenant, environment },
      { id, secretHash: hashSecret(key), permissions, createdAt: core.clock.now() },
    );
    return { id, key };
  }
});

describeOnDatabase('the first account', (open) => {
  test('The first account is created once, with a valid key for each environment', async () => {
    const database = await open();
    const clock = createManualClock();
    const longest = `ps_live_${'k'.repeat(200)}`;
    const { firstKeys: made } = await bootstrap({ database, clock, name: 'Loja', keys: { live: longest } });
    expect(made).toMatchObject({ live: longest, sandbox: expect.stringMatching(/^ps_test_.{43}$/) });
    expect(
      (await bootstrap({ database, clock, name: 'Loja', keys: { live: longest } })).firstKeys,
    ).toBeNull();
    const committer = createCommitter({ database, clock, onCommit: () => undefined });
    const access = createAccessService({ database, committer, clock });
    for (const environment of ['live', 'sandbox'] as const)
      expect((await access.authenticate(`bearer  ${made![environment]}`)).tenant).toEqual({
        accountId: made!.accountId,
        environment,
      });
  });
});

describeOnDatabase('the key of the cursors', (open) => {
  test('The cursor key is created once, and differs from database to database', async () => {
    const clock = createManualClock();
    const databases = await Promise.all([open(), open()]);
    const keyOf = async (database: Database) =>
      Buffer.from((await bootstrap({ database, clock, name: 'Loja', keys: {} })).cursorKey).toString('hex');
    const [one, two] = await Promise.all(databases.map(keyOf));
    expect(one).toMatch(/^[0-9a-f]{32}$/);
    expect(two).not.toBe(one);
    expect(await Promise.all(databases.map(keyOf))).toEqual([one, two]);
  });
});

describe('two instances that start at once on one empty PostgreSQL', () => {
  test('Two instances that start at once create one account and one cursor key', async () => {
    const databaseUrl = await takePostgresDatabase();
    const clock = createManualClock();
    const databases = await Promise.all([0, 1].map(() => connectTo(databaseUrl, clock)));
    const [one, two] = await Promise.all(
      databases.map((database) => bootstrap({ database, clock, name: 'Loja', keys: {} })),
    );
    expect([one!.firstKeys, two!.firstKeys].filter((keys) => keys !== null)).toHaveLength(1);
    expect(Buffer.from(one!.cursorKey)).toEqual(Buffer.from(two!.cursorKey));
    expect(await databases[0]!.sql.selectFrom('account').selectAll().execute()).toHaveLength(1);
    await Promise.all(databases.map((database) => database.close()));
  });
});

describe('secrets', () => {
  test('Secrets of any lengths are compared', () => {
    expect(equalSecrets('ps_live_a', 'ps_live_a')).toBe(true);
    for (const other of ['', 'ps_live_', 'ps_live_b', 'ps_live_aa', 'PS_LIVE_A', 'é']) {
      expect(equalSecrets('ps_live_a', other)).toBe(false);
      expect(equalSecrets(other, 'ps_live_a')).toBe(false);
    }
    expect(equalSecrets('', '')).toBe(true);
  });

  test('The prefix of a key shows its environment', () => {
    expect(['ps_live_x', 'ps_test_x', 'ps_checkout_x', 'x', 'PS_LIVE_x'].map(environmentOfKey)).toEqual([
      'live',
      'sandbox',
      null,
      null,
      null,
    ]);
  });

  test('A credential is read from every valid form of the header', () => {
    expect(['Bearer abc', 'bearer abc', 'BEARER   abc'].map(bearer)).toEqual(['abc', 'abc', 'abc']);
  });
});

async function refused(core: Core, credential: string): Promise<void> {
  await expect(core.access.authenticate(`Bearer ${credential}`)).rejects.toBeInstanceOf(UnauthenticatedError);
}

/** Every row of every table, as text. */
async function dump(database: Database): Promise<string> {
  const { rows: tables } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables where table_schema = 'public'
  `.execute(database.sql);
  expect(tables.length).toBeGreaterThan(10);
  const contents = await Promise.all(
    tables.map(async ({ name }) => {
      const { rows } = await sql<{ row: string }>`select t::text as row from ${sql.table(name)} t`.execute(
        database.sql,
      );
      return rows.map(({ row }) => row).join('\n');
    }),
  );
  return contents.join('\n');
}
