import { afterAll, beforeAll, expect, test } from 'vitest';
import { schema } from '../../../server/src/programs/modes/schema.ts';
import { addAccount, addKey, addToken } from '../../support/accounts.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import type { GraphQLClient } from '../../support/graphql.ts';

// Every root field with every credential: its outcome, or the code of its refusal.

let app: TestApp;
/** An account without money. */
let accountId: string;
beforeAll(async () => {
  app = await startApp();
  accountId = await addAccount(app);
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
});

/** The credentials that some operations accept; a restricted key is named by its permission, a token by its grant. */
const COLUMNS = [
  'live',
  'test',
  'gerenciar',
  'sacar',
  'checkout',
  'cardPayment',
  'pixPayment',
  'cards',
  'payments',
  'products',
  'wallet',
] as const;
type Outcomes = Partial<Record<(typeof COLUMNS)[number], string>>;
interface Row {
  /** The arguments and the selection of the field. */
  rest: string;
  /** The outcomes for the accepted credentials. All others are refused. */
  outcomes: Outcomes;
}
const keys = (outcome: string): Outcomes => ({ live: outcome, test: outcome });
const all = (outcome: string): Outcomes =>
  Object.fromEntries(COLUMNS.map((column) => [column, outcome])) as Outcomes;
/** A query: 'ok' for each credential that the row accepts. */
const query = (rest: string, ...others: (keyof Outcomes)[]): Row => ({
  rest,
  outcomes: { ...keys('ok'), ...Object.fromEntries(others.map((column) => [column, 'ok'])) },
});
/** A mutation; a test key's outcome is the live key's, unless it is given. */
const mutation = (rest: string, outcome: string, others: Outcomes = {}): Row => ({
  rest,
  outcomes: { ...keys(outcome), ...others },
});
/** A subscription. An accepted caller gets an error: this is no cursor, or there is no such resource. */
const stream = (rest: string, ...others: (keyof Outcomes)[]): Row => {
  const outcome = rest.startsWith('(after') ? 'BAD_USER_INPUT' : 'NOT_FOUND';
  return {
    rest: `${rest} { cursor }`,
    outcomes: { ...keys(outcome), ...Object.fromEntries(others.map((column) => [column, outcome])) },
  };
};

const [NO_ID, NO_HEX] = ['0'.repeat(24), '0'.repeat(32)];
const NO_NODE = Buffer.from('CardPayment:PSC-0').toString('base64');
const NO_ENTITY = `{ __typename: "CardPayment", id: "${NO_NODE}" }`;
const KEY = 'idempotencyKey: "x"';
const OF_SUBACCOUNT = `subaccountId: "sacc_${NO_HEX}"`;
const PAYERS = ['cardPayment', 'pixPayment'] as const;
const FOLLOWERS = ['gerenciar', 'sacar', 'cards', 'payments', 'wallet'] as const;
/** The root fields, by their type and their name. */
const OPERATIONS: Record<string, Row> = {
  'Query._entities': query(`(representations: [${NO_ENTITY}]) { __typename }`, ...PAYERS, 'cards'),
  // The schema is for keys alone, as introspection is.
  'Query._service': query('{ sdl }', 'gerenciar', 'sacar'),
  'Query.cardPayment': query('(orderCode: "PSC-0") { status }', ...PAYERS, 'cards'),
  'Query.cardPaymentTotals': query('{ count }', 'cards'),
  'Query.cardPayments': query('{ totalCount }', 'cards'),
  'Query.charge': query(`(chargeId: "psc_${NO_HEX}") { status }`, 'payments'),
  'Query.chargeTotals': query('{ count }', 'payments'),
  'Query.charges': query('{ totalCount }', 'payments'),
  'Query.delivery': query(`(deliveryId: "${NO_ID}") { kind }`, 'products'),
  'Query.deliveries': query('{ totalCount }', 'products'),
  'Query.dispute': query(`(disputeId: "dsp_${NO_ID}") { status }`),
  'Query.disputes': query('{ totalCount }'),
  'Query.lookup': query('(reference: "ref_idem_x") { id }', 'cards', 'payments'),
  'Query.node': query(`(id: "${NO_NODE}") { id }`, ...PAYERS, 'cards'),
  'Query.nodes': query(`(ids: ["${NO_NODE}"]) { id }`, ...PAYERS, 'cards'),
  'Query.pausedTokens': query('{ nodes { tokenId } }', 'cards'),
  'Query.payment': query(`(paymentId: "psa_${NO_HEX}") { status }`, ...PAYERS, 'payments'),
  'Query.paymentTotals': query('{ count }', 'payments'),
  'Query.payments': query('{ totalCount }', 'payments'),
  'Query.payout': query(`(withdrawalId: "${NO_ID}") { status }`),
  'Query.payoutTotals': query('{ count }'),
  'Query.payouts': query('{ totalCount }'),
  'Query.product': query(`(productId: "${NO_ID}") { name }`, 'products'),
  'Query.products': query('{ totalCount }', 'products'),
  'Query.refund': query(`(refundId: "ref_${NO_ID}") { status }`, 'cards', 'payments'),
  'Query.refundTotals': query('{ count }', 'cards', 'payments'),
  'Query.refunds': query('{ totalCount }', 'cards', 'payments'),
  'Query.returns': query('{ totalCount }', 'cards', 'payments'),
  'Query.sales': query('{ totalCount }', 'cards', 'payments'),
  'Query.salesTotals': query('{ count }', 'cards', 'payments'),
  'Query.storeProduct': query('(storeProductId: "x") { name }', 'products'),
  'Query.storeProducts': query('{ totalCount }', 'products'),
  // The other permission sees only the payouts of a subaccount.
  'Query.subaccount': query(`(${OF_SUBACCOUNT}) { name }`, 'gerenciar', 'sacar'),
  'Query.subaccountPayout': query(
    `(${OF_SUBACCOUNT}, reference: "${NO_ID}") { status }`,
    ...['gerenciar' as const, 'sacar' as const],
  ),
  'Query.subaccountPayoutTotals': query('{ count }', 'gerenciar', 'sacar'),
  'Query.subaccountTransfer': query(`(${OF_SUBACCOUNT}, ${KEY}) { kind }`, 'gerenciar'),
  'Query.subaccounts': query('{ totalCount }', 'gerenciar'),
  'Query.subscription': query(`(subscriptionId: "psa_sub_${NO_HEX}") { status }`),
  'Query.subscriptions': query('{ totalCount }'),
  'Query.token': query(`(tokenId: "tok_${NO_ID}") { status }`),
  'Query.tokens': query('{ nodes { tokenId } }'),
  'Query.requestsInDoubt': query('{ nodes { requestId } }'),
  'Query.retention': query('{ eventsDays }', ...FOLLOWERS, 'products'),
  'Query.updateKinds': query('', ...FOLLOWERS, 'products'),
  'Query.updatesCursor': query('', ...FOLLOWERS, 'products'),
  'Query.viewer': { rest: '{ credential }', outcomes: all('ok') },
  'Query.wallet': query('{ balanceCents }', 'wallet'),
  'Query.webhookDeliveries': query('{ totalCount }'),
  'Query.webhookDelivery': query('(webhookId: "x") { webhookId }'),
  'Query.webhookRedelivery': query('(redeliveryId: "x") { status }'),
  'Query.webhookEndpoint': query('{ url }'),
  'Query.webhookEndpoints': query('{ url }'),
  'Query.webhookEvents': query('{ name }'),

  'Mutation.acceptDispute': mutation(`(disputeId: "dsp_${NO_ID}")`, 'NotFoundError'),
  'Mutation.cancelCardPayment': mutation('(orderCode: "PSC-0")', 'NotFoundError'),
  'Mutation.cancelCharge': mutation(`(chargeId: "psc_${NO_HEX}")`, 'NotFoundError'),
  'Mutation.cancelPayment': mutation(`(paymentId: "psa_${NO_HEX}")`, 'NotFoundError'),
  'Mutation.cancelSubscription': mutation(`(subscriptionId: "psa_sub_${NO_HEX}")`, 'NotFoundError'),
  'Mutation.configureWebhook': mutation(
    '(input: { url: "https://shop.example/webhook" })',
    'ConfigureWebhookSuccess',
  ),
  'Mutation.createWebhookEndpoint': mutation(
    '(input: { url: "https://shop.example/other" })',
    'CreateWebhookEndpointSuccess',
  ),
  'Mutation.updateWebhookEndpoint': mutation(`(input: { endpointId: "whe_${NO_ID}" })`, 'NotFoundError'),
  'Mutation.deleteWebhookEndpoint': mutation(`(endpointId: "whe_${NO_ID}")`, 'NotFoundError'),
  'Mutation.createCardPayment': mutation('(input: { valueCents: 100 })', 'CreateCardPaymentSuccess', {
    test: 'PreconditionError',
  }),
  'Mutation.createCharge': mutation('(input: { valueCents: 100 })', 'CreateChargeSuccess'),
  'Mutation.createCheckoutToken': mutation(
    '(input: { amount: { fixedCents: 100 } })',
    'CreateCheckoutTokenSuccess',
    { test: 'PreconditionError' },
  ),
  'Mutation.createDashboardToken': mutation('(input: { scopes: [WALLET] })', 'CreateDashboardTokenSuccess'),
  'Mutation.createDelivery': mutation(
    `(input: { productId: "${NO_ID}", content: { text: "x" } })`,
    'NotFoundError',
  ),
  'Mutation.createPayment': mutation('(input: { valueCents: 100 })', 'CreatePaymentSuccess'),
  'Mutation.createProduct': mutation('(input: { name: "Caneca", priceCents: 100 })', 'CreateProductSuccess'),
  'Mutation.createSubaccount': mutation('(input: { name: "Bia" })', 'CreateSubaccountSuccess', {
    gerenciar: 'CreateSubaccountSuccess',
  }),
  'Mutation.createSubscription': mutation(
    '(input: { valueCents: 100, interval: WEEKLY })',
    'CreateSubscriptionSuccess',
  ),
  'Mutation.createTestPayment': mutation('(input: { valueCents: 100 })', 'CreateTestPaymentSuccess', {
    live: 'PreconditionError',
  }),
  'Mutation.deleteDelivery': mutation(`(deliveryId: "${NO_ID}")`, 'NotFoundError'),
  'Mutation.deleteDisputeFile': mutation(
    `(disputeId: "dsp_${NO_ID}", fileId: "dsf_${NO_ID}")`,
    'NotFoundError',
  ),
  'Mutation.deleteProduct': mutation(`(productId: "${NO_ID}")`, 'NotFoundError'),
  'Mutation.pauseToken': mutation('(token: "x")', 'NotFoundError'),
  'Mutation.redeliverWebhook': mutation('(webhookId: "x")', 'NotFoundError'),
  'Mutation.redeliverWebhooks': mutation('(input: { filter: {}, idempotencyKey: "" })', 'ValidationError'),
  'Mutation.cancelWebhookRedelivery': mutation('(redeliveryId: "x")', 'NotFoundError'),
  'Mutation.sendTestWebhook': mutation('(input: { event: "x" })', 'ValidationError'),
  'Mutation.refundCardPayment': mutation(`(input: { orderCode: "PSC-0", ${KEY} })`, 'NotFoundError'),
  'Mutation.refundCharge': mutation(`(input: { chargeId: "psc_${NO_HEX}", ${KEY} })`, 'NotFoundError'),
  'Mutation.refundPayment': mutation(`(input: { paymentId: "psa_${NO_HEX}", ${KEY} })`, 'NotFoundError'),
  'Mutation.requestPayout': mutation(
    `(input: { method: PIX, amountCents: 500, destination: "maria@example.com", ${KEY} })`,
    'InsufficientFundsError',
  ),
  'Mutation.requestSubaccountPayout': mutation(
    `(input: { ${OF_SUBACCOUNT}, amountCents: 500, pixKey: "maria@example.com", ${KEY} })`,
    'NotFoundError',
    { gerenciar: 'NotFoundError', sacar: 'NotFoundError', test: 'PreconditionError' },
  ),
  'Mutation.resumeToken': mutation('(token: "x")', 'NotFoundError'),
  'Mutation.revokeToken': mutation('(token: "x")', 'NotFoundError'),
  'Mutation.simulatePayment': mutation(`(input: { id: "psa_${NO_HEX}" })`, 'NotFoundError', {
    live: 'PreconditionError',
  }),
  'Mutation.startCheckout': {
    rest: '(input: { attemptId: "0123456789012345678901" })',
    outcomes: { checkout: 'StartCheckoutSuccess' },
  },
  'Mutation.startPixCheckout': {
    rest: '(input: { attemptId: "0123456789012345678901" })',
    outcomes: { checkout: 'StartPixCheckoutSuccess' },
  },
  'Mutation.submitDisputeEvidence': mutation(
    `(input: { disputeId: "dsp_${NO_ID}", text: "x" })`,
    'NotFoundError',
  ),
  'Mutation.transferToSubaccount': mutation(
    `(input: { ${OF_SUBACCOUNT}, amountCents: 500, ${KEY} })`,
    'NotFoundError',
    { gerenciar: 'NotFoundError' },
  ),

  'Subscription.accountUpdates': stream('(after: "x")', ...FOLLOWERS),
  'Subscription.allCardPaymentUpdates': stream('(after: "x")', 'cards'),
  'Subscription.allChargeUpdates': stream('(after: "x")', 'payments'),
  'Subscription.allCheckoutTokenUpdates': stream('(after: "x")', 'cards'),
  'Subscription.allDisputeUpdates': stream('(after: "x")'),
  'Subscription.allPaymentUpdates': stream('(after: "x")', 'payments'),
  'Subscription.allPayoutUpdates': stream('(after: "x")'),
  'Subscription.allRefundUpdates': stream('(after: "x")', 'cards', 'payments'),
  'Subscription.allSubaccountPayoutUpdates': stream('(after: "x")', 'gerenciar', 'sacar'),
  'Subscription.allSubaccountUpdates': stream('(after: "x")', 'gerenciar'),
  'Subscription.allSubscriptionUpdates': stream('(after: "x")'),
  'Subscription.allWebhookDeliveryUpdates': stream('(after: "x")'),
  'Subscription.cardPaymentUpdates': stream('(orderCode: "PSC-0")', ...PAYERS, 'cards'),
  'Subscription.chargeUpdates': stream(`(chargeId: "psc_${NO_HEX}")`, 'payments'),
  'Subscription.disputeUpdates': stream(`(disputeId: "dsp_${NO_ID}")`),
  'Subscription.paymentUpdates': stream(`(paymentId: "psa_${NO_HEX}")`, ...PAYERS, 'payments'),
  'Subscription.payoutUpdates': stream(`(withdrawalId: "${NO_ID}")`),
  'Subscription.statementUpdates': stream('(after: "x")', 'wallet'),
  'Subscription.subaccountPayoutUpdates': stream(
    `(${OF_SUBACCOUNT}, reference: "${NO_ID}")`,
    ...['gerenciar' as const, 'sacar' as const],
  ),
  'Subscription.subaccountUpdates': stream(`(${OF_SUBACCOUNT})`, 'gerenciar'),
  'Subscription.subscriptionUpdates': stream(`(subscriptionId: "psa_sub_${NO_HEX}")`),
  'Subscription.walletUpdates': stream('(after: "x")', 'wallet'),
  'Subscription.webhookDeliveryUpdates': stream('(webhookId: "x")'),
};

const key = (options: Omit<Parameters<typeof addKey>[1] & {}, 'accountId'> = {}) =>
  addKey(app, { accountId, ...options });
const token = (kind: 'checkout' | 'payment' | 'dashboard', grant: object) =>
  addToken(app, { accountId, kind, grant });
const dashboard = (scope: string) => token('dashboard', { scopes: [scope] });
const CREDENTIALS: Record<keyof Outcomes & string, () => Promise<string>> = {
  live: () => key(),
  test: () => key({ environment: 'sandbox' }),
  gerenciar: () => key({ permissions: ['subcontas.gerenciar'] }),
  sacar: () => key({ permissions: ['subcontas.sacar'] }),
  checkout: () =>
    token('checkout', { amount: { kind: 'fixed', cents: 100 }, reusable: true, methods: ['card', 'pix'] }),
  cardPayment: () => token('payment', { orderCode: 'PSC-1' }),
  pixPayment: () => token('payment', { paymentId: `psa_${'1'.repeat(32)}` }),
  cards: () => dashboard('card_payments'),
  payments: () => dashboard('payments'),
  products: () => dashboard('products'),
  wallet: () => dashboard('wallet'),
};

test('Each root field of the schema has a row', () => {
  const roots = [schema.getQueryType()!, schema.getMutationType()!, schema.getSubscriptionType()!];
  const fields = roots.flatMap((type) =>
    Object.keys(type.getFields()).map((field) => `${type.name}.${field}`),
  );
  expect(Object.keys(OPERATIONS).sort()).toEqual(fields.sort());
});

test.each(COLUMNS)('Every operation has its outcome with the credential %s', async (column) => {
  const expected = Object.entries(OPERATIONS).map(([name, { outcomes }]) => [
    name,
    outcomes[column] ?? (name.startsWith('Mutation.') ? 'PermissionError' : 'FORBIDDEN'),
  ]);
  expect(await outcomesWith(await CREDENTIALS[column]())).toEqual(Object.fromEntries(expected));
});

test.each([
  ['no credential', null],
  ['an unknown key', 'ps_live_unknown0123456789'],
])('Every operation is refused with %s', async (_, credential) => {
  const outcomes = await outcomesWith(credential);
  expect([...new Set(Object.values(outcomes))]).toEqual(['UNAUTHENTICATED']);
});

async function outcomesWith(credential: string | null): Promise<Record<string, string>> {
  const client = app.client(credential);
  const outcomes: Record<string, string> = {};
  for (const [at, name] of Object.keys(OPERATIONS).entries()) {
    // A token may ask 120 times a minute.
    if (at % 60 === 59) app.clock.advance(61_000);
    outcomes[name] = await outcomeOf(client, name);
  }
  return outcomes;
}

async function outcomeOf(client: GraphQLClient, name: string): Promise<string> {
  const [root, field] = name.split('.') as [string, string];
  const selected = root === 'Mutation' ? ' { __typename }' : '';
  // Each subscription among them is refused, and so answered as any operation is.
  const { body } = await client.send(
    `${root.toLowerCase()} { ${field}${OPERATIONS[name]!.rest}${selected} }`,
  );
  if (body.errors) return body.errors[0].extensions.code;
  return root === 'Mutation' ? body.data[field].__typename : 'ok';
}
