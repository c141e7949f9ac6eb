import { expect, test } from 'vitest';
import { plusMs } from '../../../server/src/kernel/clock.ts';
import type { ListRange } from '../../../server/src/kernel/list-range.ts';
import type { ChargeFilter, CreateChargeInput } from '../../../server/src/money-in/charges/model.ts';
import { txidOf } from '../../../server/src/money-in/pix/model.ts';
import type { PortFixture, StartPortFixture } from '../../support/port-fixture.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;
/** A time beyond the life of a response that a facade caches for a merchant. */
const KEPT = 2 * SECOND;

/** The contract of reading charges, for every implementation of their port. Charges are created at the service. */
export function describePort(start: StartPortFixture): void {
  test('A charge is found as it was created, with its code, by its merchant alone', async () => {
    const [merchant, other] = [await start(), await start()];
    const { charges, tenant } = merchant;
    const details = { description: 'Aula 🎸', metadata: ' {"aluno": "\\u0000 1"} ' };
    const { chargeId, brCode, createdAt, expiresAt } = await create(merchant, details);
    expect(chargeId).toMatch(/^psc_[0-9a-f]{32}$/);
    expect(expiresAt).toEqual(plusMs(createdAt, DAY));
    const found = await charges.find(tenant, chargeId);
    expect(found).toMatchObject({
      ...details,
      chargeId,
      brCode,
      createdAt,
      expiresAt,
      status: 'pending',
      splits: [],
      amountCents: 4990,
      feeCents: 0,
      refundedCents: 0,
      refundingCents: 0,
      returnedCredits: [],
      paidAt: null,
      endToEndId: null,
      failureReason: null,
    });
    expect(found?.txid ?? txidOf(chargeId)).toBe(txidOf(chargeId));
    expect((await merchant.events('charge')).map(({ snapshot }) => snapshot)).toEqual([found]);
    expect((await charges.findWithVersion(tenant, chargeId))?.resource).toEqual(found);

    const sandbox = merchant.inSandbox();
    for (const each of [other, sandbox]) {
      expect(await each.charges.find(each.tenant, chargeId)).toBeNull();
      expect(await each.charges.findWithVersion(each.tenant, chargeId)).toBeNull();
    }
  });

  test('Charges are found in the order of the ids, and none under a text that is no id', async () => {
    const merchant = await start();
    const { charges, tenant } = merchant;
    const [first, second] = [await create(merchant), await create(merchant)].map(({ chargeId }) => chargeId);
    const none = ['', 'psc_', 'nothing', 'with \u0000', `psc_${'0'.repeat(32)}`, `psplit_${txidOf(first!)}`];
    const found = await charges.findMany(tenant, [second!, ...none, first!, second!]);
    expect(found.map((charge) => charge?.chargeId ?? null)).toEqual([
      ...[second, ...none.map(() => null), first, second],
    ]);
    expect(() => charges.assertId(first!)).not.toThrow();
    for (const text of ['', 'PSC-1', 'psa_0123', 'psc_ 1', 'psplit_'])
      expect(() => charges.assertId(text)).toThrow();
  });

  test.each(['live', 'sandbox'] as const)(
    'A split charge is paid and announced once, with its shares, in %s',
    async (environment) => {
      const account = await start();
      const merchant = environment === 'live' ? account : account.inSandbox();
      const { id } = await subaccount(merchant);
      const { chargeId } = await create(merchant, {
        valueCents: 1_000,
        splits: [{ subaccountId: id, percent: '33.33' }],
      });
      expect(chargeId).toMatch(/^psplit_[0-9a-f]{32}$/);
      await find(merchant, chargeId);
      await pay(merchant, chargeId);
      await merchant.pass(KEPT);
      const shares = [{ subaccountId: id, amountCents: 333, percent: '33.33', refundedCents: 0 }];
      expect(await find(merchant, chargeId)).toMatchObject({ status: 'paid', splits: shares });
      expect(await merchant.wallet.read(merchant.tenant)).toMatchObject({
        balanceCents: 1_000,
        subaccountsBalanceCents: 333,
        withdrawableCents: 667,
      });
      expect(await announced(merchant, chargeId)).toEqual([
        ['pending', null],
        ['paid', 'pending'],
      ]);
      expect(merchant.faults).toEqual([]);
    },
  );

  test('A charge expires, and a late PIX pays it', async () => {
    const merchant = await start();
    const { chargeId } = await create(merchant, { expiresInSeconds: 60 });
    await find(merchant, chargeId);
    await merchant.pass(MINUTE);
    await merchant.pass(KEPT);
    expect(await find(merchant, chargeId)).toMatchObject({ status: 'expired', paidAt: null });
    await pay(merchant, chargeId);
    await merchant.pass(KEPT);
    expect(await find(merchant, chargeId)).toMatchObject({ status: 'paid', paidLate: true });
  });

  test('A split charge shows its refunds, what they have taken, and the credits that were sent back', async () => {
    const merchant = await start();
    const { id } = await subaccount(merchant);
    const { chargeId } = await create(merchant, {
      valueCents: 1_000,
      splits: [{ subaccountId: id, amountCents: 500 }],
    });
    await find(merchant, chargeId);
    await pay(merchant, chargeId, { amountCents: 999 });
    await pay(merchant, chargeId);
    await refund(merchant, chargeId, 200);
    await merchant.pass(KEPT);
    expect(await find(merchant, chargeId)).toMatchObject({
      status: 'paid',
      refundedCents: 200,
      refundingCents: 0,
      splits: [{ subaccountId: id, amountCents: 500, percent: null, refundedCents: 100 }],
      returnedCredits: [{ amountCents: 999, cause: 'amount_mismatch', returnedAt: expect.any(Date) }],
    });
    await refund(merchant, chargeId);
    await merchant.pass(KEPT);
    expect(await find(merchant, chargeId)).toMatchObject({
      status: 'refunded',
      refundedCents: 1_000,
      splits: [{ refundedCents: 500 }],
    });
    expect(await merchant.wallet.read(merchant.tenant)).toMatchObject({ balanceCents: 0 });
  });

  test('Charges are listed newest first, in both directions, by status, kind and period', async () => {
    const merchant = await start();
    const { charges, tenant } = merchant;
    const { id } = await subaccount(merchant);
    const splits = [{ subaccountId: id, amountCents: 1 }];
    const made = [];
    for (const input of [{}, { splits }, {}, { splits }]) {
      made.unshift(await create(merchant, input));
      await find(merchant, made[0]!.chargeId);
      await merchant.pass(MINUTE);
    }
    const [fourth, third, second, first] = made.map(({ chargeId }) => chargeId);
    const begunAt = made.map(({ createdAt }) => createdAt);
    await pay(merchant, third!);
    const page = async (range: ListRange & ChargeFilter) => {
      const { items, more } = await charges.list(tenant, range);
      return [items.map(({ resource }) => resource.chargeId), more] as const;
    };
    const listed = async (filter: ChargeFilter) => {
      const [found] = await page({ end: 'first', limit: 10, ...filter });
      expect(await page({ end: 'last', limit: 10, ...filter })).toEqual([found, false]);
      expect(await charges.count(tenant, filter)).toBe(found.length);
      return found;
    };
    expect(await listed({})).toEqual([fourth, third, second, first]);
    expect(await listed({ split: true })).toEqual([fourth, second]);
    expect(await listed({ split: false, status: ['paid'] })).toEqual([third]);
    expect(await listed({ status: [] })).toEqual([]);
    const period = { createdAfter: begunAt[2]!, createdBefore: begunAt[0]! };
    expect(await listed(period)).toEqual([third, second]);
    expect(await listed({ ...period, split: true })).toEqual([second]);
    const { paidAt } = (await find(merchant, third!))!;
    expect(await listed({ paidAfter: paidAt!, paidBefore: plusMs(paidAt!, 1) })).toEqual([third]);
    expect(await listed({ paidBefore: paidAt! })).toEqual([]);
    expect(await listed({ refundedAfter: begunAt[3]! })).toEqual([]);
    expect(await listed({ amountCents: 4990, split: false })).toEqual([third, first]);
    expect(await listed({ ...period, reference: second! })).toEqual([second]);
    expect(await listed({ externalId: 'none' })).toEqual([]);
    expect(await page({ end: 'first', limit: 2 })).toEqual([[fourth, third], true]);
    expect(await page({ end: 'last', limit: 2 })).toEqual([[second, first], true]);
    const { items } = await charges.list(tenant, { end: 'first', limit: 2 });
    const after = items.at(-1)!.position;
    expect(await page({ end: 'first', limit: 1, after })).toEqual([[second], true]);
    expect(await page({ end: 'last', limit: 9, before: after })).toEqual([[fourth], false]);
    const { items: window, total } = await charges.listPage(tenant, { limit: 2, offset: 1 });
    expect([window.map(({ chargeId }) => chargeId), total]).toEqual([[third, second], 4]);
  });
}

async function create({ service }: PortFixture, input: Partial<CreateChargeInput> = {}) {
  return (await service.charges.create(service.tenant, { valueCents: 4990, ...input })).charge;
}

async function subaccount({ service }: PortFixture) {
  return (await service.subaccounts.create(service.tenant, { name: 'Professora' })).subaccount;
}

function find({ charges, tenant }: PortFixture, chargeId: string) {
  return charges.find(tenant, chargeId);
}

async function pay(merchant: PortFixture, chargeId: string, order: { amountCents?: number } = {}) {
  const { service } = merchant;
  await service.pix.pay({ txid: txidOf(chargeId), ...order });
  await service.charges.receive(service.tenant, chargeId);
  await merchant.settled();
}

async function refund(merchant: PortFixture, chargeId: string, amountCents?: number) {
  const { service } = merchant;
  const resource = { type: 'charge', id: chargeId } as const;
  await service.refunds.request(service.tenant, resource, amountCents === undefined ? {} : { amountCents });
  await merchant.pass(KEPT);
}

/** The statuses that subscribers have seen, each with the one before. */
async function announced(merchant: PortFixture, chargeId: string) {
  return (await merchant.events('charge'))
    .filter(({ resourceId }) => resourceId === chargeId)
    .map(({ snapshot, previousStatus }) => [snapshot.status, previousStatus]);
}
