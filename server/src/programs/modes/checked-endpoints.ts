import { deliveriesFromWire } from '../../catalogue/deliveries/wire.ts';
import { productFromWire, productsFromWire } from '../../catalogue/products/wire.ts';
import { storeProductsFromWire } from '../../catalogue/store/wire.ts';
import { readPage } from '../../kernel/lenient-json.ts';
import type { Environment } from '../../kernel/tenant.ts';
import type { MirroredResource, UpstreamFamily } from '../../kernel/upstream-family.ts';
import { cardPaymentFromWire, cardPaymentsFromWire } from '../../money-in/card-payments/wire.ts';
import { chargeFromWire } from '../../money-in/charges/wire.ts';
import { disputeFromWire, disputesFromWire } from '../../money-in/disputes/wire.ts';
import { paymentFromWire } from '../../money-in/payments/wire.ts';
import { refundFromWire } from '../../money-in/refunds/wire.ts';
import { subscriptionFromWire } from '../../money-in/subscriptions/upstream-wire.ts';
import { readPayout, readPayoutList } from '../../money-out/payouts/wire.ts';
import {
  readStatementEntry,
  readSubaccount,
  readSubaccountPayout,
} from '../../money-out/subaccounts/wire.ts';
import { contradictsItself, readWallet } from '../../money-out/wallet/wire.ts';

// The endpoints that a facade calls, with their readers, and the features that need them.

/** The result of reading an answer. */
export interface Reading {
  /** Whether there was a resource to read. */
  isEmpty: boolean;
  unread: string[];
  /** The id of a resource that was read, for a call of its own endpoint. */
  id?: string | undefined;
}

export interface ReadEndpoint {
  name: string;
  /** Builds the path. `id`: that of a known resource, or one that no resource has. */
  pathOf: (id: string) => `/v1/${string}`;
  read: (body: unknown, environment: Environment, id: string) => Reading;
  /** The endpoint that shows whether the service has this family, and gives an id. */
  family?: string;
  /** The kind of the resources: the mirror may know one. */
  resource?: MirroredResource;
  /** The id of a resource that nobody has. */
  nobody?: string;
}

const ZEROS = '0'.repeat(32);
const OBJECT_ID = '0'.repeat(24);
const PAGE = 'limit=1&offset=0';

/** The members of a claim that could not be read; `status` also if its word is unknown. */
function missingOf(claim: object, members: readonly string[]): string[] {
  const read = claim as Readonly<Record<string, unknown>>;
  return members.filter((name) => read[name] == null || read[name] === 'unknown');
}

/** Reads one resource; `members` are those that the facade needs. */
function one(reader: (body: unknown) => object | null, idName: string, members: readonly string[]) {
  return (body: unknown): Reading => {
    const claim = reader(body);
    return { isEmpty: false, unread: claim ? missingOf(claim, members) : [idName] };
  };
}

/** Reads a page of a list. */
function list(
  reader: (
    body: unknown,
  ) => { items: readonly (object | null)[]; total: number | null; length?: number } | null,
  listName: string,
  idName: string,
  members: readonly string[],
) {
  return (body: unknown): Reading => {
    const page = reader(body);
    if (!page) return { isEmpty: false, unread: [listName] };
    const [first] = page.items;
    if (first == null) {
      const isEmpty = page.items.length === 0 && !page.length;
      return { isEmpty, unread: isEmpty ? [] : [`${listName}.${idName}`] };
    }
    const id = (first as Readonly<Record<string, unknown>>)[idName];
    return {
      isEmpty: false,
      unread: missingOf(first, members).map((name) => `${listName}.${name}`),
      id: typeof id === 'string' ? id : undefined,
    };
  };
}

/** A page of subaccounts or of their statement, as the slice reads it. */
const pageOf = (name: string, read: (item: unknown) => object | null) => (body: unknown) => {
  const page = readPage(body, name);
  return page && { items: page.items.map(read), total: page.total };
};

/**
 * Checks whether a family exists. The facade reads nothing from its list, but the check takes an id from it,
 * if there is one.
 */
function present(listName: string, idName: string, reader: (item: unknown) => object | null) {
  return (body: unknown): Reading => {
    const claim = reader(readPage(body, listName)?.items[0]);
    const id = (claim as Readonly<Record<string, unknown>> | null)?.[idName];
    return { isEmpty: false, unread: [], id: typeof id === 'string' ? id : undefined };
  };
}

const WALLET = {
  balanceCents: 'balance',
  withdrawableCents: 'withdrawable',
  pendingReleaseCents: 'pendingRelease',
  disputeBlockedCents: 'disputeBlocked',
  cryptoBalanceLitoshi: 'cryptoBalanceLtc',
};

export const READ_ENDPOINTS: readonly ReadEndpoint[] = [
  {
    name: 'GET /v1/wallet',
    pathOf: () => '/v1/wallet',
    read(body, environment) {
      const wallet = readWallet(body, environment);
      const names = wallet
        ? missingOf(wallet, Object.keys(WALLET)).map((name) => WALLET[name as keyof typeof WALLET])
        : Object.values(WALLET);
      const contradiction = contradictsItself(body) ? ['two figures that contradict each other'] : [];
      return { isEmpty: false, unread: [...names, ...contradiction] };
    },
  },
  {
    name: 'GET /v1/payouts',
    pathOf: () => `/v1/payouts?${PAGE}`,
    read: list(readPayoutList, 'payouts', 'withdrawalId', [
      ...['status', 'method', 'amountCents', 'destination', 'requestedAt'],
    ]),
  },
  {
    name: 'GET /v1/payouts/{id}',
    family: 'GET /v1/payouts',
    nobody: 'SAQ-000000000000',
    pathOf: (id) => `/v1/payouts/${encodeURIComponent(id)}`,
    read: one(readPayout, 'withdrawalId', ['status', 'method', 'amountCents']),
  },
  {
    name: 'GET /v1/card-payments',
    pathOf: () => `/v1/card-payments?${PAGE}`,
    read: list(cardPaymentsFromWire, 'cardPayments', 'orderCode', ['status', 'amountCents']),
  },
  {
    name: 'GET /v1/card-payments/{orderCode}',
    family: 'GET /v1/card-payments',
    resource: 'card_payment',
    nobody: 'PSC-000000000000',
    pathOf: (id) => `/v1/card-payments/${encodeURIComponent(id)}`,
    read: one(cardPaymentFromWire, 'orderCode', ['status', 'amountCents']),
  },
  {
    name: 'GET /v1/payments',
    pathOf: () => '/v1/payments?limit=1',
    read: present('payments', 'paymentId', paymentFromWire),
  },
  {
    name: 'GET /v1/payments/{id}',
    family: 'GET /v1/payments',
    resource: 'payment',
    nobody: `psa_${ZEROS}`,
    pathOf: (id) => `/v1/payments/${encodeURIComponent(id)}`,
    read: one(paymentFromWire, 'paymentId', ['status', 'amountCents', 'expiresAt']),
  },
  {
    name: 'GET /v1/charges',
    pathOf: () => '/v1/charges?limit=1',
    read: present('charges', 'chargeId', chargeFromWire),
  },
  {
    name: 'GET /v1/charges/{id}',
    family: 'GET /v1/charges',
    resource: 'charge',
    nobody: `psc_${ZEROS}`,
    pathOf: (id) => `/v1/charges/${encodeURIComponent(id)}`,
    read: one(chargeFromWire, 'chargeId', ['status', 'amountCents', 'expiresAt']),
  },
  {
    name: 'GET /v1/subscriptions',
    pathOf: () => '/v1/subscriptions?limit=1',
    read: present('subscriptions', 'subscriptionId', subscriptionFromWire),
  },
  {
    name: 'GET /v1/subscriptions/{id}',
    family: 'GET /v1/subscriptions',
    resource: 'subscription',
    nobody: `psa_sub_${ZEROS}`,
    pathOf: (id) => `/v1/subscriptions/${encodeURIComponent(id)}`,
    read: one(subscriptionFromWire, 'subscriptionId', ['status', 'amountCents', 'interval']),
  },
  {
    name: 'GET /v1/disputes',
    pathOf: () => `/v1/disputes?${PAGE}`,
    read: list(disputesFromWire, 'disputes', 'disputeId', ['status', 'reason', 'amountCents']),
  },
  {
    name: 'GET /v1/disputes/{id}',
    family: 'GET /v1/disputes',
    resource: 'dispute',
    nobody: `dsp_${ZEROS}`,
    pathOf: (id) => `/v1/disputes/${encodeURIComponent(id)}`,
    read: one(disputeFromWire, 'disputeId', ['status', 'reason', 'amountCents']),
  },
  {
    name: 'GET /v1/refunds/{refundId}',
    resource: 'refund',
    nobody: `ref_${ZEROS}`,
    pathOf: (id) => `/v1/refunds/${encodeURIComponent(id)}`,
    read: one(refundFromWire, 'refundId', ['status', 'amountCents']),
  },
  {
    name: 'GET /v1/products',
    pathOf: () => `/v1/products?${PAGE}`,
    read: list(productsFromWire, 'products', 'id', ['name', 'priceCents']),
  },
  {
    name: 'GET /v1/products/{id}',
    family: 'GET /v1/products',
    nobody: OBJECT_ID,
    pathOf: (id) => `/v1/products/${id}`,
    read: one(productFromWire, 'id', ['name', 'priceCents']),
  },
  {
    name: 'GET /v1/deliveries',
    pathOf: () => `/v1/deliveries?${PAGE}`,
    read: list(deliveriesFromWire, 'deliveries', 'deliveryId', ['productId', 'kind']),
  },
  {
    name: 'GET /v1/store/products',
    pathOf: () => `/v1/store/products?${PAGE}`,
    read: list(storeProductsFromWire, 'products', 'id', ['name']),
  },
  {
    name: 'GET /v1/subaccounts',
    pathOf: () => `/v1/subaccounts?${PAGE}`,
    read: list(pageOf('subaccounts', readSubaccount), 'subaccounts', 'id', ['name', 'balanceCents']),
  },
  {
    name: 'GET /v1/subaccounts/{id}',
    family: 'GET /v1/subaccounts',
    nobody: `sacc_${ZEROS}`,
    pathOf: (id) => `/v1/subaccounts/${id}`,
    read: one(readSubaccount, 'id', ['name', 'balanceCents']),
  },
  {
    name: 'GET /v1/subaccounts/{id}/statement',
    family: 'GET /v1/subaccounts',
    nobody: `sacc_${ZEROS}`,
    pathOf: (id) => `/v1/subaccounts/${id}/statement?${PAGE}`,
    read: (body, _, id) =>
      list(
        pageOf('entries', (item) => readStatementEntry(id, item)),
        'entries',
        'id',
        [],
      )(body),
  },
  {
    name: 'GET /v1/subaccounts/{id}/payouts/{payoutId}',
    family: 'GET /v1/subaccounts',
    nobody: `sacc_${ZEROS}`,
    pathOf: (id) => `/v1/subaccounts/${id}/payouts/psa-check`,
    read: one(readSubaccountPayout, 'id', ['status', 'amountCents']),
  },
];

/**
 * The endpoints that change something, which the check does not call. `family`: the configured word that
 * enables them.
 */
export const WRITE_ENDPOINTS: readonly { name: string; family?: UpstreamFamily }[] = [
  { name: 'POST /v1/card-payments' },
  { name: 'POST /v1/payouts' },
  { name: 'POST /v1/subaccounts' },
  { name: 'POST /v1/subaccounts/{id}/payout' },
  { name: 'POST /v1/subaccounts/{id}/transfers' },
  { name: 'POST /v1/products' },
  { name: 'DELETE /v1/products/{id}' },
  { name: 'POST /v1/sandbox/payments' },
  { name: 'POST /v1/payments', family: 'payments' },
  { name: 'POST /v1/charges', family: 'charges' },
  { name: 'POST /v1/subscriptions', family: 'subscriptions' },
  { name: 'DELETE /v1/subscriptions/{id}', family: 'subscriptions' },
  { name: 'POST /v1/deliveries', family: 'deliveries' },
  { name: 'DELETE /v1/deliveries/{id}', family: 'deliveries' },
  { name: 'POST /v1/disputes/{id}/evidence', family: 'disputes' },
  { name: 'POST /v1/payments/{id}/refunds', family: 'refunds' },
  { name: 'POST /v1/charges/{id}/refunds', family: 'refunds' },
  { name: 'POST /v1/card-payments/{orderCode}/refunds', family: 'refunds' },
];

/** The features of a facade, with the endpoints that each needs, and the word with which its requests are sent. */
export const FEATURES: readonly { feature: string; needs: readonly string[]; family?: UpstreamFamily }[] = [
  { feature: 'the wallet', needs: ['GET /v1/wallet'] },
  { feature: 'the list of payouts', needs: ['GET /v1/payouts'] },
  { feature: 'one payout, by its id', needs: ['GET /v1/payouts/{id}'] },
  { feature: 'the status of card payments', needs: ['GET /v1/card-payments/{orderCode}'] },
  { feature: 'card payments whose answer was lost', needs: ['GET /v1/card-payments'] },
  {
    feature: 'the status of payments by PIX and LTC',
    needs: ['GET /v1/payments', 'GET /v1/payments/{id}'],
  },
  {
    feature: 'createPayment, and PIX in <psa-checkout>',
    needs: ['GET /v1/payments', 'GET /v1/payments/{id}'],
    family: 'payments',
  },
  { feature: 'the status of charges', needs: ['GET /v1/charges', 'GET /v1/charges/{id}'] },
  {
    feature: 'the status of subscriptions',
    needs: ['GET /v1/subscriptions', 'GET /v1/subscriptions/{id}'],
  },
  { feature: 'disputes', needs: ['GET /v1/disputes', 'GET /v1/disputes/{id}'] },
  { feature: 'refunds', needs: ['GET /v1/refunds/{refundId}'], family: 'refunds' },
  { feature: 'products', needs: ['GET /v1/products', 'GET /v1/products/{id}'] },
  { feature: 'deliveries', needs: ['GET /v1/deliveries'] },
  { feature: 'the store', needs: ['GET /v1/store/products'] },
  { feature: 'the list of subaccounts', needs: ['GET /v1/subaccounts'] },
  { feature: 'one subaccount', needs: ['GET /v1/subaccounts/{id}'] },
  { feature: 'statements and transfers of subaccounts', needs: ['GET /v1/subaccounts/{id}/statement'] },
  {
    feature: 'payouts of subaccounts',
    needs: ['GET /v1/subaccounts/{id}/payouts/{payoutId}'],
  },
];
