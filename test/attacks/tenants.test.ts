import type { GraphQLInterfaceType } from 'graphql';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decodeGlobalID } from '../../server/src/api/graphql/builder.ts';
import { keysOfEntity } from '../../server/src/api/graphql/federation.ts';
import type { StoreProduct } from '../../server/src/catalogue/store/model.ts';
import { replaceStoreProducts } from '../../server/src/catalogue/store/store.ts';
import type { Environment, Tenant } from '../../server/src/kernel/tenant.ts';
import { UPSTREAM_FAMILIES } from '../../server/src/kernel/upstream-family.ts';
import { txidOf } from '../../server/src/money-in/pix/model.ts';
import { schema } from '../../server/src/programs/modes/schema.ts';
import type { Database } from '../../server/src/state/db/database.ts';
import { recordsOf } from '../../server/src/state/db/each-tenant.ts';
import { newWebhookId } from '../../server/src/webhooks/model.ts';
import { insertDeliveries } from '../../server/src/webhooks/store.ts';
import { addAccount, addKey } from '../support/accounts.ts';
import { advanceClock } from '../support/advance-clock.ts';
import { LIVE_KEY, startApp, TEST_KEY, type TestApp } from '../support/app.ts';
import { approved } from '../support/cards.ts';
import { SCOPES } from '../support/dashboard-scopes.ts';
import { pdf } from '../support/evidence-files.ts';
import { FAMILIES, type Family } from '../support/families.ts';
import { createClient, type GraphQLClient } from '../support/graphql.ts';
import {
  namedPlaces,
  namedPlacesOfRest,
  type Operation,
  operationOn,
  selectionOf,
} from '../support/operations.ts';
import { configureWebhook, type Pair, startPair, startService } from '../support/pair.ts';
import { openRawSocket } from '../support/raw-socket.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';
import { createRestClient } from '../support/rest.ts';
import { firstInSample, runsAll, sampled, scale } from '../support/scale.ts';

// A caller that asks for data of another account, or of the other environment, gets byte for byte the answer for
// something that does not exist, and changes nothing. The places that take a name come from the schema and from
// the OpenAPI description, so a new place without a line here fails.

/** A tenant's resources, by their names. A kind without resources is an empty list. */
const KINDS = [
  ...[
    'orderCode',
    'withdrawalId',
    'payoutCode',
    'payoutNode',
    'subaccountId',
    'reference',
    'paymentId',
    'chargeId',
    'subscriptionId',
    'productId',
    'deliveryId',
    'storeProductId',
    'refundId',
    'returnId',
    'disputeId',
    'fileId',
    'webhookId',
    'endpointId',
    'redeliveryId',
    'node',
  ],
  ...[
    'token',
    'tokenId',
    'key',
    'externalId',
    'attemptId',
    'updates',
    'cardPayments',
    'payments',
    'charges',
    'subscriptions',
    'cycles',
    'payouts',
    'products',
    'deliveries',
    'storeProducts',
    'refunds',
    'returns',
    'disputes',
    'sales',
  ],
  ...[
    'subaccounts',
    'tokens',
    'pausedTokens',
    'webhookDeliveries',
    'statement',
    'entries',
    'entryReference',
    'subaccountPayouts',
    'entryRefId',
  ],
] as const;
type Kind = (typeof KINDS)[number];
/** Names that the service gives. All others may be a merchant's own words, and another merchant's as well. */
const GIVEN = [
  'orderCode',
  'withdrawalId',
  'paymentId',
  'subaccountId',
  'productId',
  'refundId',
  'node',
] as const;
type Ids = Record<Kind, string[]>;
type Values = Record<string, unknown>;

/** An attacker or a victim. */
interface Side {
  name: string;
  tenant: Tenant;
  key: string;
  ids: Ids;
  /** Browsers' tokens of the tenant, by what they are. */
  tokens: Record<string, string>;
  databases: readonly { database: Database; tenant: Tenant }[];
}

/** Requests with the names of another tenant, and with the attacker's own names that they need. */
type Attack = (other: Ids, own: Ids) => Values[];

const each =
  (kind: Kind, argument: string): Attack =>
  (other) =>
    other[kind].map((id) => ({ [argument]: id }));
const withOwn =
  (kind: Kind, argument: string, rest: (own: Ids) => Values): Attack =>
  (other, own) =>
    other[kind].map((id) => ({ ...rest(own), [argument]: id }));

/** An object as a gateway names it: by its id, or by the key of its type. */
const byId = (id: string) => ({ __typename: decodeGlobalID(id).typename, id });
function byNaturalKey(node: string): Values[] {
  const { typename, id } = decodeGlobalID(node);
  const key = keysOfEntity(typename).find((each) => each !== 'id');
  return key === undefined ? [] : [{ __typename: typename, [key]: id }];
}

/** The arguments of what every family has in common. */
function placesOf({ one, id, list, follow, all }: Family): [string, Attack][] {
  const [name, cursor] = [id, list] as [Kind, Kind];
  const following: [string, Attack][] = [
    [`Subscription.${follow}(${id})`, each(name, id)],
    [
      `Subscription.${follow}(after)`,
      (other, own) =>
        [...own[name], ...other[name]].flatMap((each) =>
          other.updates.map((after) => ({ [id]: each, after })),
        ),
    ],
  ];
  return [
    [`Query.${one}(${id})`, each(name, id)],
    [`Query.${list}(after)`, each(cursor, 'after')],
    [`Query.${list}(before)`, withOwn(cursor, 'before', () => ({ last: 2 }))],
    [`Subscription.${all}(after)`, each('updates', 'after')],
    ...(follow ? following : []),
  ];
}

/** The ids of the other in a member of a filter. */
function byFilter(kind: Kind, member: string): Attack {
  return (other) => other[kind].map((id) => ({ filter: { [member]: id } }));
}

/** Each argument of the schema that names something of a tenant. */
const PLACES: Record<string, Attack> = {
  ...Object.fromEntries(FAMILIES.flatMap(placesOf)),
  'Query.cardPayments(filter.externalId)': (other) =>
    other.externalId.map((id) => ({ filter: { externalId: id } })),
  'Query.cardPayments(filter.orderId)': (other) =>
    other.externalId.map((id) => ({ filter: { orderId: id } })),
  'Query.cardPayments(filter.reference)': (other) =>
    other.orderCode.map((id) => ({ filter: { reference: id } })),
  'Query.node(id)': each('node', 'id'),
  'Query.nodes(ids)': (other, own) => [{ ids: [own.node[0], ...other.node] }],
  'Query._entities(representations)': (other, own) => [
    { representations: [own.node[0]!, ...other.node].map(byId) },
    { representations: other.node.flatMap(byNaturalKey) },
  ],
  'PixSubscription.cycles(after)': withOwn('cycles', 'after', (own) => ({ id: own.subscriptionId[0] })),
  'PixSubscription.cycles(before)': withOwn('cycles', 'before', (own) => ({ id: own.subscriptionId[0] })),
  'Query.cardPayment(idempotencyKey)': each('key', 'idempotencyKey'),
  'Query.charge(idempotencyKey)': each('key', 'idempotencyKey'),
  'Query.delivery(deliveryId)': each('deliveryId', 'deliveryId'),
  'Query.delivery(idempotencyKey)': each('key', 'idempotencyKey'),
  'Query.lookup(reference)': (other) =>
    [
      ...['paymentId', 'chargeId', 'subscriptionId', 'refundId'].flatMap((kind) => other[kind as Kind]),
      ...other.key.flatMap((key) => [`saq_idem_${key}`, `ref_idem_${key}`]),
    ].map((reference) => ({ reference })),
  'Query.payment(idempotencyKey)': each('key', 'idempotencyKey'),
  'Query.refund(idempotencyKey)': (other) =>
    other.chargeId.map((id) => ({ idempotencyKey: `devolucao-${id}` })),
  'Query.subaccount(externalId)': each('externalId', 'externalId'),
  'Query.subaccountPayout(idempotencyKey)': each('key', 'idempotencyKey'),
  // Subaccounts are listed newest first: the transfer to the first has the last key.
  'Query.subaccountTransfer(idempotencyKey)': (other, own) =>
    [...other.key].reverse().map((idempotencyKey) => ({ subaccountId: own.subaccountId[0], idempotencyKey })),
  'Query.subaccountTransfer(subaccountId)': (other, own) =>
    other.subaccountId.flatMap((subaccountId) =>
      [...own.key, ...other.key].reverse().map((idempotencyKey) => ({ subaccountId, idempotencyKey })),
    ),
  'Query.subscription(idempotencyKey)': each('key', 'idempotencyKey'),
  'Query.payout(code)': each('payoutCode', 'code'),
  'Query.payout(idempotencyKey)': each('key', 'idempotencyKey'),
  'Query.charges(filter.externalId)': (other) =>
    other.externalId.map((id) => ({ filter: { externalId: id } })),
  'Query.charges(filter.reference)': (other) => other.chargeId.map((id) => ({ filter: { reference: id } })),
  'Query.payments(filter.externalId)': (other) =>
    other.externalId.map((id) => ({ filter: { externalId: `pix-${id}` } })),
  'Query.payments(filter.orderId)': (other) =>
    other.externalId.map((id) => ({ filter: { orderId: `pix-${id}` } })),
  'Query.payments(filter.reference)': (other) => other.paymentId.map((id) => ({ filter: { reference: id } })),
  'Query.payouts(filter.externalId)': (other) =>
    other.externalId.map((id) => ({ filter: { externalId: id } })),
  'Query.payouts(filter.reference)': (other) => other.payoutCode.map((id) => ({ filter: { reference: id } })),
  'Query.cardPaymentTotals(filter.externalId)': (other) =>
    other.externalId.map((id) => ({ filter: { externalId: id } })),
  'Query.cardPaymentTotals(filter.orderId)': (other) =>
    other.externalId.map((id) => ({ filter: { orderId: id } })),
  'Query.cardPaymentTotals(filter.reference)': (other) =>
    other.orderCode.map((id) => ({ filter: { reference: id } })),
  'Query.chargeTotals(filter.externalId)': (other) =>
    other.externalId.map((id) => ({ filter: { externalId: id } })),
  'Query.chargeTotals(filter.reference)': (other) =>
    other.chargeId.map((id) => ({ filter: { reference: id } })),
  'Query.paymentTotals(filter.externalId)': (other) =>
    other.externalId.map((id) => ({ filter: { externalId: `pix-${id}` } })),
  'Query.paymentTotals(filter.orderId)': (other) =>
    other.externalId.map((id) => ({ filter: { orderId: `pix-${id}` } })),
  'Query.paymentTotals(filter.reference)': (other) =>
    other.paymentId.map((id) => ({ filter: { reference: id } })),
  'Query.payoutTotals(filter.externalId)': (other) =>
    other.externalId.map((id) => ({ filter: { externalId: id } })),
  'Query.payoutTotals(filter.reference)': (other) =>
    other.payoutCode.map((id) => ({ filter: { reference: id } })),
  'Query.product(productId)': each('productId', 'productId'),
  'Query.products(after)': each('products', 'after'),
  'Query.products(before)': withOwn('products', 'before', () => ({ last: 2 })),
  'Query.deliveries(after)': each('deliveries', 'after'),
  'Query.deliveries(before)': withOwn('deliveries', 'before', () => ({ last: 2 })),
  'Query.deliveries(productId)': each('productId', 'productId'),
  'Query.deliveries(filter.productId)': byFilter('productId', 'productId'),
  'Query.refunds(filter.reference)': byFilter('refundId', 'reference'),
  'Query.refundTotals(filter.reference)': byFilter('refundId', 'reference'),
  'Query.disputes(filter.reference)': byFilter('disputeId', 'reference'),
  'Query.subscriptions(filter.reference)': byFilter('subscriptionId', 'reference'),
  'Query.subaccounts(filter.externalId)': byFilter('externalId', 'externalId'),
  'Query.returns(filter.reference)': byFilter('returnId', 'reference'),
  'Query.webhookDeliveries(filter.reference)': byFilter('webhookId', 'reference'),
  'Query.sales(after)': each('sales', 'after'),
  'Query.sales(before)': withOwn('sales', 'before', () => ({ last: 2 })),
  ...Object.fromEntries(
    ['sales', 'salesTotals'].flatMap((field): [string, Attack][] => [
      [`Query.${field}(filter.externalId)`, byFilter('externalId', 'externalId')],
      [
        `Query.${field}(filter.orderId)`,
        (other) =>
          other.externalId.flatMap((id) => [id, `pix-${id}`].map((orderId) => ({ filter: { orderId } }))),
      ],
      [
        `Query.${field}(filter.reference)`,
        ({ orderCode, paymentId, chargeId }) =>
          [...orderCode, ...paymentId, ...chargeId].map((reference) => ({ filter: { reference } })),
      ],
    ]),
  ),
  'Query.storeProduct(storeProductId)': each('storeProductId', 'storeProductId'),
  'Query.storeProducts(after)': each('storeProducts', 'after'),
  'Query.storeProducts(before)': withOwn('storeProducts', 'before', () => ({ last: 2 })),
  'Query.pausedTokens(after)': each('pausedTokens', 'after'),
  'Query.pausedTokens(before)': withOwn('pausedTokens', 'before', () => ({ last: 2 })),
  'Query.returns(after)': each('returns', 'after'),
  'Query.returns(before)': withOwn('returns', 'before', () => ({ last: 2 })),
  'Query.returns(filter.externalId)': (other) =>
    other.externalId.map((id) => ({ filter: { externalId: id } })),
  'Query.returns(filter.orderId)': (other) =>
    other.externalId.map((id) => ({ filter: { orderId: `pix-${id}` } })),
  'Query.subaccount(subaccountId)': each('subaccountId', 'subaccountId'),
  'Query.subaccountPayout(reference)': withOwn('reference', 'reference', (own) => ({
    subaccountId: own.subaccountId[0],
  })),
  'Query.subaccountPayout(subaccountId)': (other, own) =>
    other.subaccountId.flatMap((subaccountId) =>
      [...own.reference, ...other.reference].map((reference) => ({ subaccountId, reference })),
    ),
  'Query.subaccounts(after)': each('subaccounts', 'after'),
  'Query.subaccounts(before)': withOwn('subaccounts', 'before', () => ({ last: 2 })),
  'Query.token(tokenId)': each('tokenId', 'tokenId'),
  'Query.tokens(after)': each('tokens', 'after'),
  'Query.tokens(before)': withOwn('tokens', 'before', () => ({ last: 2 })),
  'Query.webhookDeliveries(filter.endpointId)': byFilter('endpointId', 'endpointId'),
  'Query.webhookEndpoint(endpointId)': each('endpointId', 'endpointId'),
  'Query.webhookDelivery(webhookId)': each('webhookId', 'webhookId'),
  'Query.webhookRedelivery(redeliveryId)': each('redeliveryId', 'redeliveryId'),
  'Query.webhookDeliveries(after)': each('webhookDeliveries', 'after'),
  'Query.webhookDeliveries(before)': withOwn('webhookDeliveries', 'before', () => ({ last: 2 })),
  'Subaccount.payout(reference)': withOwn('reference', 'reference', (own) => ({ id: own.subaccountId[0] })),
  'Subaccount.payouts(after)': withOwn('subaccountPayouts', 'after', (own) => ({ id: own.subaccountId[0] })),
  'Subaccount.payouts(before)': withOwn('subaccountPayouts', 'before', (own) => ({
    id: own.subaccountId[0],
    last: 2,
  })),
  'Subaccount.payouts(filter.externalId)': (other, own) =>
    other.externalId.map((externalId) => ({ id: own.subaccountId[0], filter: { externalId } })),
  'Subaccount.payouts(filter.reference)': (other, own) =>
    other.reference.map((reference) => ({ id: own.subaccountId[0], filter: { reference } })),
  'Subaccount.statement(filter.reference)': (other, own) =>
    other.entryRefId.map((reference) => ({ id: own.subaccountId[0], filter: { reference } })),
  'Subaccount.statement(after)': withOwn('statement', 'after', (own) => ({ id: own.subaccountId[0] })),
  'Subaccount.statement(before)': withOwn('statement', 'before', (own) => ({
    id: own.subaccountId[0],
    last: 2,
  })),
  'Mutation.acceptDispute(disputeId)': each('disputeId', 'disputeId'),
  'Mutation.cancelCardPayment(orderCode)': each('orderCode', 'orderCode'),
  'Mutation.cancelCharge(chargeId)': each('chargeId', 'chargeId'),
  'Mutation.cancelPayment(paymentId)': each('paymentId', 'paymentId'),
  'Mutation.createCharge(input.splits.subaccountId)': (other) =>
    other.subaccountId.map((subaccountId) => ({
      input: { valueCents: 4990, splits: [{ subaccountId, share: { amountCents: 100 } }] },
    })),
  'Mutation.cancelSubscription(subscriptionId)': each('subscriptionId', 'subscriptionId'),
  'Mutation.createCheckoutToken(input.amount.productId)': (other) =>
    other.productId.map((productId) => ({ input: { amount: { productId } } })),
  'Mutation.createPayment(input.productId)': (other) =>
    other.productId.map((productId) => ({ input: { productId } })),
  'Mutation.createDelivery(input.productId)': (other) =>
    other.productId.map((productId) => ({ input: { productId, content: { text: 'Obrigada!' } } })),
  'Mutation.deleteDelivery(deliveryId)': each('deliveryId', 'deliveryId'),
  'Mutation.deleteDisputeFile(disputeId)': ({ disputeId, fileId }) =>
    disputeId.map((id) => ({ disputeId: id, fileId: fileId[0] ?? `dsf_${HEX_OF_NONE}` })),
  'Mutation.deleteDisputeFile(fileId)': ({ fileId }, { disputeId }) =>
    fileId.map((id) => ({ disputeId: disputeId[0] ?? 'dsp_none', fileId: id })),
  'Mutation.deleteProduct(productId)': each('productId', 'productId'),
  'Mutation.redeliverWebhook(webhookId)': each('webhookId', 'webhookId'),
  'Mutation.cancelWebhookRedelivery(redeliveryId)': each('redeliveryId', 'redeliveryId'),
  'Mutation.deleteWebhookEndpoint(endpointId)': each('endpointId', 'endpointId'),
  'Mutation.updateWebhookEndpoint(input.endpointId)': (other) =>
    other.endpointId.map((endpointId) => ({ input: { endpointId, enabled: false } })),
  'Mutation.sendTestWebhook(input.endpointId)': (other) =>
    other.endpointId.map((endpointId) => ({ input: { endpointId, event: 'payment.paid' } })),
  'Mutation.refundCardPayment(input.orderCode)': (other) =>
    other.orderCode.map((orderCode) => ({ input: { orderCode, amountCents: 10 } })),
  'Mutation.refundCharge(input.chargeId)': (other) =>
    other.chargeId.map((chargeId) => ({ input: { chargeId, amountCents: 10 } })),
  'Mutation.refundPayment(input.paymentId)': (other) =>
    other.paymentId.map((paymentId) => ({ input: { paymentId, amountCents: 10 } })),
  'Mutation.requestSubaccountPayout(input.subaccountId)': (other) =>
    other.subaccountId.map((subaccountId) => ({ input: { subaccountId, ...SUBACCOUNT_PAYOUT } })),
  'Mutation.simulatePayment(input.id)': (other) =>
    [...other.paymentId, ...other.chargeId, ...other.subscriptionId].map((id) => ({ input: { id } })),
  'Mutation.pauseToken(token)': each('token', 'token'),
  'Mutation.pauseToken(tokenId)': each('tokenId', 'tokenId'),
  'Mutation.resumeToken(token)': each('token', 'token'),
  'Mutation.resumeToken(tokenId)': each('tokenId', 'tokenId'),
  'Mutation.revokeToken(token)': each('token', 'token'),
  'Mutation.revokeToken(tokenId)': each('tokenId', 'tokenId'),
  'Mutation.submitDisputeEvidence(input.disputeId)': (other) =>
    other.disputeId.map((disputeId) => ({ input: { disputeId, text: 'x' } })),
  'Mutation.submitDisputeEvidence(input.fileIds)': (other, own) =>
    other.fileId.map((id) => ({ input: { disputeId: own.disputeId[0] ?? 'dsp_none', fileIds: [id] } })),
  'Mutation.transferToSubaccount(input.subaccountId)': (other) =>
    other.subaccountId.map((subaccountId) => ({ input: { subaccountId, amountCents: 100 } })),
  'Subscription.accountUpdates(after)': each('updates', 'after'),
  'Subscription.allCheckoutTokenUpdates(after)': each('updates', 'after'),
  'Subscription.allSubaccountPayoutUpdates(after)': each('updates', 'after'),
  'Subscription.allSubaccountPayoutUpdates(subaccountId)': withOwn('subaccountId', 'subaccountId', (own) => ({
    after: own.updates[0],
  })),
  'Subscription.allSubaccountUpdates(after)': each('updates', 'after'),
  'Subscription.allWebhookDeliveryUpdates(after)': each('updates', 'after'),
  'Subscription.subaccountUpdates(after)': withOwn('updates', 'after', (own) => ({
    subaccountId: own.subaccountId[0],
  })),
  'Subscription.subaccountUpdates(subaccountId)': each('subaccountId', 'subaccountId'),
  'Subscription.webhookDeliveryUpdates(after)': withOwn('updates', 'after', (own) => ({
    webhookId: own.webhookId[0],
  })),
  'Subscription.webhookDeliveryUpdates(webhookId)': each('webhookId', 'webhookId'),
  'Subscription.payoutUpdates(id)': each('payoutNode', 'id'),
  'Subscription.subaccountPayoutUpdates(after)': (other, own) =>
    own.reference.flatMap((reference) =>
      other.updates.map((after) => ({ subaccountId: own.subaccountId[0], reference, after })),
    ),
  'Subscription.subaccountPayoutUpdates(reference)': withOwn('reference', 'reference', (own) => ({
    subaccountId: own.subaccountId[0],
  })),
  'Subscription.subaccountPayoutUpdates(subaccountId)': (other, own) =>
    other.subaccountId.flatMap((subaccountId) =>
      [...own.reference, ...other.reference].map((reference) => ({ subaccountId, reference })),
    ),
  'Subscription.statementUpdates(after)': each('updates', 'after'),
  'Subscription.walletUpdates(after)': each('updates', 'after'),
  'Wallet.statement(after)': each('entries', 'after'),
  'Wallet.statement(before)': each('entries', 'before'),
  'Wallet.statement(filter.reference)': (other) =>
    other.entryReference.map((reference) => ({ filter: { reference } })),
  'Wallet.statement(filter.subaccountId)': (other) =>
    other.subaccountId.map((subaccountId) => ({ filter: { subaccountId } })),
};

/** Reads that a facade refuses for every name, even if its operator has named every family of the service. */
const NOT_OFFERED: ReadonlySet<string> = new Set([
  ...['Subscription.subaccountUpdates(subaccountId)', 'Subscription.subaccountUpdates(after)'],
  'Subscription.allSubaccountUpdates(after)',
  // Deliveries are created at the service itself: this server has no record of their keys.
  'Query.delivery(idempotencyKey)',
  ...['Query.returns(after)', 'Query.returns(before)'],
  ...['externalId', 'orderId', 'reference'].map((member) => `Query.returns(filter.${member})`),
  // The statement of a facade has no entries before its wallet was seen twice.
  ...['after', 'before', 'filter.reference', 'filter.subaccountId'].map(
    (name) => `Wallet.statement(${name})`,
  ),
  'Subscription.statementUpdates(after)',
  // The subscriptions of deliveries are not refused: the deliveries of these facades are inserted rows, and no
  // event follows the cursor.
  ...['Subscription.allWebhookDeliveryUpdates(after)', 'Subscription.webhookDeliveryUpdates(after)'],
  // Nor are these rows copies for an endpoint.
  'Query.webhookDeliveries(filter.endpointId)',
]);

const DESTINATION = 'maria@example.com';
const HEX_OF_NONE = '0'.repeat(24);
const SUBACCOUNT_PAYOUT = { amountCents: 500, pixKey: DESTINATION };
const PAYOUT = { method: 'PIX', amountCents: 500, destination: DESTINATION };

/**
 * Each mutation with the tenant's own resources, and with names that another tenant has given to something: these
 * are free to all, and lead to nothing of the other tenant.
 */
const CHANGES: Record<string, { names?: string[]; values: Attack }> = {
  acceptDispute: { values: (_, { disputeId }) => [{ disputeId: disputeId[0] ?? 'dsp_none' }] },
  cancelCardPayment: { values: (_, { orderCode }) => [{ orderCode: orderCode[0] ?? 'PSC-NONE' }] },
  cancelCharge: { values: (_, { chargeId }) => [{ chargeId: chargeId[0] ?? 'psc_none' }] },
  cancelPayment: { values: (_, { paymentId }) => [{ paymentId: paymentId[0] ?? 'psa_none' }] },
  configureWebhook: {
    values: () => [{ input: { url: `${receiver.url}/own`, optionalEvents: ['CARD_PAYMENT_REFUNDED'] } }],
  },
  createCardPayment: {
    names: ['input.idempotencyKey', 'input.orderId', 'input.externalId'],
    values: ({ key, externalId }) => [
      ...key.map((idempotencyKey) => ({ input: { valueCents: 4990, idempotencyKey } })),
      ...externalId.map((id, index) => ({
        input: { valueCents: 4990, [index % 2 === 0 ? 'orderId' : 'externalId']: id },
      })),
    ],
  },
  createCharge: {
    names: ['input.idempotencyKey', 'input.externalId'],
    values: ({ key, externalId }) => [
      ...key.map((idempotencyKey) => ({ input: { valueCents: 4990, idempotencyKey } })),
      ...externalId.map((id) => ({ input: { valueCents: 4990, externalId: id } })),
    ],
  },
  createPayment: {
    names: ['input.idempotencyKey', 'input.orderId', 'input.externalId'],
    values: ({ key, externalId }) => [
      ...key.map((idempotencyKey) => ({ input: { valueCents: 4990, idempotencyKey } })),
      ...externalId.map((id, index) => ({
        input: { valueCents: 4990, [index % 2 === 0 ? 'orderId' : 'externalId']: id },
      })),
    ],
  },
  cancelSubscription: {
    values: (_, { subscriptionId }) => [{ subscriptionId: subscriptionId[0] ?? 'psa_sub_none' }],
  },
  createSubscription: {
    names: ['input.idempotencyKey'],
    values: ({ key }) =>
      key.map((idempotencyKey) => ({ input: { valueCents: 4990, interval: 'WEEKLY', idempotencyKey } })),
  },
  createCheckoutToken: {
    names: ['input.orderId', 'input.externalId'],
    values: ({ externalId }) => [
      { input: { amount: { fixedCents: 4990 } } },
      ...externalId.map((id, index) => ({
        input: { amount: { fixedCents: 4990 }, [index % 2 === 0 ? 'orderId' : 'externalId']: id },
      })),
    ],
  },
  createDelivery: {
    names: ['input.idempotencyKey'],
    values: ({ key }, { productId }) =>
      key.map((idempotencyKey) => ({
        input: { productId: productId[0], content: { codes: [idempotencyKey] }, idempotencyKey },
      })),
  },
  deleteDelivery: { values: (_, { deliveryId }) => [{ deliveryId: deliveryId[1] ?? HEX_OF_NONE }] },
  deleteDisputeFile: {
    values: (_, { disputeId, fileId }) => [
      { disputeId: disputeId[0] ?? 'dsp_none', fileId: fileId.at(-1) ?? `dsf_${HEX_OF_NONE}` },
    ],
  },
  createWebhookEndpoint: {
    values: () => [{ input: { url: `${receiver.url}/further` } }],
  },
  updateWebhookEndpoint: {
    values: (_, { endpointId }) =>
      endpointId.slice(-1).map((id) => ({ input: { endpointId: id, enabled: true } })),
  },
  deleteWebhookEndpoint: { values: () => [{ endpointId: `whe_${HEX_OF_NONE}` }] },
  createDashboardToken: { values: () => [{ input: { scopes: ['WALLET'] } }] },
  createProduct: { values: () => [{ input: { name: 'Caneca', priceCents: 4990 } }] },
  createSubaccount: {
    names: ['input.externalId'],
    values: ({ externalId }) => externalId.map((id) => ({ input: { name: 'Ana', externalId: id } })),
  },
  createTestPayment: { values: () => [{ input: { valueCents: 5000 } }] },
  deleteProduct: { values: (_, { productId }) => [{ productId: productId[1] }] },
  pauseToken: { values: (_, { token }) => token.slice(-1).map((each) => ({ token: each })) },
  redeliverWebhook: { values: (_, { webhookId }) => webhookId.slice(0, 1).map((id) => ({ webhookId: id })) },
  redeliverWebhooks: {
    names: [
      ...['input.filter.event', 'input.filter.reference', 'input.filter.endpointId'],
      'input.idempotencyKey',
    ],
    values: ({ key, webhookId }) =>
      key.map((idempotencyKey) => ({
        input: { filter: { event: ['payment.paid'], reference: webhookId[0] ?? 'whd_none' }, idempotencyKey },
      })),
  },
  cancelWebhookRedelivery: {
    values: (_, { redeliveryId }) => redeliveryId.map((id) => ({ redeliveryId: id })),
  },
  sendTestWebhook: { names: ['input.event'], values: () => [{ input: { event: 'payment.paid' } }] },
  refundCardPayment: {
    names: ['input.idempotencyKey'],
    values: ({ key }, { orderCode }) =>
      key.map((idempotencyKey) => ({
        input: { orderCode: orderCode[0] ?? 'PSC-NONE', amountCents: 10, idempotencyKey },
      })),
  },
  // One key is one refund of any resource: the refund of a card payment has already taken the name.
  refundPayment: {
    names: ['input.idempotencyKey'],
    values: ({ key }, { paymentId }) =>
      key.map((each) => ({
        input: { paymentId: paymentId[0] ?? 'psa_none', amountCents: 10, idempotencyKey: `${each}-pix` },
      })),
  },
  refundCharge: {
    names: ['input.idempotencyKey'],
    values: ({ key }, { chargeId }) =>
      key.map((each) => ({
        input: { chargeId: chargeId[0] ?? 'psc_none', amountCents: 10, idempotencyKey: `${each}-charge` },
      })),
  },
  requestPayout: {
    names: ['input.idempotencyKey', 'input.externalId'],
    // Both payouts are in one request: an hour has ten payouts.
    values: ({ key, externalId }) =>
      key.map((idempotencyKey, index) => ({
        input: { ...PAYOUT, idempotencyKey, externalId: externalId[index] },
      })),
  },
  requestSubaccountPayout: {
    names: ['input.idempotencyKey', 'input.externalId'],
    values: ({ key, externalId }, { subaccountId }) =>
      key.map((idempotencyKey, index) => ({
        input: {
          ...{ subaccountId: subaccountId[0], ...SUBACCOUNT_PAYOUT, idempotencyKey },
          externalId: externalId[index],
        },
      })),
  },
  submitDisputeEvidence: {
    names: ['input.idempotencyKey'],
    values: ({ key }, { disputeId }) =>
      key.map((idempotencyKey) => ({
        input: { disputeId: disputeId[0] ?? 'dsp_none', text: 'Entregue', idempotencyKey },
      })),
  },
  resumeToken: { values: (_, { token }) => token.slice(-1).map((each) => ({ token: each })) },
  revokeToken: { values: (_, { token }) => token.slice(-1).map((each) => ({ token: each })) },
  simulatePayment: { values: (_, { paymentId }) => [{ input: { id: paymentId[0] ?? 'psa_none' } }] },
  startCheckout: {
    names: ['input.attemptId'],
    values: ({ attemptId }) => attemptId.map((id) => ({ input: { attemptId: id } })),
  },
  startPixCheckout: {
    names: ['input.attemptId'],
    values: ({ attemptId }) => attemptId.map((id) => ({ input: { attemptId: id } })),
  },
  transferToSubaccount: {
    names: ['input.idempotencyKey'],
    values: ({ key }, { subaccountId }) =>
      key.map((idempotencyKey) => ({
        input: { subaccountId: subaccountId[0], amountCents: 5000, idempotencyKey },
      })),
  },
};

/** The token that a payer's mutations need. */
const STARTED_BY: Record<string, string> = { startCheckout: 'checkout', startPixCheckout: 'pixCheckout' };

/**
 * Names that filter the changes of a stream, which sends no message if they match none. They are compared with
 * the tenant's own events alone: graphql/update-filters.test.ts.
 */
const SELECTING =
  /^Subscription\..+\((filter\.\w+|tokenId)\)$|\(filter\.event\)$|^Query\.subaccountPayoutTotals\(filter\./;
/** Texts that are stored as given, and that no lookup uses, and cursors of requests in doubt: there are none. */
const FREE =
  /requestsInDoubt|customer\.|\.description|\.metadata|\.name|\.destination|\.pixKey|\.reason|\.text|content\.|timeZone|input\.events\)/;

/** A mutation that is followed by an update of the stream. */
const CREATED_BY: Record<string, string> = {
  allPaymentUpdates:
    'createPayment(input: { valueCents: 100 }) { ... on CreatePaymentSuccess { resource: payment { id: paymentId } } }',
  allChargeUpdates:
    'createCharge(input: { valueCents: 100 }) { ... on CreateChargeSuccess { resource: charge { id: chargeId } } }',
  allSubscriptionUpdates:
    'createSubscription(input: { valueCents: 100, interval: WEEKLY }) { ... on CreateSubscriptionSuccess { resource: subscription { id: subscriptionId } } }',
};

const BY_ORDER = { externalId: 'externalId', orderId: 'externalId' } as const;

/** The parameters of lists by which something is named, each with what is named. */
const REST_FILTERS: Readonly<Record<string, Readonly<Record<string, Kind>>>> = {
  '/card-payments': { reference: 'orderCode', ...BY_ORDER },
  '/charges': { reference: 'chargeId', externalId: 'externalId' },
  '/disputes': { reference: 'disputeId' },
  '/payments': { reference: 'paymentId', ...BY_ORDER },
  '/payouts': { reference: 'payoutCode', externalId: 'externalId' },
  '/returns': { reference: 'returnId', ...BY_ORDER },
  '/sales': { reference: 'orderCode', ...BY_ORDER },
  '/subaccounts': { externalId: 'externalId' },
  '/subaccounts/{id}/payouts': { reference: 'reference', externalId: 'externalId' },
  '/subaccounts/{id}/statement': { reference: 'entryRefId' },
  '/subscriptions': { reference: 'subscriptionId' },
  '/wallet/statement': { reference: 'entryReference', subaccountId: 'subaccountId' },
};

const fileOf = (note: string) => ({ body: pdf(note), headers: { 'content-type': 'application/pdf' } });
/** The file of each tenant's newest dispute, and one that no dispute has. */
const [OWN_FILE, OTHER_FILE] = [fileOf('Entregue'), fileOf('Outro')];

/** Each path and method of `/v1` that names something. */
const REST_PLACES: Record<
  string,
  (other: Ids, own: Ids) => { path: string; body?: object; headers?: Record<string, string> }[]
> = {
  'GET /v1/payouts/{id} (id)': ({ withdrawalId }) => withdrawalId.map((id) => ({ path: `/payouts/${id}` })),
  'GET /v1/card-payments/{orderCode} (orderCode)': ({ orderCode }) =>
    orderCode.map((code) => ({ path: `/card-payments/${code}` })),
  'POST /v1/card-payments/{orderCode}/refunds (orderCode)': ({ orderCode }) =>
    orderCode.map((code) => ({ path: `/card-payments/${code}/refunds`, body: { amountCents: 10 } })),
  'GET /v1/payments/{id} (id)': ({ paymentId }) => paymentId.map((id) => ({ path: `/payments/${id}` })),
  'GET /v1/subscriptions/{id} (id)': ({ subscriptionId }) =>
    subscriptionId.map((id) => ({ path: `/subscriptions/${id}` })),
  'DELETE /v1/subscriptions/{id} (id)': ({ subscriptionId }) =>
    subscriptionId.map((id) => ({ path: `/subscriptions/${id}` })),
  'POST /v1/payments (productId)': ({ productId }) =>
    productId.map((id) => ({ path: '/payments', body: { productId: id } })),
  'POST /v1/payments/{id}/refunds (id)': ({ paymentId }) =>
    paymentId.map((id) => ({ path: `/payments/${id}/refunds`, body: { amountCents: 10 } })),
  'GET /v1/charges/{id} (id)': ({ chargeId }) => chargeId.map((id) => ({ path: `/charges/${id}` })),
  'POST /v1/charges/{id}/refunds (id)': ({ chargeId }) =>
    chargeId.map((id) => ({ path: `/charges/${id}/refunds`, body: { amountCents: 10 } })),
  'POST /v1/sandbox/payments (id)': ({ paymentId, chargeId, subscriptionId }) =>
    [...paymentId, ...chargeId, ...subscriptionId].map((id) => ({ path: '/sandbox/payments', body: { id } })),
  'GET /v1/refunds/{refundId} (refundId)': ({ refundId }) =>
    refundId.map((id) => ({ path: `/refunds/${id}` })),
  'GET /v1/disputes/{id} (id)': ({ disputeId }) => disputeId.map((id) => ({ path: `/disputes/${id}` })),
  'DELETE /v1/payments/{id} (id)': ({ paymentId }) => paymentId.map((id) => ({ path: `/payments/${id}` })),
  'DELETE /v1/charges/{id} (id)': ({ chargeId }) => chargeId.map((id) => ({ path: `/charges/${id}` })),
  'POST /v1/disputes/{id}/accept (id)': ({ disputeId }) =>
    disputeId.map((id) => ({ path: `/disputes/${id}/accept`, body: {} })),
  'POST /v1/disputes/{id}/evidence (id)': ({ disputeId }) =>
    disputeId.map((id) => ({ path: `/disputes/${id}/evidence`, body: { text: 'x' } })),
  'POST /v1/disputes/{id}/files (id)': ({ disputeId }) =>
    disputeId.map((id) => ({ path: `/disputes/${id}/files?name=a.pdf`, ...OTHER_FILE })),
  'GET /v1/disputes/{id}/files/{fileId} (id)': ({ disputeId, fileId }) =>
    disputeId.map((id) => ({ path: `/disputes/${id}/files/${fileId[0]}` })),
  'GET /v1/disputes/{id}/files/{fileId} (fileId)': ({ fileId }, { disputeId }) =>
    fileId.map((id) => ({ path: `/disputes/${disputeId[0] ?? `dsp_${HEX_OF_NONE}`}/files/${id}` })),
  'DELETE /v1/disputes/{id}/files/{fileId} (id)': ({ disputeId, fileId }) =>
    disputeId.map((id) => ({ path: `/disputes/${id}/files/${fileId[0] ?? `dsf_${HEX_OF_NONE}`}` })),
  'DELETE /v1/disputes/{id}/files/{fileId} (fileId)': ({ fileId }, { disputeId }) =>
    fileId.map((id) => ({ path: `/disputes/${disputeId[0] ?? `dsp_${HEX_OF_NONE}`}/files/${id}` })),
  'POST /v1/deliveries (productId)': ({ productId }) =>
    productId.map((id) => ({ path: '/deliveries', body: { productId: id, content: { text: 'Oi' } } })),
  ...Object.fromEntries(
    ['card-payments', 'charges', 'deliveries', 'payments', 'payouts', 'subscriptions'].map((path) => [
      `GET /v1/${path} (idempotencyKey)`,
      ({ key }: Ids) => key.map((each) => ({ path: `/${path}?idempotencyKey=${each}` })),
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(REST_FILTERS).flatMap(([path, names]) =>
      Object.entries(names).map(([name, kind]) => [
        `GET /v1${path} (${name})`,
        (other: Ids, own: Ids) =>
          other[kind].map((id) => ({
            path: `${path.replace('{id}', own.subaccountId[0]!)}?${name}=${encodeURIComponent(id)}`,
          })),
      ]),
    ),
  ),
  'GET /v1/subaccounts/{id}/statement (idempotencyKey)': (other, own) =>
    other.key.map((key) => ({ path: `/subaccounts/${own.subaccountId[0]}/statement?idempotencyKey=${key}` })),
  'GET /v1/deliveries (productId)': ({ productId }) =>
    productId.map((id) => ({ path: `/deliveries?productId=${id}` })),
  'DELETE /v1/deliveries/{id} (id)': ({ deliveryId }) =>
    deliveryId.map((id) => ({ path: `/deliveries/${id}` })),
  'GET /v1/products/{id} (id)': ({ productId }) => productId.map((id) => ({ path: `/products/${id}` })),
  'DELETE /v1/card-payments/{orderCode} (orderCode)': ({ orderCode }) =>
    orderCode.map((code) => ({ path: `/card-payments/${code}` })),
  'DELETE /v1/products/{id} (id)': ({ productId }) => productId.map((id) => ({ path: `/products/${id}` })),
  'GET /v1/subaccounts/{id} (id)': ({ subaccountId }) =>
    subaccountId.map((id) => ({ path: `/subaccounts/${id}` })),
  'GET /v1/subaccounts/{id}/statement (id)': ({ subaccountId }) =>
    subaccountId.map((id) => ({ path: `/subaccounts/${id}/statement` })),
  'GET /v1/subaccounts/{id}/payouts (id)': ({ subaccountId }) =>
    subaccountId.map((id) => ({ path: `/subaccounts/${id}/payouts` })),
  'GET /v1/subaccounts/{id}/payouts/{payoutId} (id)': (other, own) =>
    other.subaccountId.flatMap((id) =>
      [...own.reference, ...other.reference].map((reference) => ({
        path: `/subaccounts/${id}/payouts/${reference}`,
      })),
    ),
  'GET /v1/subaccounts/{id}/payouts/{payoutId} (payoutId)': (other, own) =>
    other.reference.map((reference) => ({
      path: `/subaccounts/${own.subaccountId[0]}/payouts/${reference}`,
    })),
  'POST /v1/subaccounts/{id}/transfers (id)': ({ subaccountId }) =>
    subaccountId.map((id) => ({ path: `/subaccounts/${id}/transfers`, body: { amountCents: 100 } })),
  'POST /v1/subaccounts/{id}/payout (id)': ({ subaccountId }) =>
    subaccountId.map((id) => ({ path: `/subaccounts/${id}/payout`, body: SUBACCOUNT_PAYOUT })),
};
type RestChange = (
  other: Ids,
  own: Ids,
) => { path: string; body: object; headers?: Record<string, string> }[];
const REST_CHANGES: Record<string, RestChange> = {
  'POST /v1/payouts (idempotencyKey)': ({ key }) =>
    key.map((idempotencyKey) => ({
      path: '/payouts',
      body: { amount: 5, method: 'pix', walletAddress: DESTINATION, idempotencyKey },
    })),
  'POST /v1/payouts (externalId)': ({ externalId }) =>
    externalId.map((id) => ({
      path: '/payouts',
      body: { amount: 5, method: 'pix', walletAddress: DESTINATION, externalId: id },
    })),
  'POST /v1/charges (externalId)': ({ externalId }) =>
    externalId.map((id) => ({ path: '/charges', body: { valueCents: 4990, externalId: id } })),
  'POST /v1/card-payments (idempotencyKey)': ({ key }) =>
    key.map((idempotencyKey) => ({ path: '/card-payments', body: { valueCents: 4990, idempotencyKey } })),
  'POST /v1/card-payments/{orderCode}/refunds (idempotencyKey)': ({ key }, { orderCode }) =>
    key.map((idempotencyKey) => ({
      path: `/card-payments/${orderCode[0] ?? 'PSC-NONE'}/refunds`,
      body: { amountCents: 10, idempotencyKey },
    })),
  'POST /v1/card-payments (externalId)': ({ externalId }) =>
    externalId.map((id) => ({ path: '/card-payments', body: { valueCents: 4990, externalId: id } })),
  'POST /v1/card-payments (orderId)': ({ externalId }) =>
    externalId.map((id) => ({ path: '/card-payments', body: { valueCents: 4990, orderId: id } })),
  'POST /v1/subscriptions (idempotencyKey)': ({ key }) =>
    key.map((idempotencyKey) => ({
      path: '/subscriptions',
      body: { valueCents: 4990, interval: 'weekly', idempotencyKey },
    })),
  'POST /v1/payments (idempotencyKey)': ({ key }) =>
    key.map((idempotencyKey) => ({ path: '/payments', body: { valueCents: 4990, idempotencyKey } })),
  'POST /v1/charges (idempotencyKey)': ({ key }) =>
    key.map((idempotencyKey) => ({ path: '/charges', body: { valueCents: 4990, idempotencyKey } })),
  'POST /v1/charges/{id}/refunds (idempotencyKey)': ({ key }, { chargeId }) =>
    key.map((each) => ({
      path: `/charges/${chargeId[0]}/refunds`,
      body: { amountCents: 10, idempotencyKey: `${each}-charge` },
    })),
  'POST /v1/deliveries (idempotencyKey)': ({ key }, { productId }) =>
    key.map((each) => ({
      path: '/deliveries',
      body: { productId: productId[0], content: { codes: [each] }, idempotencyKey: `${each}-rest` },
    })),
  'POST /v1/payments (externalId)': ({ externalId }) =>
    externalId.map((id) => ({ path: '/payments', body: { valueCents: 4990, externalId: id } })),
  'POST /v1/payments (orderId)': ({ externalId }) =>
    externalId.map((id) => ({ path: '/payments', body: { valueCents: 4990, orderId: id } })),
  'POST /v1/payments/{id}/refunds (idempotencyKey)': ({ key }, { paymentId }) =>
    key.map((each) => ({
      path: `/payments/${paymentId[0]}/refunds`,
      body: { amountCents: 10, idempotencyKey: `${each}-pix` },
    })),
  'POST /v1/disputes/{id}/evidence (idempotencyKey)': ({ key }, { disputeId }) =>
    key.map((each) => ({
      path: `/disputes/${disputeId[0] ?? `dsp_${'0'.repeat(24)}`}/evidence`,
      body: { text: 'Entregue', idempotencyKey: `${each}-rest` },
    })),
  'POST /v1/subaccounts (externalId)': ({ externalId }) =>
    externalId.map((id) => ({ path: '/subaccounts', body: { name: 'Ana', externalId: id } })),
  'POST /v1/subaccounts/{id}/transfers (idempotencyKey)': ({ key }, { subaccountId }) =>
    key.map((idempotencyKey) => ({
      path: `/subaccounts/${subaccountId[0]}/transfers`,
      body: { amountCents: 5000, idempotencyKey },
    })),
  'POST /v1/subaccounts/{id}/payout (externalId)': ({ externalId }, { subaccountId }) =>
    externalId.map((number) => ({
      path: `/subaccounts/${subaccountId[0]}/payout`,
      body: { ...SUBACCOUNT_PAYOUT, externalId: number },
    })),
  'POST /v1/subaccounts/{id}/payout (idempotencyKey)': ({ key }, { subaccountId }) =>
    key.map((idempotencyKey) => ({
      path: `/subaccounts/${subaccountId[0]}/payout`,
      body: { ...SUBACCOUNT_PAYOUT, idempotencyKey },
    })),
};
/** The same names in a header of the request. Each of these changes has been made under that name before. */
const REST_HEADER_CHANGES: Record<string, RestChange> = Object.fromEntries(
  Object.entries(REST_CHANGES)
    .filter(([place]) => place.endsWith('(idempotencyKey)'))
    .map(([place, attack]) => [
      place.replace('(idempotencyKey)', '(Idempotency-Key)'),
      (other: Ids, own: Ids) =>
        attack(other, own).map(({ path, body: given }) => {
          const { idempotencyKey, ...body } = given as { idempotencyKey: string };
          return { path, body, headers: { 'idempotency-key': idempotencyKey } };
        }),
    ]),
);
// The dispute has this file already, so each upload is the same.
REST_HEADER_CHANGES['POST /v1/disputes/{id}/files (Idempotency-Key)'] = ({ key }, { disputeId }) =>
  key.map((each) => ({
    path: `/disputes/${disputeId[0] ?? `dsp_${HEX_OF_NONE}`}/files?name=a.pdf`,
    body: OWN_FILE.body,
    headers: { ...OWN_FILE.headers, 'idempotency-key': each },
  }));
const REST_FREE =
  /customer|\(text|description|metadata|reason|\(name|walletAddress|pixKey|content\.|Url\)|\(url\)|(?:After|Before|At)\)$/;

// ── Two accounts with both environments, and everything in each ─────────────────────────────────

let receiver: Receiver;
beforeAll(async () => {
  receiver = await openReceiver();
});
afterAll(() => receiver.shut());

const MINUTE = 60_000;

/** A store of two products. */
function storeOf(name: string): StoreProduct[] {
  const rest = { description: null, price: '49,90', imageUrl: null, available: true };
  return [1, 2].map((nth) => ({ storeProductId: `produto-${nth}-${name}`, name: 'Caneca', ...rest }));
}

/** Makes two of each resource that a key can create, under its own names. */
async function fill(client: GraphQLClient, tenant: Tenant, name: string, settled: () => Promise<void>) {
  const isLive = tenant.environment === 'live';
  const key = [`pedido-1042-${name}`, `pedido-2042-${name}`];
  const externalId = [`cliente-1-${name}`, `cliente-2-${name}`];
  const before: string = (await client.request('{ updatesCursor }')).updatesCursor;
  for (const [index, idempotencyKey] of key.entries()) {
    const { createSubaccount } = await client.request(
      `mutation ($externalId: String!, $payout: RequestPayoutInput!) {
        createSubaccount(input: { name: "Ana", externalId: $externalId }) {
          ... on CreateSubaccountSuccess { subaccount { subaccountId } } }
        createProduct(input: { name: "Caneca", priceCents: 4990 }) { __typename }
        requestPayout(input: $payout) { __typename }
      }`,
      { externalId: externalId[index], payout: { ...PAYOUT, idempotencyKey, externalId: externalId[index] } },
    );
    const { subaccountId } = createSubaccount.subaccount;
    if (isLive)
      await client.request(
        'mutation ($input: CreatePaymentInput!) { createPayment(input: $input) { __typename } }',
        { input: { valueCents: 4990, method: 'LTC', idempotencyKey: `${idempotencyKey}-ltc` } },
      );
    await client.request(
      `mutation ($transfer: TransferToSubaccountInput!, $payout: RequestSubaccountPayoutInput!, $card: CreateCardPaymentInput!, $pix: CreatePaymentInput!, $charge: CreateChargeInput!, $recurring: CreateSubscriptionInput!) {
        transferToSubaccount(input: $transfer) { __typename }
        requestSubaccountPayout(input: $payout) { __typename }
        createCardPayment(input: $card) { __typename }
        createPayment(input: $pix) { __typename }
        createCharge(input: $charge) { __typename }
        createSubscription(input: $recurring) { __typename }
      }`,
      {
        transfer: { subaccountId, amountCents: 50_000, idempotencyKey },
        payout: { subaccountId, ...SUBACCOUNT_PAYOUT, idempotencyKey, externalId: externalId[0] },
        recurring: { valueCents: 4990, interval: 'MONTHLY', idempotencyKey },
        card: { valueCents: 4990, idempotencyKey, externalId: externalId[index] },
        charge: {
          valueCents: 4990,
          idempotencyKey,
          externalId: externalId[index],
          splits: [{ subaccountId, share: { percent: '10' } }],
        },
        // The payment by PIX needs another order: the order of the card is paid by card.
        pix: { valueCents: 4990, idempotencyKey, externalId: `pix-${externalId[index]}` },
      },
    );
    await settled();
  }
  return { before, key, externalId, isLive };
}

const LISTED = `{
  wallet { id statement(first: 2) { edges { cursor node { id reference } } } }
  cardPayments(first: 10) { edges { cursor node { id orderCode } } }
  payouts(first: 10) { edges { cursor node { id withdrawalId code } } }
  products(first: 10) { edges { cursor node { id productId } } }
  subaccounts(first: 10) { edges { cursor node { id subaccountId
    statement { edges { cursor node { refId } } }
    payouts(first: 10) { edges { cursor node { id withdrawalId code payoutId } } } } } }
  webhookDeliveries(first: 10) { edges { cursor node { id webhookId } } }
}`;

/** A tenant's resources, and tokens of each kind. */
async function idsOf(
  client: GraphQLClient,
  filled: Awaited<ReturnType<typeof fill>>,
  withToken: (token: string) => GraphQLClient,
): Promise<Pick<Side, 'ids' | 'tokens'>> {
  const listed = await client.request(LISTED);
  type Edge = { cursor: string; node: Record<string, never> };
  const edges = (name: string): Edge[] => listed[name].edges;
  const nodes = (name: string) => edges(name).map(({ node }) => node as Record<string, string>);
  const first = (all: { cursor: string }[]) => all.slice(0, 1).map(({ cursor }) => cursor);
  const [subaccount] = listed.subaccounts.edges.map((edge: Edge) => edge.node);
  const ofSubaccount = subaccount.payouts.edges.map((edge: Edge) => edge.node);
  // A facade may not offer the list, and then answers with an error.
  const offered = async (query: string): Promise<Edge[]> => {
    const { data } = (await client.send(`{ list: ${query} }`)).body;
    return data?.list?.edges ?? [];
  };
  const refunds = await offered('refunds(first: 10) { edges { cursor node { id refundId } } }');
  const returns = await offered('returns(first: 10) { edges { cursor node { returnId } } }');
  const disputes = await offered(
    'disputes(first: 10) { edges { cursor node { id disputeId files { fileId } } } }',
  );
  const sales = await offered('sales(first: 10) { edges { cursor } }');
  const payments = await offered('payments(first: 10) { edges { cursor node { id paymentId method } } }');
  const charges = await offered('charges(first: 10) { edges { cursor node { id chargeId } } }');
  const deliveries = await offered('deliveries(first: 10) { edges { cursor node { id deliveryId } } }');
  const store = await offered('storeProducts(first: 10) { edges { cursor node { id storeProductId } } }');
  const subscriptions = await offered(
    'subscriptions(first: 10) { edges { cursor node { id subscriptionId cycles(first: 1) { edges { cursor } } } } }',
  );
  const tokens: Record<string, string> = {};
  const paid = (method: string) =>
    payments.flatMap(({ node }) => (String(node.method) === method ? [String(node.paymentId)] : []));
  const paymentId = paid('PIX');
  const attemptId = [`tentativa-2026-03-02-${filled.key[0]}`];
  const cards = nodes('cardPayments');
  const minted = await client.request(
    `mutation ($scopes: [DashboardScope!]!, $first: String!, $second: String!) {
      checkout: createCheckoutToken(input: { amount: { fixedCents: 4990 }, reusable: true }) {
        ... on CreateCheckoutTokenSuccess { token } }
      spare: createCheckoutToken(input: { amount: { fixedCents: 4990 }, reusable: true }) {
        ... on CreateCheckoutTokenSuccess { token } }
      pix: createCheckoutToken(input: { methods: [PIX], amount: { fixedCents: 4990 }, reusable: true }) {
        ... on CreateCheckoutTokenSuccess { token } }
      first: createCheckoutToken(input: { amount: { fixedCents: 5990 }, externalId: $first }) { __typename }
      second: createCheckoutToken(input: { amount: { fixedCents: 5990 }, externalId: $second }) {
        ... on CreateCheckoutTokenSuccess { tokenId } }
      dashboard: createDashboardToken(input: { scopes: $scopes, expiresInSeconds: 86400 }) {
        ... on CreateDashboardTokenSuccess { token } }
    }`,
    { scopes: SCOPES, first: filled.externalId[0], second: filled.externalId[1] },
  );
  if (minted.checkout.token) {
    const { startCheckout } = await withToken(minted.checkout.token).request(
      `mutation ($input: StartCheckoutInput!) { startCheckout(input: $input) {
        ... on StartCheckoutSuccess { paymentToken cardPayment { id orderCode } } } }`,
      { input: { attemptId: attemptId[0] } },
    );
    cards.push(startCheckout.cardPayment);
    tokens.checkout = minted.checkout.token;
    tokens.payment = startCheckout.paymentToken;
  }
  if (minted.pix.token) {
    const { startPixCheckout } = await withToken(minted.pix.token).request(
      `mutation ($input: StartCheckoutInput!) { startPixCheckout(input: $input) {
        ... on StartPixCheckoutSuccess { paymentToken payment { paymentId } } } }`,
      { input: { attemptId: attemptId[0] } },
    );
    paymentId.push(startPixCheckout.payment.paymentId);
    tokens.pixCheckout = minted.pix.token;
    tokens.pixPayment = startPixCheckout.paymentToken;
  }
  tokens.dashboard = minted.dashboard.token;
  const token = Object.values(tokens);
  if (minted.spare.token) {
    token.push(minted.spare.token);
    await client.request(
      'mutation ($token: String!) { pauseToken(token: $token) { __typename } resumeToken(token: $token) { __typename } }',
      { token: minted.spare.token },
    );
  }
  const mintedTokens: Edge[] = (
    await client.request('{ tokens(first: 10) { edges { cursor node { tokenId } } } }')
  ).tokens.edges;
  if (minted.second.tokenId)
    await client.request(
      'mutation ($tokenId: String) { pauseToken(tokenId: $tokenId) { __typename } }',
      minted.second,
    );
  const pausedTokens: Edge[] = (
    await client.request('{ pausedTokens(first: 10) { edges { cursor node { tokenId } } } }')
  ).pausedTokens.edges;
  const { redeliverWebhooks } = await client.request(
    `mutation { redeliverWebhooks(input: { filter: { event: ["none"] }, idempotencyKey: "of nothing" }) {
      ... on RedeliverWebhooksSuccess { redelivery { id redeliveryId } } } }`,
  );
  const { redelivery } = redeliverWebhooks;
  // A facade has no URL of the account.
  const { createWebhookEndpoint: added } = await client.request(
    `mutation ($url: Url!) { createWebhookEndpoint(input: { url: $url, events: ["payment.paid"] }) {
      ... on CreateWebhookEndpointSuccess { endpoint { id endpointId } } } }`,
    { url: `${receiver.url}/${filled.key[0]}` },
  );
  const ids = {
    orderCode: cards.map(({ orderCode }) => orderCode!),
    withdrawalId: nodes('payouts').map(({ withdrawalId }) => withdrawalId!),
    payoutCode: nodes('payouts').map(({ code }) => code!),
    payoutNode: nodes('payouts').map(({ id }) => id!),
    subaccountId: [subaccount.subaccountId],
    reference: ofSubaccount.flatMap((payout: Record<string, string>) => [
      payout.withdrawalId,
      payout.code,
      payout.payoutId,
    ]),
    productId: nodes('products').map(({ productId }) => productId!),
    deliveryId: deliveries.map(({ node }) => String(node.deliveryId)),
    storeProductId: store.map(({ node }) => String(node.storeProductId)),
    // Payments by LTC stand last: each run names the first and the last one.
    paymentId: [...paymentId, ...paid('LTC')],
    chargeId: charges.map(({ node }) => String(node.chargeId)),
    subscriptionId: subscriptions.map(({ node }) => String(node.subscriptionId)),
    refundId: refunds.map(({ node }) => String(node.refundId)),
    disputeId: disputes.map(({ node }) => String(node.disputeId)),
    fileId: disputes.flatMap(({ node }) =>
      (node.files as unknown as { fileId: string }[]).map(({ fileId }) => fileId),
    ),
    webhookId: nodes('webhookDeliveries')
      .slice(0, 2)
      .map(({ webhookId }) => webhookId!),
    redeliveryId: [redelivery.redeliveryId],
    endpointId: (await client.request('{ webhookEndpoints { endpointId } }')).webhookEndpoints.map(
      (each: { endpointId: string }) => each.endpointId,
    ),
    node: [
      listed.wallet,
      ...listed.wallet.statement.edges.slice(0, 1).map(({ node }: Edge) => node),
      cards[0],
      ...['payouts', 'products', 'webhookDeliveries'].map((list) => nodes(list)[0]),
    ]
      .concat(
        subaccount,
        ofSubaccount[0],
        refunds[0]?.node,
        payments[0]?.node,
        charges[0]?.node,
        disputes[0]?.node,
        subscriptions[0]?.node,
      )
      .concat(deliveries[0]?.node, store[0]?.node, redelivery, added.endpoint)
      .flatMap((node) => (node ? [node.id] : [])),
    token,
    key: filled.key,
    externalId: filled.externalId,
    attemptId,
    updates: [filled.before],
    cardPayments: first(edges('cardPayments')),
    payments: first(payments),
    charges: first(charges),
    sales: first(sales),
    subscriptions: first(subscriptions),
    cycles: first(
      (subscriptions[0]?.node as { cycles?: { edges: Edge[] } } | undefined)?.cycles?.edges ?? [],
    ),
    payouts: first(edges('payouts')),
    products: first(edges('products')),
    deliveries: first(deliveries),
    storeProducts: first(store),
    refunds: first(refunds),
    returns: first(returns),
    returnId: returns.map(({ node }) => String(node.returnId)),
    disputes: first(disputes),
    subaccounts: first(edges('subaccounts')),
    webhookDeliveries: first(edges('webhookDeliveries')),
    tokens: first(mintedTokens),
    pausedTokens: first(pausedTokens),
    tokenId: mintedTokens.map(({ node }) => String(node.tokenId)),
    statement: first(subaccount.statement.edges),
    entries: first(listed.wallet.statement.edges),
    // What a facade has observed has no reference.
    entryReference: listed.wallet.statement.edges.flatMap(({ node }: Edge) =>
      node.reference === null ? [] : [String(node.reference)],
    ),
    entryRefId: (subaccount.statement.edges as { node: { refId: string } }[])
      .map(({ node }) => node.refId)
      .filter((refId) => refId.startsWith('rep_')),
    subaccountPayouts: first(subaccount.payouts.edges),
  };
  return { ids, tokens };
}

const READABLE = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Names of the same form that nobody has. */
function unknown(ids: Ids): Ids {
  const digits = (text: string) => text.replace(/\d/g, (digit) => String((Number(digit) + 5) % 10));
  const letters = (text: string) =>
    text.replace(/[A-Ya-y](?=.)/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 1));
  // The letters and digits of the codes that people read aloud: the part before the dash names the kind.
  const readable = (text: string) =>
    text.replace(/(?<=-.*)[0-9A-Z]/g, (sign) => READABLE[(READABLE.indexOf(sign) + 5) % READABLE.length]!);
  const change = (kind: Kind, id: string) => {
    if (kind === 'payoutCode' || kind === 'orderCode' || /^[A-Z]+-/.test(id)) return readable(id);
    if (kind === 'node' || kind === 'payoutNode')
      return Buffer.from(digits(Buffer.from(id, 'base64').toString())).toString('base64');
    if (kind === 'token') return id.slice(0, -43) + letters(id.slice(-43));
    return /^[A-Za-z0-9_-]{22}$/.test(id) ? letters(id) : digits(id);
  };
  return Object.fromEntries(
    KINDS.map((kind) => [
      kind,
      ids[kind].map((id) => {
        const other = change(kind, id);
        if (other === id) throw new Error(`${kind} ${id} stays as it is`);
        return other;
      }),
    ]),
  ) as Ids;
}

// ── Asking ──────────────────────────────────────────────────────────────────────────────────────

let asked = 0;
/** Each request comes from another network, because a visitor's limit is not tested here. */
function headersOf(credential: string): Record<string, string> {
  asked += 1;
  return {
    authorization: `Bearer ${credential}`,
    'content-type': 'application/json',
    'x-forwarded-for': `10.${(asked >> 16) & 255}.${(asked >> 8) & 255}.${asked & 255}`,
  };
}

/** The whole answer as text: status, headers, body. */
async function reported(answer: Response): Promise<string> {
  const headers = [...answer.headers].filter(([name]) => !/^(date|ratelimit-.*)$/.test(name));
  return [answer.status, JSON.stringify(headers), await answer.text()].join('\n');
}

async function askGraphQL(
  url: string,
  credential: string,
  operation: Operation,
  accept = 'application/json',
) {
  return reported(
    await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { ...headersOf(credential), accept },
      body: JSON.stringify(operation),
    }),
  );
}

async function askRest(
  url: string,
  credential: string,
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
) {
  return reported(
    await fetch(`${url}/v1${path}`, {
      method,
      headers: { ...headersOf(credential), ...headers },
      ...(body && { body: body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body) }),
    }),
  );
}

/** Lookups of the types whose fields take names. */
/** An entry can be of any resource: all fields of each are too many for one document. */
const ENTRIES =
  '{ totalCount edges { cursor node { id kind reference amountCents resource { __typename id } } } }';
const PARENTS = {
  Wallet: 'wallet',
  Subaccount: 'subaccount(subaccountId: $id)',
  PixSubscription: 'subscription(subscriptionId: $id)',
};

/**
 * The levels that an unrestricted key selects; in the full size all that a document may. Refusals and absent resources
 * have nothing inside.
 */
const depthOf = (kind: string) => (kind === 'key' ? scale('LEVELS') : 2);

/** The operation that asks at a place, with objects in `depth` levels. */
function operationAt(place: string, values: Values, depth = depthOf('key')): Operation {
  const root = place.slice(0, place.indexOf('('));
  const [type, field] = root.split('.') as [string, string];
  // The two types get two levels: three exceed the server's limit of a document.
  if (type !== 'Subaccount' && type !== 'PixSubscription' && type !== 'Wallet')
    return operationOn(schema, root, values, field.startsWith('node') ? 2 : depth);
  const [argument] = Object.keys(values).filter((name) => name !== 'id') as [string];
  const nested = schema.getType(type) as Parameters<typeof selectionOf>[1] & {
    getFields(): Record<
      string,
      { type: Parameters<typeof selectionOf>[1]; args: { type: unknown; name: string }[] }
    >;
  };
  const { type: result, args } = nested.getFields()[field]!;
  const argumentType = args.find(({ name }) => name === argument)!.type;
  return {
    query: `query (${type === 'Wallet' ? '' : '$id: String!, '}$${argument}: ${argumentType}) { ${PARENTS[type]} {
      ${field}(${argument}: $${argument})${type === 'Wallet' ? ENTRIES : selectionOf(schema, result, 1)} } }`,
    variables: values,
  };
}

/** An answer in which each requested name is replaced by its place among the names. */
function without(ids: Ids, text: string): string {
  const names = KINDS.flatMap((kind) => ids[kind].map((id, index) => ({ id, as: `<${kind} ${index}>` })));
  names.sort((left, right) => right.id.length - left.id.length);
  return names.reduce((rest, { id, as }) => rest.replaceAll(id, as), text);
}

/**
 * The members of a refund that change when the bank has sent the money, which is a moment after the request or
 * before its answer.
 */
const OF_A_COMPLETION = ['status', 'final', 'isFinal', 'completedAt'];

/** The answer without generated ids and instants, and without sums that grow with each resource. */
function blurred(text: string): string {
  const [status, headers, body] = text.split('\n') as [string, string, string];
  const named =
    /(id|code|token|url|refId|cursor|version|copyPaste|At|balance\w*|\w*balanceCents|\w*Cents|remainingCount|stock)$/i;
  const blur = (value: unknown, name: string): unknown => {
    // Each submission adds evidence.
    if (name === 'evidence') return '*';
    // The body of a webhook has ids of its own.
    if (name === 'payload' && typeof value === 'string') return blur(JSON.parse(value), '');
    if (Array.isArray(value)) return value.map((item) => blur(item, name));
    if (value !== null && typeof value === 'object')
      return Object.fromEntries(
        Object.entries(value).map(([key, item]) => [
          key,
          'refundId' in value && OF_A_COMPLETION.includes(key) ? '*' : blur(item, key),
        ]),
      );
    return named.test(name) && value !== null && !/externalId$/.test(name) ? '*' : value;
  };
  return [
    status,
    headers.replace(/\["content-length","\d+"\],?/, ''),
    JSON.stringify(blur(JSON.parse(body), '')),
  ].join('\n');
}

/** The first message of each operation, in the order of the requests. */
async function firstOfEach(url: string, credential: string, operations: Operation[]): Promise<string[]> {
  const connection = openRawSocket(url, { headers: headersOf(credential) });
  await connection.init(credential);
  const answers: string[] = [];
  for (const [index, payload] of operations.entries()) {
    connection.send({ id: `o${index}`, type: 'subscribe', payload });
    const message = await connection.next();
    answers.push(JSON.stringify({ ...message, id: '' }));
    if (message.type !== 'next') continue;
    // If this message was all, the operation has already ended.
    connection.send({ id: `o${index}`, type: 'complete' });
    connection.send({ type: 'ping' });
    while ((await connection.next()).type !== 'pong');
  }
  connection.socket.terminate();
  await connection.closed;
  return answers;
}

/** All rows of a tenant, table by table, without what a facade records of its own requests to the service. */
async function rowsOf({ databases }: Side): Promise<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  for (const [index, { database, tenant }] of databases.entries()) {
    const { rows: tables } = await sql<{ name: string }>`
      select table_name as name from information_schema.columns
      where table_schema = 'public' and column_name = 'environment'
        and table_name not in ('observed', 'observed_entry', 'upstream_intent', 'upstream_poll') order by 1`.execute(
      database.sql,
    );
    for (const { name } of tables) {
      const { rows } = await sql`
        select count(*) as count, md5(string_agg(t::text, ' ' order by t::text)) as sum from ${sql.table(name)} t
        where account_id = ${tenant.accountId} and environment = ${tenant.environment}`.execute(database.sql);
      found[`${index} ${name}`] = rows[0];
    }
  }
  return found;
}

// ── The two settings ────────────────────────────────────────────────────────────────────────────

interface Setting {
  url: string;
  hasRest: boolean;
  /** The sides whose credentials send the requests. */
  requesters: Side[];
  /** The sides whose names are requested. */
  sides: Side[];
  /** Credentials of a side, by their kind. */
  credentialsOf(side: Side): Promise<Record<string, string>>;
  pass(ms: number): Promise<void>;
  faults: readonly unknown[];
  close(): Promise<void>;
}

const ENVIRONMENT = {
  PSA_GRAPHQL_LIMIT: '1000000',
  PSA_TRUSTED_PROXIES: '127.0.0.1',
  // The task that removes old rows would change those of everybody.
  PSA_KEEP: 'forever',
};

async function sideOf(
  { name, tenant, key }: Pick<Side, 'name' | 'tenant' | 'key'>,
  {
    url,
    service,
    settled,
    pass,
    beforeListing = async () => undefined,
  }: {
    url: string;
    service: { app: TestApp; tenant: Tenant; key: string };
    settled: () => Promise<void>;
    pass: (ms: number) => Promise<void>;
    beforeListing?: () => Promise<void>;
  },
): Promise<Omit<Side, 'databases'>> {
  const client = createClient(`${url}/graphql`, key);
  const { app } = service;
  if (tenant.environment === 'live') await app.controls.credit(service.tenant, 100_000_000);
  else
    await client.request('mutation { createTestPayment(input: { valueCents: 100000000 }) { __typename } }');
  await settled();
  await replaceStoreProducts(app.database.sql, service.tenant, storeOf(name));
  const filled = await fill(client, tenant, name, settled);
  // A facade creates no such resource.
  const atService = createClient(`${app.url}/graphql`, service.key);
  const { products } = await atService.request('{ products { nodes { productId } } }');
  for (const [index, product] of products.nodes.entries())
    await atService.request(
      'mutation ($input: CreateDeliveryInput!) { createDelivery(input: $input) { __typename } }',
      { input: { ...product, content: { text: 'Obrigada!' }, idempotencyKey: filled.key[index] } },
    );
  if (tenant.environment === 'live')
    for (const amountCents of [10, 20]) {
      const disputeId = await app.controls.openDispute(service.tenant, { amountCents });
      await createRestClient(app.url, service.key).send(`/disputes/${disputeId}/files?name=a.pdf`, {
        method: 'POST',
        headers: OWN_FILE.headers,
        body: new Uint8Array(OWN_FILE.body),
      });
    }
  const { cardPayments } = await client.request('{ cardPayments { nodes { orderCode } } }');
  for (const { orderCode } of cardPayments.nodes) await app.embedded!.cardPayments.pay(orderCode, approved());
  await settled();
  for (const { orderCode } of cardPayments.nodes)
    await client.request(
      'mutation ($input: RefundCardPaymentInput!) { refundCardPayment(input: $input) { __typename } }',
      { input: { orderCode, amountCents: 10, idempotencyKey: `devolucao-${orderCode}` } },
    );
  const { items } = await app.payments.listPage(service.tenant, { limit: 10, offset: 0 });
  for (const { paymentId, ltc } of items) {
    if (ltc) {
      await app.litecoin.send(ltc.address!, { litoshi: ltc.litoshi, confirmations: 2 });
      continue;
    }
    // The second payment by PIX of an order or a charge is returned.
    for (let paid = 0; paid < 2; paid += 1) {
      await app.pix.pay({ txid: txidOf(paymentId) });
      await app.payments.receive(service.tenant, paymentId);
    }
    await client.request(
      'mutation ($input: RefundPaymentInput!) { refundPayment(input: $input) { __typename } }',
      { input: { paymentId, amountCents: 10, idempotencyKey: `devolucao-${paymentId}` } },
    );
  }
  const { items: charges } = await app.charges.listPage(service.tenant, { limit: 10, offset: 0 });
  for (const { chargeId } of charges) {
    for (let paid = 0; paid < 2; paid += 1) {
      await app.pix.pay({ txid: txidOf(chargeId) });
      await app.charges.receive(service.tenant, chargeId);
    }
    await client.request(
      'mutation ($input: RefundChargeInput!) { refundCharge(input: $input) { __typename } }',
      { input: { chargeId, amountCents: 10, idempotencyKey: `devolucao-${chargeId}` } },
    );
  }
  const recurring = await app.subscriptions.listPage(service.tenant, { limit: 10, offset: 0 });
  for (const { subscriptionId } of recurring.items) {
    await app.pix.pay({ txid: txidOf(subscriptionId) });
    await app.subscriptions.receive(service.tenant, subscriptionId);
  }
  await settled();
  await pass(61 * MINUTE);
  await lookAt(client, { subscriptionId: recurring.items.map(({ subscriptionId }) => subscriptionId) });
  await beforeListing();
  const named = await idsOf(client, filled, (token) => createClient(`${url}/graphql`, token));
  return { name, tenant, key, ...named };
}

/** Reads each of a tenant's own resources: by that a facade records what no webhook reports. */
async function lookAt(client: GraphQLClient, ids: Partial<Ids>): Promise<void> {
  for (const [field, kind] of [
    ['payment', 'paymentId'],
    ['charge', 'chargeId'],
    ['subscription', 'subscriptionId'],
  ] as const)
    for (const id of ids[kind] ?? [])
      await client.request(`query ($id: String!) { ${field}(${kind}: $id) { status } }`, { id });
}

async function startEmbedded(): Promise<Setting> {
  const app = await startApp({ environment: ENVIRONMENT });
  const [first] = await app.database.sql.selectFrom('account').select('id').execute();
  const other = await addAccount(app);
  const wait = { settled: () => app.work.settled(), pass: (ms: number) => advanceClock(app, ms) };
  const sides: Side[] = [];
  const restricted = new Map<Side, Record<string, string>>();
  for (const [name, accountId, environment] of [
    ['a-live', first!.id, 'live'],
    ['a-sandbox', first!.id, 'sandbox'],
    ['b-live', other, 'live'],
    ['b-sandbox', other, 'sandbox'],
  ] as [string, string, Environment][]) {
    const key =
      accountId === other
        ? await addKey(app, { accountId, environment })
        : { live: LIVE_KEY, sandbox: TEST_KEY }[environment];
    const tenant = { accountId, environment };
    await configureWebhook(createClient(`${app.url}/graphql`, key), receiver.url);
    const side = await sideOf(
      { name, tenant, key },
      { url: app.url, service: { app, tenant, key }, ...wait },
    );
    sides.push({ ...side, databases: [{ database: app.database, tenant }] });
    restricted.set(sides.at(-1)!, {
      manages: await addKey(app, { accountId, environment, permissions: ['subcontas.gerenciar'] }),
      withdraws: await addKey(app, { accountId, environment, permissions: ['subcontas.sacar'] }),
    });
  }
  // Payments that payers have begun expire before rows are compared.
  await wait.pass(31 * MINUTE);
  return {
    url: app.url,
    hasRest: true,
    requesters: sides,
    sides,
    pass: wait.pass,
    faults: app.faults,
    credentialsOf: async (side) => ({ key: side.key, ...restricted.get(side), ...side.tokens }),
    close: () => app.close(),
  };
}

async function startRemote(): Promise<Setting> {
  const service = await startService({ environment: ENVIRONMENT });
  const pair: Pair = await startPair({
    service,
    requestsPerMinute: 100_000,
    environment: { ...ENVIRONMENT, PSA_UPSTREAM_FAMILIES: UPSTREAM_FAMILIES.join(',') },
  });
  const { facade, accountIds, settled } = pair;
  const { app } = service;
  const sides: Side[] = [];
  for (const environment of ['live', 'sandbox'] as const) {
    const [here, there] = [
      { accountId: accountIds.facade, environment },
      { accountId: accountIds.service, environment },
    ];
    const side = await sideOf(
      { name: `a-${environment}`, tenant: here, key: pair.keys[environment] },
      {
        url: facade.url,
        service: { app, tenant: there, key: { live: LIVE_KEY, sandbox: TEST_KEY }[environment] },
        settled,
        pass: pair.pass,
        beforeListing: () => relay(facade.database, here, facade.clock.now()),
      },
    );
    const databases = [
      { database: facade.database, tenant: here },
      { database: app.database, tenant: there },
    ];
    sides.push({ ...side, databases });
  }
  const requesters = [...sides];
  const accountId = await addAccount(app);
  for (const environment of ['live', 'sandbox'] as const) {
    const tenant = { accountId, environment };
    const key = await addKey(app, tenant);
    await configureWebhook(createClient(`${app.url}/graphql`, key), receiver.url);
    const side = await sideOf(
      { name: `b-${environment}`, tenant, key },
      { url: app.url, service: { app, tenant, key }, settled, pass: pair.pass },
    );
    sides.push({ ...side, databases: [{ database: app.database, tenant }] });
  }
  await pair.pass(31 * MINUTE);
  // A facade records a change at its next read; a follower's read would be a change of its own.
  for (const { key, ids } of requesters) {
    const client = createClient(`${facade.url}/graphql`, key);
    await lookAt(client, ids);
    await client.request('{ wallet { id } }');
  }
  return {
    url: facade.url,
    hasRest: false,
    requesters,
    sides,
    pass: pair.pass,
    get faults() {
      return [...app.faults, ...facade.faults];
    },
    credentialsOf: async (side) => ({ key: side.key, ...side.tokens }),
    async close() {
      await pair.close();
      await app.close();
    },
  };
}

/** A webhook that the facade has relayed, which it does only for a public `callbackUrl`. */
function relay({ sql: connection }: Database, tenant: Tenant, at: Date): Promise<void> {
  const webhookId = newWebhookId();
  return insertDeliveries(
    connection,
    recordsOf(tenant, [
      {
        webhookId,
        event: 'card_payment.paid',
        resource: 'card_payment',
        resourceId: webhookId,
        ...{
          endpointId: null,
          subjectType: null,
          subjectId: null,
          responseStatus: null,
          responseClass: null,
        },
        url: receiver.url,
        body: '{}',
        headers: {},
        eventVersion: null,
        resourceVersion: null,
        occurredAt: null,
        status: 'delivered',
        attempts: 1,
        failures: 0,
        nextAttemptAt: null,
        createdAt: at,
      },
    ]),
  );
}

describe('every place where something is named', () => {
  test('The attacks cover every argument that names something, and every mutation', async () => {
    const known = Object.entries(CHANGES).flatMap(([name, { names = [] }]) =>
      names.map((path) => `Mutation.${name}(${path})`),
    );
    const places = namedPlaces(schema).filter((place) => !FREE.test(place) && !SELECTING.test(place));
    expect([...Object.keys(PLACES), ...known].sort()).toEqual(places.sort());
    expect(Object.keys(CHANGES).sort()).toEqual(Object.keys(schema.getMutationType()!.getFields()).sort());
  });

  test('The attacks cover every place of the REST interface that names something', async () => {
    const app = await startApp();
    const description = await (await fetch(`${app.url}/v1/openapi.json`)).json();
    await app.close();
    const places = namedPlacesOfRest(description).filter((place) => !REST_FREE.test(place));
    const known = [REST_PLACES, REST_CHANGES, REST_HEADER_CHANGES].flatMap((each) => Object.keys(each));
    expect(known.sort()).toEqual(places.sort());
  });
});

const SETTINGS = [
  ['the service itself', startEmbedded],
  // A facade has the same tables, and the same callers may read them.
  ['a facade', startRemote],
] as const;
describe.each(firstInSample(SETTINGS))('of %s', (_, start) => {
  let setting: Setting;
  beforeAll(async () => {
    setting = await start();
  }, 120_000);
  afterAll(async () => {
    expect(setting.faults).toEqual([]);
    await setting.close();
  });
  const others = (side: Side) => setting.sides.filter((other) => other !== side);
  const rowsOfAll = (sides: Side[]) => Promise.all(sides.map(rowsOf));

  /**
   * Attackers with a credential, and victims' names: keys in every pair; tokens and restricted keys in as many
   * pairs as the scale says. A sample has a pair of one environment, a pair of one account, and each other
   * credential once.
   */
  async function pairings(): Promise<{ side: Side; kind: string; credential: string; attacked: Side[] }[]> {
    const all = await Promise.all(
      setting.requesters.map(async (side, at) =>
        Object.entries(await setting.credentialsOf(side)).map(([kind, credential]) => ({
          side,
          kind,
          credential,
          attacked:
            kind === 'key'
              ? others(side).filter((_, index) => runsAll() || index === (at * 2 + 1) % 3)
              : others(side).slice(-scale('PAIRS_OF_TOKENS')),
        })),
      ),
    );
    const used = new Map<string, number>();
    return all.flat().filter(({ kind }) => {
      const before = used.get(kind) ?? 0;
      used.set(kind, before + 1);
      if (kind === 'key') return runsAll() || before < 2;
      return before < scale('TENANTS_WITH_TOKENS');
    });
  }

  /**
   * Requests the same places with another tenant's names and with names of nobody, one after the other, by `ask`.
   * The server caches the document that it has just read, so each place is requested with both names in turn.
   */
  async function compare(
    side: Side,
    attacked: readonly Side[],
    ask: (attacks: { place: string; values: Values }[]) => Promise<string[]>,
    wants: (place: string) => boolean,
  ): Promise<number> {
    let compared = 0;
    for (const other of attacked) {
      const nobodys = unknown(other.ids);
      const attacksWith = (ids: Ids) =>
        Object.entries(PLACES)
          .filter(([place]) => wants(place))
          .flatMap(([place, attack]) =>
            firstAndLast(attack(ids, side.ids)).map((values) => ({ place, values })),
          );
      const attacks = attacksWith(other.ids);
      const ofNobody = attacksWith(nobodys);
      const answers = await ask(attacks.flatMap((attack, index) => [attack, ofNobody[index]!]));
      for (const [index, { place, values }] of attacks.entries())
        expect(
          without(other.ids, answers[index * 2]!),
          `${side.name} ${place} ${JSON.stringify(values)}`,
        ).toBe(without(nobodys, answers[index * 2 + 1]!));
      compared += attacks.length;
    }
    return compared;
  }

  const asking =
    (credential: string, depth: number) => async (attacks: { place: string; values: Values }[]) => {
      const answers: string[] = [];
      for (const { place, values } of attacks)
        answers.push(await askGraphQL(setting.url, credential, operationAt(place, values, depth)));
      return answers;
    };
  /**
   * In `npm test` a credential other than an unrestricted key requests every eighth place, and the next
   * credential other places.
   */
  const isAskedBy = (index: number, place: number) => runsAll() || place % 8 === index % 8;
  const isSubscription = (place: string) => place.startsWith('Subscription.');

  test('A foreign name gives the response of an unknown one in every query and mutation, with every credential', async () => {
    const before = await rowsOfAll(setting.sides);
    let compared = 0;
    for (const [index, { side, kind, credential, attacked }] of (await pairings()).entries())
      compared += await compare(
        side,
        attacked,
        asking(credential, depthOf(kind)),
        (place) =>
          !isSubscription(place) && (kind === 'key' || isAskedBy(index, Object.keys(PLACES).indexOf(place))),
      );
    expect(compared).toBeGreaterThan(100);
    expect(await rowsOfAll(setting.sides)).toEqual(before);
  });

  test('Each query and subscription with a name finds the caller’s own resource', async () => {
    const [side] = setting.requesters as [Side];
    const nobodys = unknown(side.ids);
    const types = new Set(side.ids.node.map((id) => decodeGlobalID(id).typename));
    const all = schema.getPossibleTypes(schema.getType('Node') as GraphQLInterfaceType);
    // A facade that has seen the wallet once has no entry.
    const named = setting.hasRest ? all : all.filter(({ name }) => types.has(name) || name !== 'WalletEntry');
    expect([...types].sort()).toEqual(named.map(({ name }) => name).sort());
    const reads = Object.entries(PLACES).filter(
      ([place]) => !place.startsWith('Mutation.') && (setting.hasRest || !NOT_OFFERED.has(place)),
    );
    for (const [place, attack] of reads) {
      expect(attack(side.ids, side.ids), place).not.toEqual([]);
      const ask = isSubscription(place)
        ? (operation: Operation) => firstOfEach(setting.url, side.key, [operation]).then(([first]) => first!)
        : (operation: Operation) => askGraphQL(setting.url, side.key, operation);
      const found = await ask(operationAt(place, attack(side.ids, side.ids)[0]!));
      const none = await ask(operationAt(place, attack(nobodys, side.ids)[0]!));
      expect(without(side.ids, found), place).not.toBe(without(nobodys, none));
    }
  });

  test('A query without a name shows nothing of another tenant', async () => {
    const queries = Object.keys(schema.getQueryType()!.getFields());
    let looked = 0;
    for (const { side, kind, credential } of await pairings()) {
      const answers: string[] = [];
      for (const name of queries.filter((field) => !/^nodes?$/.test(field)))
        answers.push(await askGraphQL(setting.url, credential, operationOn(schema, `Query.${name}`, {})));
      const all = answers.join();
      if (kind === 'key') expect(all).toContain(side.ids.productId[0]);
      for (const other of others(side))
        for (const name of KINDS.flatMap((each) => other.ids[each])) {
          looked += 1;
          expect(all).not.toContain(name);
        }
    }
    expect(looked).toBeGreaterThan(400);
  });

  test('A foreign name gives the response of an unknown one in every subscription, over both transports', async () => {
    const before = await rowsOfAll(setting.sides);
    let compared = 0;
    for (const { side, kind, credential, attacked } of await pairings()) {
      const bySocket = (attacks: { place: string; values: Values }[]) =>
        firstOfEach(
          setting.url,
          credential,
          attacks.map(({ place, values }) => operationAt(place, values, depthOf(kind))),
        );
      compared += await compare(side, attacked, bySocket, isSubscription);
      if (kind !== 'key') continue;
      const byStream = async (attacks: { place: string; values: Values }[]) => {
        const answers: string[] = [];
        for (const { place, values } of attacks)
          answers.push(
            await askGraphQL(setting.url, credential, operationAt(place, values), 'text/event-stream'),
          );
        return answers;
      };
      compared += await compare(side, attacked, byStream, isSubscription);
    }
    expect(compared).toBeGreaterThan(100);
    expect(await rowsOfAll(setting.sides)).toEqual(before);
  });

  test('A foreign name gives the response of an unknown one on every path of the REST interface', async () => {
    if (!setting.hasRest) return expect((await fetch(`${setting.url}/v1/wallet`)).status).toBe(404);
    const before = await rowsOfAll(setting.sides);
    let compared = 0;
    for (const [index, { side, kind, credential, attacked }] of (await pairings()).entries())
      for (const other of attacked) {
        const nobodys = unknown(other.ids);
        for (const [place, attack] of Object.entries(REST_PLACES)) {
          if (kind !== 'key' && !isAskedBy(index, Object.keys(REST_PLACES).indexOf(place))) continue;
          const [method] = place.split(' ') as [string];
          const none = attack(nobodys, side.ids);
          for (const [at, { path, body, headers }] of attack(other.ids, side.ids).entries()) {
            const theirs = await askRest(setting.url, credential, method, path, body, headers);
            const nothing = await askRest(
              setting.url,
              credential,
              method,
              none[at]!.path,
              none[at]!.body,
              headers,
            );
            expect(without(other.ids, theirs), `${side.name} ${method} ${path}`).toBe(
              without(nobodys, nothing),
            );
            compared += 1;
          }
        }
      }
    expect(compared).toBeGreaterThan(100);
    expect(await rowsOfAll(setting.sides)).toEqual(before);
  });

  test('A tenant that uses the names of another one changes only its own resources', async () => {
    let compared = 0;
    for (const { side, kind, attacked } of await pairings()) {
      if (kind !== 'key') continue;
      const credentials = await setting.credentialsOf(side);
      const before = await rowsOfAll(others(side));
      for (const other of attacked) {
        const nobodys = unknown(other.ids);
        for (const [name, { names, values }] of Object.entries(CHANGES)) {
          if (!names && other !== attacked[0]) continue;
          const credential = (STARTED_BY[name] && credentials[STARTED_BY[name]]) || credentials.key!;
          const ask = (ids: Ids) =>
            values(firstOf(ids), side.ids).map((each) =>
              askGraphQL(setting.url, credential, operationOn(schema, `Mutation.${name}`, each, 1)),
            );
          const theirs = await Promise.all(ask(other.ids));
          if (!names) continue;
          const none = await Promise.all(ask(nobodys));
          for (const [index, answer] of theirs.entries()) {
            expect(blurred(without(other.ids, answer)), `${side.name} ${name}`).toBe(
              blurred(without(nobodys, none[index]!)),
            );
            expect(answer).not.toMatch(/"\w*replayed":true|IDEMPOTENCY/);
            compared += 1;
          }
        }
      }
      await setting.pass(61 * MINUTE);
      if (setting.hasRest)
        for (const other of attacked) {
          for (const [place, attack] of Object.entries({ ...REST_CHANGES, ...REST_HEADER_CHANGES })) {
            const [method] = place.split(' ') as [string];
            const ask = (ids: Ids) =>
              attack(lastOf(ids), side.ids).map(({ path, body, headers }) =>
                askRest(setting.url, side.key, method, path, body, headers),
              );
            // A refund that an earlier place has requested is completed a moment later, and requested again here.
            await setting.pass(0);
            const theirs = await Promise.all(ask(other.ids));
            const none = await Promise.all(ask(unknown(other.ids)));
            for (const [index, answer] of theirs.entries()) {
              expect(blurred(without(other.ids, answer)), `${side.name} ${place}`).toBe(
                blurred(without(unknown(other.ids), none[index]!)),
              );
              compared += 1;
            }
          }
          // An hour has ten payouts.
          await setting.pass(61 * MINUTE);
        }
      await setting.pass(61 * MINUTE);
      expect(await rowsOfAll(others(side))).toEqual(before);
    }
    expect(compared).toBeGreaterThan(10);
  });

  test('the events of one tenant reach it and no other', async () => {
    const follows = await Promise.all(
      setting.requesters.map(async (side) => {
        const socket = openRawSocket(setting.url);
        await socket.init(side.key);
        for (const field of [
          'allPayoutUpdates',
          'allCardPaymentUpdates',
          'allCheckoutTokenUpdates',
          'allSubaccountPayoutUpdates',
          ...Object.keys(CREATED_BY),
          ...['allRefundUpdates', 'allDisputeUpdates', 'allWebhookDeliveryUpdates'],
          // A facade does not offer this subscription.
          ...(setting.hasRest ? ['allSubaccountUpdates'] : []),
          'walletUpdates',
        ])
          socket.send({
            id: field,
            type: 'subscribe',
            payload: operationOn(schema, `Subscription.${field}`, {}),
          });
        // The current wallet comes first, and after it all subscriptions stand.
        const first = await socket.next();
        expect(first).toMatchObject({ id: 'walletUpdates', type: 'next' });
        return { side, socket, wallet: first.payload.data.walletUpdates.wallet.id as string };
      }),
    );
    for (const { side, socket } of follows) {
      const client = createClient(`${setting.url}/graphql`, side.key);
      const { requestPayout } = await client.request(
        `mutation ($input: RequestPayoutInput!) { requestPayout(input: $input) {
          ... on RequestPayoutSuccess { payout { withdrawalId } } } }`,
        { input: PAYOUT },
      );
      const { withdrawalId } = requestPayout.payout;
      const made: string[] = [withdrawalId];
      let message: { id: string };
      do message = await socket.next();
      while (message.id !== 'allPayoutUpdates');
      expect(JSON.stringify(message)).toContain(withdrawalId);
      for (const [stream, mutation] of Object.entries(CREATED_BY)) {
        const { id } = (await client.request(`mutation { created: ${mutation} }`)).created.resource;
        // A facade may see only now that an older payment has ended.
        do message = await socket.next();
        while (message.id !== stream || !JSON.stringify(message).includes(id));
        made.push(id);
      }
      await setting.pass(MINUTE);
      for (const other of follows) {
        other.socket.send({ type: 'ping' });
        const received: Awaited<ReturnType<typeof other.socket.next>>[] = [];
        for (;;) {
          const next = await other.socket.next();
          if (next.type === 'pong') break;
          received.push(next);
        }
        // A facade may have read its own wallet again, and some of its own payments expire meanwhile.
        if (other.side !== side)
          for (const { id, payload } of received) {
            if (id === 'walletUpdates') expect(payload.data.walletUpdates.wallet.id).toBe(other.wallet);
            for (const name of [
              ...made,
              ...others(other.side).flatMap(({ ids }) => GIVEN.flatMap((kind) => ids[kind])),
            ])
              expect(JSON.stringify(payload)).not.toContain(name);
          }
      }
    }
    for (const { socket } of follows) socket.socket.terminate();
  });
});

/** The first request of each kind, or the last one: a resource of one interface must not be found by another. */
/** The first request and the last one of a place in `npm test`; all of them in `npm run test:all`. */
function firstAndLast<Item>(items: readonly Item[]): readonly Item[] {
  return sampled(items, items.length);
}

const firstOf = (ids: Ids) => pick(ids, (all) => all.slice(0, 1));
const lastOf = (ids: Ids) => pick(ids, (all) => all.slice(-1));
function pick(ids: Ids, some: (all: string[]) => string[]): Ids {
  return Object.fromEntries(KINDS.map((kind) => [kind, some(ids[kind])])) as Ids;
}
