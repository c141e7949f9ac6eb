import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { firstTenant } from '../../../server/src/access/service.ts';
import type { Tenant } from '../../../server/src/kernel/tenant.ts';
import { addAccount, addKey } from '../../support/accounts.ts';
import { startApp, TEST_KEY, type TestApp } from '../../support/app.ts';
import { fund } from '../../support/funds.ts';
import type { RestAnswer } from '../../support/rest.ts';

const NOWHERE = `sacc_${'0'.repeat(32)}`;
const KEY = 'bia@cliente.example';

let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  app = await startApp();
  tenant = await firstTenant(app.database.sql);
  await fund({ database: app.database, tenant }, { cents: 10_000_000 });
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
});

async function open(cents = 0): Promise<string> {
  const { body } = await app.rest().post('/subaccounts', { name: 'Bia' });
  if (cents > 0) await app.rest().post(`/subaccounts/${body.id}/transfers`, { amountCents: cents });
  return body.id;
}

async function pass(ms: number): Promise<void> {
  app.clock.advance(ms);
  await app.work.settled();
}

const payout = (id: string, body: object = {}): Promise<RestAnswer> =>
  app.rest().post(`/subaccounts/${id}/payout`, { amountCents: 4_000, pixKey: KEY, ...body });

describe('POST and GET /v1/subaccounts', () => {
  test('subaccounts are opened, shown and listed', async () => {
    const created = await app.rest().post('/subaccounts', { name: 'Bia', externalId: 'cliente-1' });
    expect(created).toMatchObject({ status: 201 });
    expect(created.body).toEqual({
      id: expect.stringMatching(/^sacc_[0-9a-f]{32}$/),
      name: 'Bia',
      externalId: 'cliente-1',
      balanceCents: 0,
      createdAt: app.clock.now().toISOString(),
    });
    const again = await app.rest().post('/subaccounts', { name: 'Bia', externalId: 'cliente-1' });
    expect(again).toMatchObject({ status: 200, body: created.body });
    expect(await app.rest().get(`/subaccounts/${created.body.id}`)).toMatchObject({
      status: 200,
      body: created.body,
    });
    await open();
    const list = await app.rest().get('/subaccounts?limit=1&offset=1');
    expect(list).toMatchObject({ status: 200, body: { total: 2, limit: 1, offset: 1 } });
    expect(list.body.subaccounts).toEqual([created.body]);
    expect(await app.rest().post('/subaccounts', { name: 'Ana', externalId: 'cliente-1' })).toMatchObject({
      status: 400,
      body: { error: expect.stringMatching(/^externalId: /) },
    });
  });

  test('a bad subaccount is refused by the name of the field', async () => {
    for (const [given, field] of [
      [{}, 'name'],
      [{ name: '' }, 'name'],
      [{ name: '  ' }, 'name'],
      [{ name: null }, 'name'],
      [{ name: 'x'.repeat(201) }, 'name'],
      [{ name: 'a\u0000' }, 'name'],
      [{ name: '\ud83e' }, 'name'],
      [{ name: 5 }, 'name'],
      [{ name: 'Bia', externalId: '' }, 'externalId'],
      [{ name: 'Bia', externalId: 'x'.repeat(201) }, 'externalId'],
    ] as const) {
      const { status, body } = await app.rest().post('/subaccounts', given);
      expect([given, status, body.error]).toEqual([given, 400, expect.stringMatching(`^${field}: `)]);
    }
  });
});

describe('POST /v1/subaccounts/{id}/transfers and GET …/statement', () => {
  test('transfers move money once for a key, and are shown in the statement', async () => {
    const id = await open();
    const input = { amountCents: 4_000, idempotencyKey: `repasse-${id}` };
    const given = await app.rest().post(`/subaccounts/${id}/transfers`, input);
    expect(given.status).toBe(201);
    expect(given.body).toEqual({
      subaccountId: id,
      kind: 'transfer_in',
      refId: expect.stringMatching(/^rep_[0-9a-f]{32}$/),
      amountCents: 4_000,
      balanceAfterCents: 4_000,
      createdAt: app.clock.now().toISOString(),
    });
    expect(await app.rest().post(`/subaccounts/${id}/transfers`, input)).toMatchObject({
      status: 201,
      body: given.body,
    });
    expect(
      await app.rest().post(`/subaccounts/${id}/transfers`, { ...input, amountCents: 4_001 }),
    ).toMatchObject({ status: 409 });
    const { subaccountId: _, ...entry } = given.body;
    expect((await app.rest().get(`/subaccounts/${id}/statement`)).body).toEqual({
      entries: [entry],
      total: 1,
      limit: 50,
      offset: 0,
    });
    expect((await app.rest().get(`/subaccounts/${id}`)).body.balanceCents).toBe(4_000);
    expect((await app.rest().get('/wallet')).body.subaccountsBalance).toBeGreaterThanOrEqual(40);
  });

  test('a transfer above what can be withdrawn is refused with a reason', async () => {
    const { body, status } = await app
      .rest()
      .post(`/subaccounts/${await open()}/transfers`, { amountCents: 99_000_000 });
    expect(status).toBe(400);
    expect(body.error).toContain('R$ 990.000,00');
  });
});

describe('POST /v1/subaccounts/{id}/payout', () => {
  test('a payout is answered by 201 with the withdrawal and its code, and the same for the same key', async () => {
    const id = await open(10_000);
    const requested = await payout(id, { idempotencyKey: `saque-${id}` });
    expect(requested).toMatchObject({ status: 201 });
    expect(requested.body).toEqual({
      withdrawal: { id: expect.stringMatching(/^[0-9a-f]{24}$/) },
      code: expect.stringMatching(/^TURBO-[0-9A-Z]+$/),
      status: 'processing',
      reversed: false,
      failureReason: null,
    });
    expect(await payout(id, { idempotencyKey: `saque-${id}` })).toMatchObject({
      status: 201,
      body: requested.body,
    });
    expect(await payout(id, { idempotencyKey: `saque-${id}`, amountCents: 4_001 })).toMatchObject({
      status: 409,
    });
    expect((await app.rest().get(`/subaccounts/${id}`)).body.balanceCents).toBe(6_000);
  });

  test('a payout under verification is answered by 202 with its code', async () => {
    const id = await open(10_000);
    expect(await payout(id, { pixKey: 'verifica@psa.example' })).toMatchObject({
      status: 202,
      body: {
        withdrawal: { id: expect.any(String) },
        code: expect.stringMatching(/^TURBO-/),
        status: 'processing',
      },
    });
  });

  test('a payout that is refused before the bank is answered with a SUB code, the reason, and whether the money is back', async () => {
    const id = await open(10_000);
    const { status, body } = await payout(id, { pixKey: 'recusa@psa.example' });
    expect(status).toBe(201);
    expect(body).toEqual({
      withdrawal: { id: null },
      code: expect.stringMatching(/^SUB-[0-9A-Z]+$/),
      status: 'failed',
      reversed: false,
      failureReason: 'Destino bloqueado pela análise de segurança',
    });
  });

  test('a bad payout is refused by the name of the field, and debits nothing', async () => {
    const id = await open(10_000);
    for (const [wrong, field] of [
      [{ amountCents: undefined }, 'amountCents'],
      [{ amountCents: null }, 'amountCents'],
      [{ amountCents: 0 }, 'amountCents'],
      [{ amountCents: -1 }, 'amountCents'],
      [{ amountCents: 1.5 }, 'amountCents'],
      [{ amountCents: '4000' }, 'amountCents'],
      [{ amountCents: 2 ** 53 }, 'amountCents'],
      [{ amountCents: 150 }, 'amountCents'],
      [{ pixKey: undefined }, 'pixKey'],
      [{ pixKey: '' }, 'pixKey'],
      [{ pixKey: '529.982.247-26' }, 'pixKey'],
      [{ pixKey: 'a\u0000@b.example' }, 'pixKey'],
      [{ pixKey: 5 }, 'pixKey'],
      [{ idempotencyKey: '' }, 'idempotencyKey'],
      [{ idempotencyKey: 'a b ' }, 'idempotencyKey'],
      [{ idempotencyKey: 'k'.repeat(129) }, 'idempotencyKey'],
    ] as const) {
      const { status, body } = await payout(id, wrong);
      expect([wrong, status, body.error]).toEqual([wrong, 400, expect.stringMatching(`^${field}: `)]);
    }
    expect((await app.rest().get(`/subaccounts/${id}`)).body.balanceCents).toBe(10_000);
  });

  test('a payout above the subaccount’s balance is refused, with the reason', async () => {
    const { status, body } = await payout(await open(1_000));
    expect(status).toBe(400);
    expect(body.error).toMatch(/R\$ 40,00.*R\$ 10,00/);
  });

  test('a payout with a test key is not found', async () => {
    const sandbox = app.rest(TEST_KEY);
    const { body } = await sandbox.post('/subaccounts', { name: 'Teste' });
    expect(
      await sandbox.post(`/subaccounts/${body.id}/payout`, { amountCents: 4_000, pixKey: KEY }),
    ).toMatchObject({ status: 403, body: { error: 'Subaccount payouts are not available in sandbox' } });
  });
});

describe('GET /v1/subaccounts/{id}/payouts/{payoutId} (4.1)', () => {
  test('a payout is shown as the object of 2.2, the same by every form, from its request to its end', async () => {
    const id = await open(10_000);
    const requestedAt = app.clock.now().toISOString();
    const { body: requested } = await payout(id, { idempotencyKey: `fim-${id}` });
    const references = [requested.withdrawal.id, requested.code, `saq_idem_fim-${id}`];
    const processing = {
      payoutId: `saq_idem_fim-${id}`,
      withdrawalId: requested.withdrawal.id,
      code: requested.code,
      subaccountId: id,
      status: 'processing',
      reversed: false,
      amountCents: 4_000,
      feeCents: 50,
      platformFeeCents: 100,
      netAmountCents: 3_850,
      pixKey: 'b***@cliente.example',
      endToEndId: null,
      recipientName: null,
      recipientBankName: null,
      failureReason: null,
      createdAt: requestedAt,
      completedAt: null,
      reversedAt: null,
      destinationKind: 'email',
    };
    for (const reference of references) {
      const answer = await app.rest().get(`/subaccounts/${id}/payouts/${encodeURIComponent(reference)}`);
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual(processing);
    }
    expect(Object.keys((await app.rest().get(`/subaccounts/${id}/payouts/${references[0]}`)).body)).toEqual(
      Object.keys(processing),
    );
    await pass(2_000);
    expect((await app.rest().get(`/subaccounts/${id}/payouts/${references[0]}`)).body).toEqual({
      ...processing,
      status: 'completed',
      endToEndId: expect.stringMatching(/^E\w{31}$/),
      recipientName: expect.any(String),
      recipientBankName: expect.any(String),
      completedAt: app.clock.now().toISOString(),
    });
  });

  test('a payout has the number of its request, and none where the request had none', async () => {
    const id = await open(10_000);
    const { body: requested } = await payout(id, { externalId: 'saque 7/2026' });
    const { body } = await app.rest().get(`/subaccounts/${id}/payouts/${requested.code}`);
    expect(body).toMatchObject({ code: requested.code, externalId: 'saque 7/2026' });
    expect((await app.rest().get(`/subaccounts/${id}/payouts`)).body.payouts).toEqual([body]);
    expect(await payout(id, { externalId: '' })).toMatchObject({ status: 400 });
  });

  test('a payout that was refused before the bank, then its reversal, is shown by the SUB code and the saq_ reference', async () => {
    const id = await open(10_000);
    const { body: requested } = await payout(id, { pixKey: 'recusa@psa.example' });
    const { body: failed } = await app.rest().get(`/subaccounts/${id}/payouts/${requested.code}`);
    expect(failed).toMatchObject({
      payoutId: expect.stringMatching(/^saq_[0-9a-f]{32}$/),
      withdrawalId: null,
      code: requested.code,
      status: 'failed',
      reversed: false,
      amountCents: 4_000,
      platformFeeCents: null,
      netAmountCents: null,
      failureReason: expect.any(String),
    });
    await pass(2_000);
    const reversed = { ...failed, reversed: true, reversedAt: app.clock.now().toISOString() };
    for (const reference of [requested.code, failed.payoutId])
      expect((await app.rest().get(`/subaccounts/${id}/payouts/${reference}`)).body).toEqual(reversed);
    expect((await app.rest().get(`/subaccounts/${id}/payouts?limit=1`)).body).toEqual({
      payouts: [reversed],
      total: 1,
      limit: 1,
      offset: 0,
    });
    const { body: statement } = await app.rest().get(`/subaccounts/${id}/statement`);
    expect(
      statement.entries.map(({ kind, refId }: { kind: string; refId: string }) => [kind, refId]),
    ).toEqual([
      ['payout_reversal', requested.code],
      ['payout', failed.payoutId],
      ['transfer_in', expect.any(String)],
    ]);
  });

  test('a text that is no id is answered by 400, on every path', async () => {
    for (const id of ['sacc_', 'x', `sacc_${'0'.repeat(31)}`, `sacc_${'g'.repeat(32)}`])
      for (const path of ['', '/statement', '/payouts', '/payouts/saq_x'])
        expect(await app.rest().get(`/subaccounts/${id}${path}`)).toMatchObject({
          status: 400,
          body: { error: expect.stringMatching(/^id: /) },
        });
    const wrong = [
      'x',
      'saq_',
      'TURBO-',
      'SUB-',
      'SAQ-123',
      'a'.repeat(23),
      'a'.repeat(25),
      'saq_%00',
      'saq_a%20b',
      'saq_x',
    ];
    for (const reference of wrong) {
      const { status, body } = await app.rest().get(`/subaccounts/${NOWHERE}/payouts/${reference}`);
      expect([reference, status, body.error]).toEqual([reference, 400, expect.stringMatching(/^payoutId: /)]);
    }
  });

  test('a payout that is missing, another’s, or another environment’s is answered by 404', async () => {
    const [id, sibling] = [await open(10_000), await open()];
    const { body: requested } = await payout(id);
    const other = app.rest(await addKey(app, { accountId: await addAccount(app) }));
    const sandbox = app.rest(TEST_KEY);
    const noSubaccount = { status: 404, body: { error: 'Subaccount not found' } };
    const noPayout = { status: 404, body: { error: 'Payout not found' } };

    expect(await app.rest().get(`/subaccounts/${NOWHERE}/payouts/${requested.code}`)).toMatchObject(
      noSubaccount,
    );
    expect(await other.get(`/subaccounts/${id}/payouts/${requested.code}`)).toMatchObject(noSubaccount);
    expect(await sandbox.get(`/subaccounts/${id}/payouts/${requested.code}`)).toMatchObject(noSubaccount);
    expect(await app.rest().get(`/subaccounts/${sibling}/payouts/${requested.code}`)).toMatchObject(noPayout);
    for (const reference of ['a'.repeat(24), 'TURBO-0', 'SUB-0', 'saq_idem_x', `saq_${'0'.repeat(32)}`])
      expect(await app.rest().get(`/subaccounts/${id}/payouts/${reference}`)).toMatchObject(noPayout);
    const { body: test } = await sandbox.post('/subaccounts', { name: 'Teste' });
    expect(await sandbox.get(`/subaccounts/${test.id}/payouts/${requested.code}`)).toMatchObject(noPayout);
    for (const path of ['', '/statement', '/payouts']) {
      expect(await other.get(`/subaccounts/${id}${path}`)).toMatchObject(noSubaccount);
      expect(await sandbox.get(`/subaccounts/${id}${path}`)).toMatchObject(noSubaccount);
    }
    const amountCents = 4_000;
    expect(await other.post(`/subaccounts/${id}/transfers`, { amountCents })).toMatchObject(noSubaccount);
    expect(await other.post(`/subaccounts/${id}/payout`, { amountCents, pixKey: KEY })).toMatchObject(
      noSubaccount,
    );
  });
});

test('a key may do what its permissions say, and no more', async () => {
  const id = await open(20_000);
  const { body: requested } = await payout(id);
  const [manages, withdraws] = [
    app.rest(await addKey(app, { permissions: ['subcontas.gerenciar'] })),
    app.rest(await addKey(app, { permissions: ['subcontas.sacar'] })),
  ];
  const managing = [
    () => ['post', '/subaccounts', { name: 'x' }] as const,
    () => ['get', '/subaccounts'] as const,
    () => ['get', `/subaccounts/${id}`] as const,
    () => ['get', `/subaccounts/${id}/statement`] as const,
    () => ['post', `/subaccounts/${id}/transfers`, { amountCents: 1 }] as const,
  ].map((make) => make());
  const withdrawing = [
    ['post', `/subaccounts/${id}/payout`, { amountCents: 4_000, pixKey: KEY }] as const,
    ['get', `/subaccounts/${id}/payouts`] as const,
    ['get', `/subaccounts/${id}/payouts/${requested.code}`] as const,
  ];
  for (const [method, path, body] of [...managing, ...withdrawing])
    expect((await manages[method](path, body)).status).toBeLessThan(300);
  for (const [method, path, body] of withdrawing)
    expect((await withdraws[method](path, body)).status).toBeLessThan(300);
  for (const [method, path, body] of managing)
    expect(await withdraws[method](path, body)).toMatchObject({
      status: 403,
      body: { error: expect.stringContaining('subcontas.gerenciar') },
    });
  expect((await manages.get('/wallet')).status).toBe(403);
  // The permission is checked before the id.
  expect((await withdraws.get('/subaccounts/x')).status).toBe(403);
});
