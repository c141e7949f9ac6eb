import type { DashboardScope } from '../../server/src/kernel/caller.ts';
import type { Tenant } from '../../server/src/kernel/tenant.ts';
import type { DisputedResource } from '../../server/src/money-in/disputes/model.ts';
import { txidOf } from '../../server/src/money-in/pix/model.ts';
import { addAccount, addKey } from './accounts.ts';
import type { TestApp } from './app.ts';
import { approved } from './cards.ts';
import type { GraphQLClient } from './graphql.ts';
import type { RestClient } from './rest.ts';

/** A merchant of a test, with an account of its own. */
export interface Merchant {
  app: TestApp;
  tenant: Tenant;
  client: GraphQLClient;
  rest: RestClient;
}

export async function openMerchant(app: TestApp): Promise<Merchant> {
  const tenant = { accountId: await addAccount(app), environment: 'live' } as const;
  const key = await addKey(app, tenant);
  return { app, tenant, client: app.client(key), rest: app.rest(key) };
}

/** A family of payments, as `api/families.test.ts` asks for it. */
export interface Family {
  type: string;
  /** The field of `Query` that finds one resource, and of an update that shows it; and the argument, which is also a member. */
  one: string;
  id: string;
  list: string;
  /** The argument of the list that selects statuses, and the type of its value. */
  statuses: { argument: 'status' | 'filter'; type: string };
  /** The subscription to one resource, or null. */
  follow: string | null;
  all: string;
  /** The statuses of a resource: of a new one, then after each `change`. */
  goes: readonly string[];
  /** Whether the last of these statuses completes the subscription to the resource. */
  isFinal: boolean;
  /** A scope of a dashboard that reads the family, and one that does not. */
  scope: DashboardScope;
  otherScope: DashboardScope;
  /** An id that nobody has, and texts that are no ids. Without these every text is an id that nobody has. */
  absent: string;
  malformed: readonly string[];
  /** The path in `/v1`, below which one resource is found, and whether it is a list itself. */
  path: string;
  isListed: boolean;
  make(of: Merchant): Promise<string>;
  change(of: Merchant, id: string): Promise<void>;
}

async function requestPayout({ app, tenant, rest }: Merchant): Promise<string> {
  await app.controls.credit(tenant, 1_000);
  const payout = { amount: 10, method: 'pix', walletAddress: 'ana@padaria.example' };
  return (await rest.post('/payouts', payout)).body.withdrawalId;
}

/** Advances the clock. Pending payouts reach the bank before. */
async function pass(app: TestApp, ms: number): Promise<void> {
  await app.work.settled();
  app.clock.advance(ms);
  await app.work.settled();
}

const hex = (digits: number) => '0'.repeat(digits);

async function sellByPix({ app, tenant }: Merchant): Promise<DisputedResource> {
  const { payment } = await app.payments.create(tenant, { valueCents: 5000 });
  await receivePix(app, tenant, payment.paymentId);
  return { type: 'payment', id: payment.paymentId };
}

async function receivePix(
  app: TestApp,
  tenant: Tenant,
  id: string,
  of: { receive(tenant: Tenant, id: string): Promise<unknown> } = app.payments,
): Promise<void> {
  await app.pix.pay({ txid: txidOf(id) });
  await of.receive(tenant, id);
  await app.work.settled();
}

/** The names of a family by that of one resource, and what most families are. */
function namedBy(one: string) {
  const list = `${one}s`;
  return {
    ...{ one, list, follow: `${one}Updates` },
    all: `all${one.charAt(0).toUpperCase()}${one.slice(1)}Updates`,
    path: `/${list.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
    ...{ isFinal: true, isListed: true },
  };
}

export const FAMILIES: readonly Family[] = [
  {
    type: 'CardPayment',
    ...namedBy('cardPayment'),
    id: 'orderCode',
    statuses: { argument: 'status', type: 'CardPaymentStatus' },
    goes: ['PENDING', 'PAID'],
    scope: 'card_payments',
    otherScope: 'payments',
    absent: 'PSC-NOBODY',
    malformed: [],
    make: async ({ app, tenant }) =>
      (await app.cardPayments.create(tenant, { valueCents: 5000 })).payment.orderCode,
    change: async ({ app }, orderCode) => {
      await app.cardPayments.pay(orderCode, approved());
    },
  },
  {
    type: 'Payment',
    ...namedBy('payment'),
    id: 'paymentId',
    statuses: { argument: 'filter', type: 'PaymentStatus' },
    goes: ['PENDING', 'PAID'],
    scope: 'payments',
    otherScope: 'card_payments',
    absent: `psa_${hex(32)}`,
    malformed: [
      '',
      'psa_',
      hex(32),
      `psa_${hex(31)}`,
      `psa_${hex(33)}`,
      `PSA_${hex(32)}`,
      `psa_sub_${hex(32)}`,
      `psa_${'A'.repeat(32)}`,
    ],
    make: async ({ app, tenant }) =>
      (await app.payments.create(tenant, { valueCents: 5000 })).payment.paymentId,
    change: ({ app, tenant }, paymentId) => receivePix(app, tenant, paymentId),
  },
  {
    type: 'Charge',
    ...namedBy('charge'),
    id: 'chargeId',
    statuses: { argument: 'filter', type: 'PaymentStatus' },
    goes: ['PENDING', 'PAID'],
    scope: 'payments',
    otherScope: 'card_payments',
    absent: `psc_${hex(32)}`,
    malformed: ['', 'psa_1', `psa_${hex(32)}`, `psc_${hex(31)}`, `psplit_${'A'.repeat(32)}`],
    make: async ({ app, tenant }) => (await app.charges.create(tenant, { valueCents: 5000 })).charge.chargeId,
    change: ({ app, tenant }, chargeId) => receivePix(app, tenant, chargeId, app.charges),
  },
  {
    type: 'PixSubscription',
    ...namedBy('subscription'),
    id: 'subscriptionId',
    statuses: { argument: 'status', type: 'PixSubscriptionStatus' },
    goes: ['PENDING', 'CANCELED'],
    scope: 'subscriptions',
    otherScope: 'payments',
    absent: `psa_sub_${hex(32)}`,
    malformed: ['', `psa_${hex(32)}`, `psa_sub_${hex(31)}`],
    make: async ({ app, tenant }) =>
      (await app.subscriptions.create(tenant, { valueCents: 4990, interval: 'monthly' })).subscription
        .subscriptionId,
    change: async ({ app, tenant }, subscriptionId) => {
      await app.subscriptions.cancel(tenant, subscriptionId);
    },
  },
  {
    type: 'Refund',
    ...namedBy('refund'),
    id: 'refundId',
    statuses: { argument: 'status', type: 'RefundStatus' },
    follow: null,
    goes: ['PROCESSING', 'COMPLETED'],
    scope: 'payments',
    otherScope: 'wallet',
    absent: `ref_${hex(24)}`,
    malformed: ['', 'ref_x', `ref_${'A'.repeat(24)}`, 'ref_idem_é'],
    isListed: false,
    make: async (of) => {
      const { client } = of;
      const { id } = await sellByPix(of);
      const { refundPayment } = await client.request(
        'mutation ($id: String!) { refundPayment(input: { paymentId: $id, amountCents: 10, idempotencyKey: $id }) { ... on RefundPaymentSuccess { refund { refundId } } } }',
        { id },
      );
      return refundPayment.refund.refundId;
    },
    change: ({ app }) => app.work.settled(),
  },
  {
    type: 'Dispute',
    ...namedBy('dispute'),
    id: 'disputeId',
    statuses: { argument: 'status', type: 'DisputeStatus' },
    goes: ['OPEN', 'LOST'],
    isFinal: false,
    scope: 'disputes',
    otherScope: 'payments',
    absent: `dsp_${hex(24)}`,
    malformed: ['', 'dsp_x', `ref_${hex(24)}`],
    make: ({ app, tenant }) => app.controls.openDispute(tenant, { amountCents: 2000 }),
    change: async ({ app, tenant }, disputeId) => {
      await app.controls.closeDispute(tenant, disputeId, 'lost');
    },
  },
  {
    type: 'Payout',
    ...namedBy('payout'),
    id: 'withdrawalId',
    statuses: { argument: 'filter', type: 'PayoutStatus' },
    goes: ['PENDING', 'COMPLETED'],
    scope: 'payouts',
    otherScope: 'wallet',
    absent: hex(24),
    malformed: ['', 'x', 'A'.repeat(24), hex(23)],
    make: requestPayout,
    change: ({ app }) => pass(app, 2_000),
  },
];
