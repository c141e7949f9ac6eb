import type { Tenant } from '../../server/src/kernel/tenant.ts';
import { txidOf } from '../../server/src/money-in/pix/model.ts';
import { createSimulatedBank } from '../../server/src/rails/simulated/bank.ts';
import { post } from '../../server/src/state/ledger/store.ts';
import { addAccount, addKey } from './accounts.ts';
import type { TestApp } from './app.ts';
import { approved, card } from './cards.ts';
import type { GraphQLClient } from './graphql.ts';
import { ledgerTransaction } from './ledger.ts';
import type { RestClient } from './rest.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const NEVER_REFUNDED = '4000000000005126';
/** The bank denies the second one. */
const LTC_ADDRESSES = [
  'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9',
  'ltc1qt6cs9wr2kmrvmchxmdxngrnzj9a6fvawwtxyh3',
];

export interface Merchant {
  key: string;
  client: GraphQLClient;
  rest: RestClient;
  tenant: Tenant;
  names: Record<string, string>;
}

/** Opens an account that sells by every method and pays out for fees. */
export async function openMerchant(app: TestApp): Promise<Merchant> {
  const accountId = await addAccount(app, {
    ...{ cardReleaseDays: 1, pixFeeCents: 50, subaccountMarkupCents: 30, ltcEnabled: true },
    payoutFeesCents: { pix: 100, pix_turbo: 0, ltc: 0, usd: 0 },
  });
  const key = await addKey(app, { accountId });
  const tenant: Tenant = { accountId, environment: 'live' };
  return { key, client: app.client(key), rest: app.rest(key), tenant, names: {} };
}

/** Moves money in every way in which it can move. */
export async function liveAMonth(app: TestApp, { tenant, names, rest }: Merchant): Promise<void> {
  const settle = async (ms = HOUR_MS) => {
    app.clock.advance(ms);
    await app.work.settled();
  };
  await app.controls.credit(tenant, 100_000);
  await app.controls.creditLtc(tenant, 12_000_000);

  const orders = [];
  for (const payer of [approved(), card(NEVER_REFUNDED)]) {
    const { payment } = await app.cardPayments.create(tenant, { valueCents: 5_000 });
    await app.cardPayments.pay(payment.orderCode, payer);
    orders.push(payment.orderCode);
  }
  names.order = orders[0]!;
  const refund = async (path: string, amountCents: number) =>
    (await rest.post(`/${path}/refunds`, { amountCents })).body.refundId as string;
  await refund(`card-payments/${orders[0]}`, 1_000);
  await refund(`card-payments/${orders[1]}`, 2_000);
  await settle(2 * DAY_MS);

  const { payment } = await app.payments.create(tenant, { valueCents: 7_000 });
  names.payment = payment.paymentId;
  await app.pix.pay({ txid: txidOf(payment.paymentId) });
  await app.payments.receive(tenant, payment.paymentId);
  const paid = { type: 'payment', id: payment.paymentId } as const;
  names.refund = await refund(`payments/${payment.paymentId}`, 500);
  await settle();
  const won = (await app.controls.disputePayment(tenant, paid, { amountCents: 900 }))!;
  await app.controls.closeDispute(tenant, won.disputeId, 'won');
  const lost = await app.controls.openDispute(tenant, { amountCents: 400 });
  await app.controls.closeDispute(tenant, lost, 'lost');
  await app.controls.closeDispute(tenant, lost, 'forgiven');
  const kept = await app.controls.openDispute(tenant, { amountCents: 60 });
  await app.controls.closeDispute(tenant, kept, 'lost');

  const { subaccount } = await app.subaccounts.create(tenant, { name: 'Ana' });
  names.subaccount = subaccount.id;
  const splits = [{ subaccountId: subaccount.id, amountCents: 400 }];
  const { charge } = await app.charges.create(tenant, { valueCents: 1_000, splits });
  await app.pix.pay({ txid: txidOf(charge.chargeId) });
  await app.charges.receive(tenant, charge.chargeId);
  await refund(`charges/${charge.chargeId}`, 100);
  await settle();

  await app.subaccounts.transfer(tenant, { subaccountId: subaccount.id, amountCents: 9_000 });
  for (const pixKey of ['bia@example.com', 'negado@psa.example']) {
    await app.subaccounts.requestPayout(tenant, { subaccountId: subaccount.id, amountCents: 2_000, pixKey });
    await settle();
  }
  const payOut = async (method: 'pix' | 'ltc', walletAddress: string): Promise<string> => {
    const payout = { amount: 30, method, walletAddress, idempotencyKey: walletAddress };
    const { body } = await rest.post('/payouts', payout);
    await settle();
    return body.id;
  };
  await payOut('pix', 'ana@example.com');
  names.denied = await payOut('pix', 'negado@psa.example');
  for (const address of LTC_ADDRESSES) await payOut('ltc', address);
  // A payout that was completed, and comes back.
  const sentBack = await payOut('pix', 'eva@example.com');
  await settle();
  await createSimulatedBank(app).sendBack(sentBack);
  const { payouts } = app.servicesFor({ priority: 'merchant', subject: null, onRead: () => undefined });
  await payouts.recheck(tenant, sentBack);
  await settle();

  const ltc = (await app.payments.create(tenant, { valueCents: 5_000, method: 'ltc' })).payment;
  await app.work.settled();
  const { ltc: code } = (await app.payments.find(tenant, ltc.paymentId))!;
  await app.litecoin.send(code!.address!, { litoshi: code!.litoshi - 1, confirmations: 6 });
  await settle(DAY_MS);
  await app.ltc.creditUnmatched(tenant, ltc.paymentId);

  // A debt, and a credit that pays it.
  const owed = ledgerTransaction('refund.begun:ref_owed', [
    { from: 'merchant_receivable', to: 'refunds_in_transit', amount: 700 },
  ]);
  await post(app.database.sql, [{ tenant, transactions: [owed] }], app.clock.now());
  await app.controls.credit(tenant, 1_500);
}
