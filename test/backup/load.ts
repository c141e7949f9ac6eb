import type { ChildServer } from '../faults/child.ts';
import { GIVE, OPEN, PAY_OUT, WITHDRAW } from '../faults/documents.ts';
import { createClient } from '../support/graphql.ts';

/** Acknowledged resources: each has to be found again by its id. */
export interface Acknowledged {
  kind: 'card_payment' | 'payment' | 'charge' | 'payout' | 'subaccount' | 'subaccount_payout';
  id: string;
  key: string;
  paid?: true;
}

const CREATE = `mutation ($input: CreateCardPaymentInput!) {
  done: createCardPayment(input: $input) { ... on CreateCardPaymentSuccess { replayed cardPayment { orderCode } } ... on UserError { code message } }
}`;

const CREATE_PIX = `mutation ($input: CreatePaymentInput!) {
  done: createPayment(input: $input) { ... on CreatePaymentSuccess { payment { paymentId } } ... on UserError { code message } }
}`;
const CHARGE = `mutation ($input: CreateChargeInput!) {
  done: createCharge(input: $input) { ... on CreateChargeSuccess { charge { chargeId } } ... on UserError { code message } }
}`;
const REFUND_CHARGE = `mutation ($input: RefundChargeInput!) {
  done: refundCharge(input: $input) { ... on RefundChargeSuccess { refund { refundId } } ... on UserError { code message } }
}`;
const REFUND_PIX = `mutation ($input: RefundPaymentInput!) {
  done: refundPayment(input: $input) { ... on RefundPaymentSuccess { refund { refundId } } ... on UserError { code message } }
}`;

const SUBSCRIBE = `mutation ($input: CreateSubscriptionInput!) {
  done: createSubscription(input: $input) { ... on CreateSubscriptionSuccess { subscription { subscriptionId } } ... on UserError { code message } }
}`;
const OFFER = `mutation ($input: CreateProductInput!) {
  done: createProduct(input: $input) { ... on CreateProductSuccess { product { productId } } ... on UserError { code message } }
}`;
const DELIVER = `mutation ($input: CreateDeliveryInput!) {
  done: createDelivery(input: $input) { ... on CreateDeliverySuccess { delivery { deliveryId } } ... on UserError { code message } }
}`;

/** The payer sends the money of a code, once under the name of its credit. */
const payPix = (server: ChildServer, paymentId: string, nth = 0) =>
  server.ask('payPix', { paymentId, endToEndId: `E${nth}${paymentId.slice(-28)}` });

/** Resources that wait for an instant, or for a person: after a restore servers must go on with them. */
export interface Waiting {
  /** An active weekly subscription. */
  subscriptionId: string;
  /** An open dispute, which holds its amount. */
  disputeId: string;
  /** A product with three codes; one was delivered. */
  productId: string;
  /** A payment by LTC with its first confirmation, and the transaction. */
  ltcPaymentId: string;
  txid: string;
  /** Products of the store, in its order. */
  storeProductIds: readonly string[];
}

/** Creates one resource of each kind that waits. */
export async function createWaiting(server: ChildServer, url: string, liveKey: string): Promise<Waiting> {
  const api = createClient(`${url}/graphql`, liveKey);
  const ask = async (mutation: string, input: object) => {
    const { done } = await api.request(mutation, { input });
    if (done.code) throw new Error(JSON.stringify(done));
    return done;
  };
  const simulate = async (path: string, body: object) => {
    const answer = await fetch(`${url}/simulator/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: url },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  };

  const recurring = { valueCents: 1_900, interval: 'WEEKLY', idempotencyKey: 'waiting' };
  const { subscriptionId } = (await ask(SUBSCRIBE, recurring)).subscription;
  await payPix(server, subscriptionId);

  const { productId } = (await ask(OFFER, { name: 'Curso', priceCents: 2_900 })).product;
  const content = { codes: ['AAAA-1', 'AAAA-2', 'AAAA-3'] };
  await ask(DELIVER, { productId, content, idempotencyKey: 'waiting' });
  const { paymentId } = (await ask(CREATE_PIX, { productId, idempotencyKey: 'waiting' })).payment;
  await payPix(server, paymentId);
  const { id: disputeId } = await simulate('disputes', { id: paymentId, amountCents: 900 });

  const byLtc = { valueCents: 3_900, method: 'LTC', idempotencyKey: 'waiting:ltc' };
  const ltcPaymentId = (await ask(CREATE_PIX, byLtc)).payment.paymentId;
  const txid = 'a'.repeat(64);
  await server.ask('sendLtc', { paymentId: ltcPaymentId, txid, share: 1, confirmations: 1 });

  const storeProductIds = ['9', '7', '8'];
  await simulate('store', {
    products: storeProductIds.map((id) => ({ id, name: 'Caneca', price: '49,90' })),
  });
  return { subscriptionId, disputeId, productId, ltcPaymentId, txid, storeProductIds };
}

/** Buys a product by PIX. Returns the content that its payer is given. */
export async function buyByPix(
  server: ChildServer,
  { url, liveKey, productId, key }: { url: string; liveKey: string; productId: string; key: string },
): Promise<{ status: string; content: string | null }[]> {
  const api = createClient(`${url}/graphql`, liveKey);
  const { done } = await api.request(CREATE_PIX, { input: { productId, idempotencyKey: key } });
  const { paymentId } = done.payment;
  await payPix(server, paymentId);
  const query = `query ($paymentId: String!) { payment(paymentId: $paymentId) { delivered { status content } } }`;
  return (await api.request(query, { paymentId })).payment.delivered;
}

/** Creates a payment. The answer for one key is the same at every server. */
export async function createPayment(url: string, liveKey: string, key: string) {
  const api = createClient(`${url}/graphql`, liveKey);
  const { done } = await api.request(CREATE, { input: { valueCents: 1_234, idempotencyKey: key } });
  if (!done.cardPayment) throw new Error(JSON.stringify(done));
  return { orderCode: done.cardPayment.orderCode as string, replayed: done.replayed as boolean };
}

/** Starts clients that write as fast as they are answered, until they are stopped. */
export function startLoad(server: ChildServer, url: string, liveKey: string, clients: number) {
  const acknowledged: Acknowledged[] = [];
  let stopped = false;
  let heard: { count: number; resolve: () => void } | null = null;
  const note = (done: Acknowledged) => {
    acknowledged.push(done);
    if (heard && acknowledged.length >= heard.count) heard.resolve();
  };

  async function work(client: number): Promise<void> {
    const api = createClient(`${url}/graphql`, liveKey);
    const ask = async (mutation: string, input: object) => {
      const { done } = await api.request(mutation, { input });
      if (done.code && done.code !== 'RATE_LIMITED') throw new Error(JSON.stringify(done));
      return done;
    };
    for (let round = 0; !stopped; round++) {
      const key = `load:${client}:${round}`;
      const { orderCode } = await createPayment(url, liveKey, key);
      note({ kind: 'card_payment', id: orderCode, key });
      const { kind } = await server.ask('pay', { orderCode, cardNumber: '4242424242424242' });
      if (kind === 'paid') note({ kind: 'card_payment', id: orderCode, key, paid: true });

      // A third PIX exceeds the payment, so that it is returned; and a part is refunded.
      const sale = { valueCents: 2_345, externalId: key, idempotencyKey: key };
      const { paymentId } = (await ask(CREATE_PIX, sale)).payment;
      note({ kind: 'payment', id: paymentId, key });
      for (const credit of [0, 1]) await payPix(server, paymentId, credit);
      note({ kind: 'payment', id: paymentId, key, paid: true });
      await ask(REFUND_PIX, { paymentId, amountCents: 345, idempotencyKey: key });

      const subaccountId = (await ask(OPEN, { name: key, externalId: key })).subaccount.subaccountId;
      note({ kind: 'subaccount', id: subaccountId, key });
      await ask(GIVE, { subaccountId, amountCents: 50_000, idempotencyKey: key });
      // Half of the amount is the subaccount's, and a part of that half is reversed.
      const splits = [{ subaccountId, share: { percent: '50' } }];
      const { chargeId } = (await ask(CHARGE, { valueCents: 3_457, splits, idempotencyKey: key })).charge;
      note({ kind: 'charge', id: chargeId, key });
      await payPix(server, chargeId, 2);
      note({ kind: 'charge', id: chargeId, key, paid: true });
      await ask(REFUND_CHARGE, { chargeId, amountCents: 457, idempotencyKey: `${key}:charge` });

      const pixKey = ['bia@cliente.example', 'demora@psa.example', 'nega@psa.example'][round % 3]!;
      const paidOut = await ask(PAY_OUT, { subaccountId, amountCents: 10_000, pixKey, idempotencyKey: key });
      note({ kind: 'subaccount_payout', id: paidOut.subaccountPayout.payoutId, key });

      const destination = ['ana@padaria.example', 'demora@psa.example'][round % 2]!;
      const amountCents = 10_000 + client;
      const withdrawn = await ask(WITHDRAW, { method: 'PIX', destination, amountCents, idempotencyKey: key });
      // An hour has ten payouts; a further one is refused.
      if (withdrawn.payout) note({ kind: 'payout', id: withdrawn.payout.withdrawalId, key });
    }
  }

  const done = Promise.all(Array.from({ length: clients }, (_, client) => work(client)));
  return {
    acknowledged,
    /** Resolves when this number of further writes was acknowledged, or fails with the load. */
    async more(count: number): Promise<void> {
      const reached = new Promise<void>((resolve) => {
        heard = { count: acknowledged.length + count, resolve };
      });
      await Promise.race([reached, done]);
    },
    async stop(): Promise<void> {
      stopped = true;
      await done;
    },
  };
}
