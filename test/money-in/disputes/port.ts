import { expect, test } from 'vitest';
import { plusMs } from '../../../server/src/kernel/clock.ts';
import {
  DISPUTE_STATUSES,
  type DisputeRange,
  type StoredDispute,
} from '../../../server/src/money-in/disputes/model.ts';
import { txidOf } from '../../../server/src/money-in/pix/model.ts';
import { approved } from '../../support/cards.ts';
import type { PortFixture, StartPortFixture } from '../../support/port-fixture.ts';

const DAY = 86_400_000;
/** A time beyond the life of a response that a facade caches. */
const KEPT = 6_000;

/**
 * The contract of reading disputes, for every implementation of their port. The banks of the service open and decide
 * them.
 */
export function describePort(start: StartPortFixture): void {
  test('A dispute is found as the bank has opened it, by its merchant alone', async () => {
    const [merchant, other] = [await start(), await start()];
    const { disputes, tenant, clock } = merchant;
    const [paymentId, orderCode] = [await sellByPix(merchant), await sellByCard(merchant)];
    const byPix = await dispute(merchant, { type: 'payment', id: paymentId }, 1_000);
    const byCard = await dispute(merchant, { type: 'card_payment', id: orderCode }, 9_999);
    const found = await disputes.find(tenant, byPix.disputeId);
    expect(found).toMatchObject({
      disputeId: byPix.disputeId,
      status: 'open',
      reason: 'fraud',
      amountCents: 1_000,
      evidence: [],
      resource: { type: 'payment', id: paymentId },
      createdAt: clock.now(),
      evidenceDueAt: plusMs(clock.now(), 5 * DAY),
      closedAt: null,
    });
    // A dispute holds no more than the payment's amount.
    expect(await disputes.find(tenant, byCard.disputeId)).toMatchObject({
      amountCents: 4990,
      resource: { type: 'card_payment', id: orderCode },
    });
    expect((await disputes.findWithVersion(tenant, byPix.disputeId))?.resource).toEqual(found);
    for (const each of [other, merchant.inSandbox()]) {
      expect(await each.disputes.find(each.tenant, byPix.disputeId)).toBeNull();
      expect(await each.disputes.findWithVersion(each.tenant, byPix.disputeId)).toBeNull();
      expect((await each.disputes.list(each.tenant, { end: 'first', limit: 10 })).items).toEqual([]);
      expect(await each.disputes.count(each.tenant, {})).toBe(0);
    }
  });

  test('Disputes are found in the order of the ids, and none under a text that is no id', async () => {
    const merchant = await start();
    const { disputes, tenant } = merchant;
    const [first, second] = [await open(merchant), await open(merchant)];
    const none = ['', 'dsp_', 'nothing', 'with \u0000', `x' or '1'='1`, `dsp_${'0'.repeat(24)}`];
    const found = await disputes.findMany(tenant, [second, ...none, first, second]);
    expect(found.map((each) => each?.disputeId ?? null)).toEqual([
      ...[second, ...none.map(() => null), first, second],
    ]);
    expect(() => disputes.assertId(first)).not.toThrow();
    for (const text of ['', 'ref_1', 'dsp_ 1']) expect(() => disputes.assertId(text)).toThrow();
  });

  test('A decision of the banks is read and announced once, and what was won or forgiven is final', async () => {
    const merchant = await start();
    const { disputes, tenant, clock, service } = merchant;
    const [won, lost] = [await open(merchant), await open(merchant)];
    await merchant.settled();
    await disputes.findMany(tenant, [won, lost]);
    clock.advance(1_000);
    await service.controls.closeDispute(service.tenant, won, 'won');
    await service.controls.closeDispute(service.tenant, lost, 'lost');
    await merchant.pass(KEPT);
    expect(await disputes.findMany(tenant, [won, lost])).toMatchObject([
      { status: 'won', closedAt: expect.any(Date) },
      { status: 'lost', closedAt: expect.any(Date) },
    ]);
    await service.controls.closeDispute(service.tenant, lost, 'forgiven');
    await merchant.pass(KEPT);
    expect(await disputes.find(tenant, lost)).toMatchObject({ status: 'forgiven' });
    const announced = async (id: string) =>
      (await merchant.events('dispute'))
        .filter(({ resourceId }) => resourceId === id)
        .map(({ kind, previousStatus }) => [kind, previousStatus]);
    expect(await announced(won)).toEqual([
      ['dispute.open', null],
      ['dispute.won', 'open'],
    ]);
    expect(await announced(lost)).toEqual([
      ['dispute.open', null],
      ['dispute.lost', 'open'],
      ['dispute.forgiven', 'lost'],
    ]);
    expect(merchant.faults).toEqual([]);
  });

  test('The list is read in both directions and by status, with its total', async () => {
    const merchant = await start();
    const { disputes, tenant, service } = merchant;
    const ids: string[] = [];
    for (let index = 0; index < 7; index += 1) ids.unshift(await open(merchant));
    await service.controls.closeDispute(service.tenant, ids[2]!, 'lost');
    await service.controls.closeDispute(service.tenant, ids[5]!, 'lost');
    await merchant.settled();
    const page = async (range: Partial<DisputeRange>) => {
      const { items, more } = await disputes.list(tenant, { end: 'first', limit: 3, ...range });
      return {
        ids: items.map(({ resource: { disputeId } }) => disputeId),
        positions: items.map(({ position }) => position),
        more,
      };
    };
    const first = await page({});
    expect(first).toMatchObject({ ids: ids.slice(0, 3), more: true });
    const second = await page({ after: first.positions[2] });
    expect(second).toMatchObject({ ids: ids.slice(3, 6), more: true });
    expect(await page({ after: second.positions[2] })).toMatchObject({ ids: ids.slice(6), more: false });
    expect(await page({ end: 'last', before: second.positions[0] })).toMatchObject({
      ids: ids.slice(0, 3),
      more: false,
    });
    expect(await page({ end: 'last', limit: 2 })).toMatchObject({ ids: ids.slice(5), more: true });
    expect(await page({ status: ['lost'] })).toMatchObject({ ids: [ids[2], ids[5]], more: false });
    expect(await page({ status: [] })).toMatchObject({ ids: [], more: false });
    const now = merchant.clock.now();
    const later = plusMs(now, 1);
    for (const filter of [{ createdAfter: now }, { createdBefore: later }]) {
      expect(await page({ ...filter, limit: 7 })).toMatchObject({ ids, more: false });
      expect(await disputes.count(tenant, { ...filter, status: ['lost'] })).toBe(2);
    }
    const decided = { closedAfter: now, closedBefore: later };
    expect(await page(decided)).toMatchObject({ ids: [ids[2], ids[5]], more: false });
    expect(await disputes.count(tenant, decided)).toBe(2);
    for (const filter of [{ createdAfter: later }, { createdBefore: now }, { closedAfter: later }])
      expect([await page(filter), await disputes.count(tenant, filter)]).toMatchObject([{ ids: [] }, 0]);
    expect(await disputes.count(tenant, {})).toBe(7);
    const counts = await Promise.all(
      DISPUTE_STATUSES.map((status) => disputes.count(tenant, { status: [status] })),
    );
    expect(counts).toEqual([5, 0, 0, 2, 0]);
    const offset = await disputes.listPage(tenant, { limit: 2, offset: 1 });
    expect([offset.items.map(({ disputeId }) => disputeId), offset.total]).toEqual([ids.slice(1, 3), 7]);
    const lost = await disputes.listPage(tenant, { limit: 2, offset: 1, status: ['lost'] });
    expect([lost.items.map(({ disputeId }) => disputeId), lost.total]).toEqual([[ids[5]], 2]);
  });
}

async function open({ service }: PortFixture): Promise<string> {
  return service.controls.openDispute(service.tenant, { amountCents: 300 });
}

async function dispute(
  { service }: PortFixture,
  resource: { type: 'payment' | 'card_payment'; id: string },
  amountCents: number,
): Promise<StoredDispute> {
  return (await service.controls.disputePayment(service.tenant, resource, { amountCents }))!;
}

async function sellByPix({ service }: PortFixture): Promise<string> {
  const { payment } = await service.payments.create(service.tenant, { valueCents: 4990 });
  await service.pix.pay({ txid: txidOf(payment.paymentId) });
  await service.payments.receive(service.tenant, payment.paymentId);
  return payment.paymentId;
}

async function sellByCard({ service }: PortFixture): Promise<string> {
  const { payment } = await service.cardPayments.create(service.tenant, { valueCents: 4990 });
  await service.cardPayments.pay(payment.orderCode, approved());
  return payment.orderCode;
}
