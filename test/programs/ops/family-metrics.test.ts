import { expect, test } from 'vitest';
import { txidOf } from '../../../server/src/money-in/pix/model.ts';
import { addAccount, addKey } from '../../support/accounts.ts';
import { advanceClock } from '../../support/advance-clock.ts';
import { startApp } from '../../support/app.ts';
import { approved, declined } from '../../support/cards.ts';
import { readMetrics } from '../../support/scrape.ts';

// The counters on which alerts rest: each is increased here by a running server.

const DAY = 24 * 60 * 60_000;

test('/metrics counts what each family of payments has done', async () => {
  const app = await startApp();
  const tenant = { accountId: await addAccount(app), environment: 'live' as const };
  const shop = app.rest(await addKey(app, tenant));
  const post = async (path: string, body: object) => (await shop.post(path, body)).body;
  const pay = async (id: string, settle = () => app.payments.receive(tenant, id) as Promise<unknown>) => {
    await app.pix.pay({ txid: txidOf(id) });
    await settle();
  };

  const { orderCode } = await post('/card-payments', { valueCents: 4_990 });
  await app.cardPayments.pay(orderCode, declined());
  await app.cardPayments.pay(orderCode, approved());

  const { id: productId } = await post('/products', { name: 'Curso', priceCents: 4_990 });
  await post('/deliveries', { productId, content: { codes: ['AAAA-1111'] } });
  const bought = (await post('/payments', { productId })).paymentId;
  await pay(bought);
  await pay(bought);
  await pay((await post('/payments', { productId })).paymentId);
  await post('/payments', { valueCents: 4_990, customer: { email: 'sem-codigo@psa.example' } });

  const dispute = (amountCents: number) =>
    app.controls.disputePayment(tenant, { type: 'payment', id: bought }, { amountCents });
  const first = await dispute(2_000);
  await dispute(1_000);
  await app.controls.closeDispute(tenant, first!.disputeId, 'won');

  const { subscriptionId } = await post('/subscriptions', {
    valueCents: 4_990,
    interval: 'weekly',
    customer: { email: 'nega-uma@psa.example' },
  });
  await pay(subscriptionId, () => app.work.settled());
  await advanceClock(app, 12 * DAY);

  const { ltcAddress } = await post('/payments', { valueCents: 4_990, method: 'ltc' });
  await fetch(`${app.url}/simulator/ltc/${ltcAddress}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: app.url },
    body: JSON.stringify({ confirmations: 2 }),
  });
  await app.work.settled();

  // The bank returns nothing of this payment: neither a credit that pays nothing, nor the merchant's refund.
  const refused = (await post('/payments', { valueCents: 4_990 })).paymentId;
  await pay(refused);
  await app.pix.setReturns(txidOf(refused), 'refused');
  await pay(refused);
  await post(`/payments/${refused}/refunds`, { amountCents: 990 });
  await post(`/card-payments/${orderCode}/refunds`, { amountCents: 990 });
  await app.cardPayments.refund(tenant, orderCode);
  await app.work.settled();

  const scrape = async () => readMetrics(await (await fetch(`${app.url}/metrics`)).text());
  const { value } = await scrape();
  const counted = (name: string, ...labels: Record<string, string>[]) =>
    labels.map((label) => value(`psa_${name}_total`, label));
  expect(counted('cards', { outcome: 'declined' }, { outcome: 'approved' })).toEqual([1, 1]);
  expect(counted('pix_codes', { outcome: 'registered' }, { outcome: 'refused' })).toEqual([4, 1]);
  expect(counted('pix_credits', { outcome: 'accepted' }, { outcome: 'already_paid' })).toEqual([4, 2]);
  expect(counted('product_content', { outcome: 'delivered' }, { outcome: 'out_of_stock' })).toEqual([1, 1]);
  expect(counted('disputes', { change: 'open' }, { change: 'won' })).toEqual([2, 1]);
  expect(counted('subscription_attempts', { outcome: 'failed' }, { outcome: 'paid' })).toEqual([1, 1]);
  expect(counted('ltc_addresses', { outcome: 'ready' })).toEqual([1]);
  expect(counted('ltc_outputs', { outcome: 'credited' })).toEqual([1]);
  expect(counted('pix_returns', { outcome: 'completed' }, { outcome: 'failed' })).toEqual([1, 1]);
  const refund = (of: string, origin: string, outcome: string) => ({ of, origin, outcome });
  expect(
    counted(
      'refunds',
      refund('payment', 'merchant', 'failed'),
      refund('card_payment', 'merchant', 'completed'),
      refund('card_payment', 'automatic', 'completed'),
      // A kind without a failure is there with 0, so that its first failure is an increase.
      refund('charge', 'automatic', 'failed'),
    ),
  ).toEqual([1, 1, 1, 0]);
  expect(counted('ltc_outputs', { outcome: 'unmatched' })).toEqual([0]);

  // The metrics of the database are counted every five seconds.
  await dispute(500);
  let nextDue: number | null = null;
  while (nextDue === null) {
    app.clock.advance(5_000);
    nextDue = (await scrape()).value('psa_tasks_next_due_seconds', { kind: 'dispute.evidence_due' });
  }
  expect(nextDue).toBeGreaterThan((4 * DAY) / 1_000);
  expect(nextDue).toBeLessThanOrEqual((5 * DAY) / 1_000);
  expect(app.faults).toEqual([]);
  await app.close();
});
