import { beforeAll, expect, test } from 'vitest';
import { DAY_MS, plusMs } from '../../../server/src/kernel/clock.ts';
import { IdempotencyError, NotFoundError, ValidationError } from '../../../server/src/kernel/errors.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import { approved } from '../../support/cards.ts';
import { type Core, startCore } from '../../support/core.ts';
import { describeOnDatabase } from '../../support/database.ts';

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
      {
        disputeId: id,
        version: 1,
        amountCents: 300,
        resource: null,
        status: 'open',
        reason: 'fraud',
        evidence: [],
        files: [],
        evidenceDueAt: plusMs(core.clock.now(), 5 * DAY_MS),
        createdAt: core.clock.now(),
        closedAt: null,
        acceptedAt: null,
      },
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
      disputeId: won,
      status: 'won',
      closedAt: core.clock.now(),
    });
    expect(await held()).toBe(200);
    await core.controls.closeDispute(core.tenant, lost, 'lost');
    expect(await held()).toBe(200);
    await core.controls.closeDispute(core.tenant, lost, 'forgiven');
    expect(await held()).toBe(0);
    const listed = await core.controls.listDisputes(core.tenant, { limit: 10 });
    expect(listed.map(({ disputeId, status }) => [disputeId, status])).toEqual([
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
    const named = (id: string) =>
      core.controls.disputePayment(core.tenant, { type: 'card_payment', id }, { amountCents: 500 });
    expect(await named(own)).toMatchObject({ resource: { type: 'card_payment', id: own } });
    for (const orderCode of [foreign, 'nothing'])
      await expect(named(orderCode)).rejects.toBeInstanceOf(NotFoundError);
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
