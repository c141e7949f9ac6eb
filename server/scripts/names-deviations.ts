import type { Words } from './names.ts';

// The words of types that routes and events call by another name, and the reason of every cell that is not as its rule
// expects it.

export const WORDS: Readonly<Record<string, Words>> = {
  PaymentReturn: { path: '/v1/returns', event: 'return.' },
  Payout: { event: 'withdrawal.' },
  PixSubscription: { path: '/v1/subscriptions', event: 'subscription.' },
  Refund: { path: '/v1/refunds/{refundId}' },
  StatementEntry: { path: '/v1/subaccounts/{id}/statement' },
  StoreProduct: { path: '/v1/store/products' },
  SubaccountPayout: { path: '/v1/subaccounts/{id}/payouts', event: 'subaccount.payout' },
  Token: { event: 'checkout_token.' },
  Wallet: { path: '/v1/wallet' },
  WalletEntry: { path: '/v1/wallet/statement' },
};

const of = (type: string, ...columns: readonly string[]) => columns.map((column) => `${type}.${column}`);

/** A reason, with the cells for which it is one: `Type.column`. */
export const DEVIATIONS: readonly { reason: string; cells: readonly string[] }[] = [
  {
    reason: 'The service’s document names it so, and REST, webhooks and support know it by that name.',
    cells: [
      'CardPayment.identifier',
      ...of('Payout', 'identifier', 'times', 'webhooks'),
      ...of('SubaccountPayout', 'identifier', 'webhooks'),
      'WebhookDelivery.identifier',
    ],
  },
  {
    reason:
      'It belongs to no order, so `orderId` is null; `externalId` is a label, for which nothing is sent back.',
    cells: ['Charge.own number'],
  },
  {
    reason:
      'GraphQL has `Subscription` for the root of its streams; everything else calls the resource a subscription.',
    cells: of('PixSubscription', 'identifier', 'updates', 'REST', 'webhooks'),
  },
  {
    reason: 'A payer agrees to it as to a sale, so it has the customer and the metadata of one.',
    cells: of('PixSubscription', 'customer', 'metadata'),
  },
  {
    reason: 'The identifier, the route and the event call it a return; the type says of what.',
    cells: of('PaymentReturn', 'identifier', 'REST', 'webhooks'),
  },
  {
    reason: 'It shows the order of the payment that the money came for, and needs no number of its own.',
    cells: ['PaymentReturn.own number'],
  },
  {
    reason: 'Its two times say how it stands: `receivedAt`, and `returnedAt` once the payer has the money.',
    cells: of('PaymentReturn', 'status', 'times'),
  },
  {
    reason: 'It is read in its list; `return.completed` reports its end, after which it never changes.',
    cells: of('PaymentReturn', 'updates', 'node'),
  },
  {
    reason:
      'Nobody numbers it: it is found by its identifier, by its key, or from the resource that it is of.',
    cells: [
      ...['Delivery.own number', 'Dispute.own number', 'PixSubscription.own number', 'Product.own number'],
      ...['Refund.own number', 'StatementEntry.own number', 'StoreProduct.own number'],
      ...['SubscriptionCycle.own number', 'Wallet.own number', 'WalletEntry.own number'],
      'WebhookDelivery.own number',
    ],
  },
  {
    reason: 'It has no states: it is there, or it is not.',
    cells: [
      ...['Delivery.status', 'Product.status', 'StatementEntry.status', 'StoreProduct.status'],
      'WalletEntry.status',
    ],
  },
  {
    reason: 'Its figures are balances, no amount that moves, and they change without a state.',
    cells: [...of('Subaccount', 'status', 'amount'), ...of('Wallet', 'status', 'amount', 'times')],
  },
  {
    reason: 'It moves no money; what it costs is the price of a product, `priceCents`.',
    cells: ['Delivery.amount', 'Product.amount', 'StoreProduct.amount', 'WebhookDelivery.amount'],
  },
  {
    reason:
      'It is a request about the log of webhooks, which GraphQL alone makes, reads and ends; it moves no money, and its progress is read.',
    cells: of('WebhookRedelivery', 'identifier', 'own number', 'amount', 'updates', 'REST', 'webhooks'),
  },
  {
    reason:
      'It is an address, which the merchant names and changes: GraphQL alone manages several, REST the URL of the account, and it moves no money.',
    cells: of('WebhookEndpoint', 'identifier', 'own number', 'amount', 'updates', 'REST'),
  },
  {
    reason:
      'It is the movement itself, with the fee that the service took or gave back in it: nothing is left to be net.',
    cells: ['WalletEntry.fee'],
  },
  {
    reason: 'The integrator keeps a markup of it beside the service’s fee.',
    cells: ['SubaccountPayout.fee'],
  },
  {
    reason:
      'There is one of each account and environment, so it needs no identifier, no list and no stream of all.',
    cells: of('Wallet', 'identifier', 'updates', 'REST'),
  },
  {
    reason: 'It belongs to another resource, in which it is read, numbered and followed.',
    cells: [
      ...of('StatementEntry', 'identifier', 'filter', 'updates', 'node', 'REST', 'webhooks'),
      ...of('SubscriptionCycle', 'identifier', 'updates', 'node', 'REST', 'webhooks'),
      ...of('WalletEntry', 'identifier', 'updates', 'REST', 'webhooks'),
      'SubaccountPayout.REST',
    ],
  },
  {
    reason: 'It is due on a day that the subscription decides, and exists from then on.',
    cells: ['SubscriptionCycle.times'],
  },
  {
    reason:
      'It is followed with its sale, whose updates report it, and over all sales in one stream; REST shows it in its sale.',
    cells: of('Refund', 'updates', 'REST'),
  },
  {
    reason: 'It changes by the merchant’s own requests alone, so no stream and no webhook reports it.',
    cells: [...of('Product', 'updates', 'webhooks'), 'Delivery.updates'],
  },
  {
    reason:
      'The chat platform owns it: its store decides about its path and order, and reports neither times nor changes.',
    cells: of('StoreProduct', 'times', 'order', 'updates', 'REST', 'webhooks'),
  },
  {
    reason: 'Its changes are those of the balances, which payouts and transfers report.',
    cells: ['Wallet.webhooks'],
  },
  {
    reason:
      'A webhook about a webhook would be one more to lose; GraphQL alone lists, follows and repeats deliveries.',
    cells: of('WebhookDelivery', 'REST', 'webhooks'),
  },
  {
    reason: 'It is a credential that names an order, and moves no money: an order’s tokens share its number.',
    cells: of('Token', 'own number', 'amount'),
  },
  {
    reason:
      'GraphQL alone lists and ends tokens. Streams and webhooks report the pauses of checkout tokens, for dashboard tokens have none.',
    cells: of('Token', 'updates', 'node', 'REST', 'webhooks'),
  },
  {
    reason:
      'It is a state of a token, under whose identifier it is listed, followed and announced; it ends with the pause.',
    cells: [
      ...of('TokenPause', 'identifier', 'own number', 'status', 'amount', 'times', 'filter', 'order'),
      ...of('TokenPause', 'updates', 'node', 'REST', 'webhooks'),
    ],
  },
  {
    reason:
      'It is a request of a facade whose outcome is not known, no resource of the service: its list ends with the doubt.',
    cells: [
      ...of('RequestInDoubt', 'identifier', 'own number', 'status', 'times', 'filter', 'order'),
      ...of('RequestInDoubt', 'updates', 'node', 'REST', 'webhooks'),
    ],
  },
];
