import { beforeAll, expect, test } from 'vitest';
import type { Database } from '../../server/src/db/database.ts';
import {
  IdempotencyError,
  NotFoundError,
  UnavailableError,
  ValidationError,
} from '../../server/src/kernel/errors.ts';
import { ledgerTransaction } from '../../server/src/ledger/postings.ts';
import { post } from '../../server/src/ledger/store.ts';
import { approved } from '../support/cards.ts';
import { type Core, startCore } from '../support/core.ts';
import { describeOnDatabase } from '../support/database.ts';

describeOnDatabase('disputes', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  test('An open dispute blocks its amount', async () => {
    const core = await funded(1_000);
    const id = await core.controls.openDispute(core.tenant, { amountCents: 300 });
    expect(id).toMatch(/^dsp_[0-9a-f]{24}$/);
    expect(await core.wallet.read(core.tenant)).toMatchObject({
      balanceCents: 1_000,
      disputeBlockedCents: 300,
      withdrawableCents: 700,
      assignableCents: 700,
    });
    expect(await core.controls.listDisputes(core.tenant, { limit: 10 })).toEqual([
      { id, amountCents: 300, orderCode: null, status: 'open', createdAt: core.clock.now(), closedAt: null },
    ]);
  });

  test('A dispute can block more than the balance, which then shows nothing to withdraw', async () => {
    const core = await funded(1_000);
    await core.controls.openDispute(core.tenant, { amountCents: 1_001 });
    expect(await core.wallet.read(core.tenant)).toMatchObject({
      balanceCents: 1_000,
      disputeBlockedCents: 1_001,
      withdrawableCents: 0,
      assignableCents: 0,
    });
  });

  test('A won dispute frees its amount; a lost one blocks it until it is forgiven', async () => {
    const core = await funded(1_000);
    const [won, lost] = [await opened(core, 300), await opened(core, 200)];
    const held = async () => (await core.wallet.read(core.tenant)).disputeBlockedCents;
    core.clock.advance(1_000);
    expect(await core.controls.closeDispute(core.tenant, won, 'won')).toMatchObject({
      id: won,
      status: 'won',
      closedAt: core.clock.now(),
    });
    expect(await held()).toBe(200);
    await core.controls.closeDispute(core.tenant, lost, 'lost');
    expect(await held()).toBe(200);
    await core.controls.closeDispute(core.tenant, lost, 'forgiven');
    expect(await held()).toBe(0);
    const listed = await core.controls.listDisputes(core.tenant, { limit: 10 });
    expect(listed.map(({ id, status }) => [id, status])).toEqual([
      [lost, 'forgiven'],
      [won, 'won'],
    ]);
    expect(await core.controls.listDisputes(core.tenant, { limit: 1 })).toHaveLength(1);
  });

  test('A dispute is closed once by several concurrent requests', async () => {
    const core = await funded(1_000);
    const [id] = [await opened(core, 300), await opened(core, 300)];
    await Promise.all([1, 2, 3].map(() => core.controls.closeDispute(core.tenant, id!, 'won')));
    expect((await core.balances()).dispute_hold).toBe(300);
  });

  test.each([
    [[], 'forgiven'],
    [['won'], 'lost'],
    [['won'], 'forgiven'],
    [['lost'], 'won'],
    [['lost', 'forgiven'], 'won'],
    [['lost', 'forgiven'], 'lost'],
  ] as const)('A dispute that was closed as %j never becomes %s', async (way, outcome) => {
    const core = await funded(1_000);
    const id = await opened(core, 300);
    for (const step of way) await core.controls.closeDispute(core.tenant, id, step);
    const before = await core.balances();
    await expect(core.controls.closeDispute(core.tenant, id, outcome)).rejects.toBeInstanceOf(
      ValidationError,
    );
    expect(await core.balances()).toEqual(before);
  });

  test('A dispute names a card payment of its account, or none', async () => {
    const [core, other] = [await funded(1_000), await funded(1_000)];
    const sold = async ({ cardPayments, tenant }: Core) => {
      const { payment } = await cardPayments.create(tenant, { valueCents: 500 });
      await cardPayments.pay(payment.orderCode, approved());
      return payment.orderCode;
    };
    const [own, foreign] = [await sold(core), await sold(other)];
    await core.controls.openDispute(core.tenant, { amountCents: 500, orderCode: own });
    expect(await core.controls.listDisputes(core.tenant, { limit: 1 })).toMatchObject([{ orderCode: own }]);
    for (const orderCode of [foreign, 'nothing'])
      await expect(
        core.controls.openDispute(core.tenant, { amountCents: 500, orderCode }),
      ).rejects.toBeInstanceOf(NotFoundError);
  });

  test('A dispute belongs to its account alone', async () => {
    const [core, other] = [await funded(1_000), await funded(1_000)];
    const id = await opened(core, 300);
    for (const wrong of [id, '', 'x', 'with \u0000'])
      await expect(other.controls.closeDispute(other.tenant, wrong, 'won')).rejects.toBeInstanceOf(
        NotFoundError,
      );
    expect(await other.controls.listDisputes(other.tenant, { limit: 10 })).toEqual([]);
  });

  test('A dispute is opened once under one name', async () => {
    const core = await funded(1_000);
    const ids = await Promise.all(
      [1, 2, 3].map(() => core.controls.openDispute(core.tenant, { amountCents: 300, name: 'med-1' })),
    );
    expect(new Set(ids).size).toBe(1);
    expect((await core.balances()).dispute_hold).toBe(300);
    await expect(
      core.controls.openDispute(core.tenant, { amountCents: 301, name: 'med-1' }),
    ).rejects.toBeInstanceOf(IdempotencyError);
  });

  async function opened(core: Core, amountCents: number): Promise<string> {
    return core.controls.openDispute(core.tenant, { amountCents });
  }

  async function funded(amountCents: number): Promise<Core> {
    const core = await startCore({ database });
    await core.controls.credit(core.tenant, amountCents);
    return core;
  }
});

describeOnDatabase('credits', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  test('A credit covers the merchant’s debt first, and then adds to the balance', async () => {
    const core = await startCore({ database });
    const owed = ledgerTransaction('owed', [
      { from: 'merchant_receivable', to: 'merchant_balance', amount: 700 },
      { from: 'merchant_balance', to: 'paid_out', amount: 700 },
    ]);
    await post(database.sql, core.tenant, [owed], core.clock.now());
    await core.controls.credit(core.tenant, 500);
    expect(await core.balances()).toMatchObject({ merchant_balance: 0, merchant_receivable: -200 });
    await core.controls.credit(core.tenant, 500);
    expect(await core.balances()).toMatchObject({ merchant_balance: 300, merchant_receivable: 0 });
  });

  test('A credit in LTC adds to the LTC balance', async () => {
    const core = await startCore({ database });
    await core.controls.creditLtc(core.tenant, 150_000_000);
    expect(await core.wallet.read(core.tenant)).toMatchObject({
      balanceCents: 0,
      cryptoBalanceLitoshi: 150_000_000,
    });
  });

  test('A credit is made once under one name, and another amount under it is refused', async () => {
    const core = await startCore({ database });
    for (const control of ['credit', 'creditLtc'] as const) {
      const ids = await Promise.all(
        [1, 2, 3].map(() => core.controls[control](core.tenant, 500, { name: 'a' })),
      );
      expect(new Set(ids).size).toBe(1);
      await expect(core.controls[control](core.tenant, 501, { name: 'a' })).rejects.toBeInstanceOf(
        IdempotencyError,
      );
      expect(await core.controls[control](core.tenant, 500)).not.toBe(ids[0]);
    }
    expect(await core.balances()).toMatchObject({ merchant_balance: 1_000, merchant_ltc: 1_000 });
  });

  test.each([0, -1, 1.5, Number.NaN, Number.MAX_SAFE_INTEGER])(
    'A credit of %d is refused',
    async (amount) => {
      const { controls, tenant, balances } = await startCore({ database });
      const before = await balances();
      for (const refused of [
        controls.credit(tenant, amount),
        controls.creditLtc(tenant, amount),
        controls.openDispute(tenant, { amountCents: amount }),
      ])
        await expect(refused).rejects.toBeInstanceOf(ValidationError);
      expect(await balances()).toEqual(before);
    },
  );

  test('A credit is refused where the sum could not be counted', async () => {
    const core = await startCore({ database });
    const amount = Math.floor(Number.MAX_SAFE_INTEGER / 2) - 100;
    const much = ledgerTransaction('much', [
      { from: 'received', to: 'merchant_balance', amount },
      { from: 'ltc_received', to: 'merchant_ltc', amount },
      { from: 'dispute_claims', to: 'dispute_hold', amount },
    ]);
    await post(database.sql, core.tenant, [much], core.clock.now());
    const { controls, tenant } = core;
    for (const refused of [
      controls.credit(tenant, 101),
      controls.creditLtc(tenant, 101),
      controls.openDispute(tenant, { amountCents: 101 }),
    ])
      await expect(refused).rejects.toMatchObject({ code: 'LIMIT_REACHED' });
    await Promise.all([controls.credit(tenant, 100), controls.openDispute(tenant, { amountCents: 100 })]);
  });

  test('Credits and disputes are refused in sandbox', async () => {
    const { controls, ...core } = await startCore({ database });
    const tenant = { ...core.tenant, environment: 'sandbox' } as const;
    for (const refused of [
      controls.credit(tenant, 100),
      controls.creditLtc(tenant, 100),
      controls.openDispute(tenant, { amountCents: 100 }),
    ]) {
      await expect(refused).rejects.toBeInstanceOf(UnavailableError);
      await expect(refused).rejects.toMatchObject({ code: 'NOT_IN_SANDBOX' });
    }
  });
});
