// The tables in which texts of persons can stand. test/programs/ops/erasure.test.ts compares them with the schema, so a new column
// is in this list or in that of the test, which says why not.

export interface Swept {
  readonly table: string;
  /** The columns by which the rows of a tenant are read in their order, with their types. */
  readonly key: Readonly<Record<string, 'bigint' | 'text'>>;
  /** The columns of text and of jsonb. */
  readonly columns: readonly string[];
  /** The resource of these rows in the log, and the column of its id. */
  readonly record?: { readonly resource: string; readonly id: string };
}

const NUMBER = { number: 'bigint' } as const;
const ADDRESSES = ['callback_url', 'success_url', 'cancel_url'];

/** Records of persons come first: a record is erased in one transaction with its events and its webhooks. */
export const SWEPT: readonly Swept[] = [
  {
    table: 'card_payment',
    key: NUMBER,
    record: { resource: 'card_payment', id: 'order_code' },
    columns: ['customer', 'description', 'metadata', ...ADDRESSES, 'failure_reason', 'decline_reason'],
  },
  {
    table: 'payment',
    key: NUMBER,
    record: { resource: 'payment', id: 'payment_id' },
    columns: ['customer', 'description', 'metadata', ...ADDRESSES, 'failure_reason'],
  },
  {
    table: 'charge',
    key: NUMBER,
    record: { resource: 'charge', id: 'charge_id' },
    columns: ['description', 'metadata', 'failure_reason'],
  },
  {
    table: 'pix_subscription',
    key: NUMBER,
    record: { resource: 'subscription', id: 'subscription_id' },
    columns: ['customer', 'description', 'metadata', 'success_url', 'cancel_url'],
  },
  {
    table: 'payout',
    key: NUMBER,
    record: { resource: 'payout', id: 'withdrawal_id' },
    columns: ['destination', 'denied_reason'],
  },
  {
    table: 'subaccount_payout',
    key: { subaccount_id: 'text', number: 'bigint' },
    record: { resource: 'subaccount_payout', id: 'id' },
    columns: ['pix_key', 'recipient_name', 'recipient_bank_name', 'failure_reason'],
  },
  { table: 'subaccount', key: NUMBER, record: { resource: 'subaccount', id: 'id' }, columns: ['name'] },
  { table: 'observed', key: { resource: 'text', id: 'text' }, columns: ['snapshot'] },
  {
    table: 'refund',
    key: NUMBER,
    record: { resource: 'refund', id: 'refund_id' },
    columns: ['reason', 'failure_reason'],
  },
  {
    table: 'dispute',
    key: NUMBER,
    record: { resource: 'dispute', id: 'id' },
    columns: ['evidence', 'files'],
  },
  { table: 'token', key: { id: 'text' }, columns: ['grant'] },
  {
    table: 'delivered_content',
    key: { resource: 'text', resource_id: 'text', position: 'bigint' },
    columns: ['callback_url'],
  },
  { table: 'payout_batch', key: { batch_id: 'text' }, columns: ['payout_rows'] },
  { table: 'simulated_transfer', key: NUMBER, columns: ['destination', 'reason'] },
  { table: 'upstream_intent', key: { operation: 'text', key: 'text' }, columns: ['summary', 'finding'] },
  { table: 'webhook_redelivery', key: { redelivery_id: 'text' }, columns: ['filter'] },
  { table: 'event', key: { version: 'bigint' }, columns: ['snapshot'] },
  { table: 'webhook_delivery', key: NUMBER, columns: ['url', 'body', 'headers'] },
];

export const sweptTable = (table: string): Swept => SWEPT.find((each) => each.table === table)!;

/** The attempts of webhooks are erased with their webhook. */
export const ATTEMPT: Swept = {
  table: 'webhook_attempt',
  key: { webhook_id: 'text', number: 'bigint' },
  columns: ['exchange', 'error'],
};
