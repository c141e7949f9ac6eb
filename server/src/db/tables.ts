import type { ColumnType, Generated } from 'kysely';
import type { PayoutMethod } from '../payouts/methods/registry.ts';
import type { PayoutFeeColumn } from './payout-fees.ts';
import type { SimulatedTables } from './simulated-tables.ts';
import type { TenantTable } from './tenant-table.ts';

/** A jsonb column: written as text, read parsed. */
type Json<Value> = ColumnType<Value, string, string>;

/** The tables of `migrations/` as the queries see them: one interface a table, one field a column. */
export interface Tables extends SimulatedTables {
  account: AccountTable;
  api_key: ApiKeyTable;
  token: TokenTable;
  cursor_key: CursorKeyTable;
  database_mode: DatabaseModeTable;
  stream: StreamTable;
  event: EventTable;
  ledger_account: LedgerAccountTable;
  posting: PostingTable;
  subaccount: SubaccountTable;
  task: TaskTable;
  idempotency: IdempotencyTable;
  card_payment: CardPaymentTable;
  checkout_use: CheckoutUseTable;
  refund: RefundTable;
  payment: PaymentTable;
  charge: ChargeTable;
  ltc_output: LtcOutputTable;
  pix_subscription: PixSubscriptionTable;
  subscription_cycle: SubscriptionCycleTable;
  pix_credit: PixCreditTable;
  pix_paid_order: PixPaidOrderTable;
  pix_checkout_use: PixCheckoutUseTable;
  payout: PayoutTable;
  webhook_endpoint: WebhookEndpointTable;
  webhook_delivery: WebhookDeliveryTable;
  webhook_attempt: WebhookAttemptTable;
  received_webhook: ReceivedWebhookTable;
  product: ProductTable;
  delivery: DeliveryTable;
  delivery_code: DeliveryCodeTable;
  delivered_content: DeliveredContentTable;
  store_product: StoreProductTable;
  test_payment: TestPaymentTable;
  dispute: DisputeTable;
  dispute_shortfall: DisputeShortfallTable;
  rate_window: RateWindowTable;
  statement_entry: StatementEntryTable;
  subaccount_payout: SubaccountPayoutTable;
  observed: ObservedTable;
  observed_reference: ObservedReferenceTable;
  upstream_intent: UpstreamIntentTable;
  upstream_poll: UpstreamPollTable;
  upstream_account: UpstreamAccountTable;
  upstream_slot: UpstreamSlotTable;
  list_count: ListCountTable;
}

interface AccountTable extends Record<PayoutFeeColumn, Generated<number>> {
  id: string;
  name: string;
  card_payments_enabled: boolean;
  card_release_days: number;
  created_at: Date;
  subaccount_markup_cents: Generated<number>;
  pix_enabled: Generated<boolean>;
  pix_fee_cents: Generated<number>;
  ltc_enabled: Generated<boolean>;
}

interface ApiKeyTable extends TenantTable {
  id: string;
  secret_hash: string;
  permissions: string[];
  created_at: Date;
  revoked_at: Date | null;
  name: string | null;
  hint: string | null;
}

interface TokenTable extends TenantTable {
  id: string;
  kind: 'checkout' | 'payment' | 'dashboard';
  secret_hash: string;
  minted_by: string | null;
  grant: Json<unknown>;
  allowed_origins: string[];
  created_at: Date;
  expires_at: Date | null;
  revoked_at: Date | null;
  paused_at: Date | null;
  paused_until: Date | null;
  pause_reason: 'merchant' | 'declines' | null;
}

interface CursorKeyTable {
  one: Generated<true>;
  key: Uint8Array;
}

interface DatabaseModeTable {
  one: Generated<boolean>;
  mode: 'embedded' | 'remote';
  upstream_origin: string | null;
}

interface StreamTable extends TenantTable {
  version: Generated<number>;
}

interface EventTable extends TenantTable {
  version: number;
  mark: Generated<number>;
  kind: string;
  resource: string;
  resource_id: string;
  previous_status: string | null;
  occurred_at: Date;
  snapshot: Json<unknown>;
}

interface LedgerAccountTable extends TenantTable {
  name: string;
  balance: number;
}

interface PostingTable extends TenantTable {
  transaction_id: string;
  ledger_account: string;
  amount: number;
  subaccount_id: string | null;
  occurred_at: Date;
}

interface SubaccountTable extends TenantTable {
  number: Generated<number>;
  id: string;
  name: string;
  external_id: string | null;
  balance_cents: Generated<number>;
  created_at: Date;
}

interface TaskTable extends TenantTable {
  kind: string;
  key: string;
  due_at: Date;
  attempts: Generated<number>;
  revision: Generated<number>;
  lease: string | null;
  leased_until: Date | null;
  holder: number | null;
}

interface IdempotencyTable extends TenantTable {
  operation: string;
  key: string;
  input_hash: string;
  resource_id: string;
}

interface CardPaymentTable extends TenantTable {
  number: Generated<number>;
  order_code: string;
  version: number;
  status: 'pending' | 'paid' | 'expired' | 'refunded' | 'failed';
  amount_cents: number;
  description: string | null;
  callback_url: string | null;
  customer: Json<{ name?: string; email?: string; externalId?: string; taxId?: string } | null>;
  metadata: string | null;
  success_url: string | null;
  cancel_url: string | null;
  checkout_attempt: string | null;
  open_charge_id: string | null;
  paid_charge_id: string | null;
  declined_charges: number;
  created_at: Date;
  expires_at: Date;
  paid_at: Date | null;
  paid_late: boolean;
  released_at: Date | null;
  refunded_at: Date | null;
  canceled_at: Date | null;
  refunded_cents: Generated<number>;
  refunding_cents: Generated<number>;
  disputed_cents: Generated<number>;
  refund_count: Generated<number>;
  failure_reason: string | null;
  decline_reason: string | null;
  external_id: string | null;
  product_id: string | null;
}

interface RefundTable extends TenantTable {
  number: Generated<number>;
  refund_id: string;
  version: number;
  status: 'processing' | 'completed' | 'failed';
  resource: 'card_payment' | 'payment' | 'charge';
  resource_id: string;
  amount_cents: number;
  reason: string | null;
  automatic: boolean;
  charge_id: string;
  end_to_end_id: string | null;
  failure_reason: string | null;
  created_at: Date;
  completed_at: Date | null;
}

interface PaymentTable extends TenantTable {
  number: Generated<number>;
  payment_id: string;
  version: number;
  status: 'pending' | 'paid' | 'expired' | 'refunded' | 'failed';
  method: 'pix' | 'ltc';
  amount_cents: number;
  fee_cents: number;
  description: string | null;
  callback_url: string | null;
  customer: Json<{ name?: string; email?: string; externalId?: string; taxId?: string } | null>;
  metadata: string | null;
  external_id: string | null;
  product_id: string | null;
  success_url: string | null;
  cancel_url: string | null;
  checkout_attempt: string | null;
  subscription_id: Generated<string | null>;
  br_code: string | null;
  created_at: Date;
  expires_at: Date;
  paid_at: Date | null;
  paid_late: boolean;
  end_to_end_id: string | null;
  refunded_at: Date | null;
  refunded_cents: number;
  refunding_cents: number;
  disputed_cents: Generated<number>;
  refund_count: number;
  failure_reason: string | null;
  returned_credits: Json<unknown[]>;
  ltc_address: string | null;
  ltc_litoshi: number | null;
  ltc_received_litoshi: number | null;
  ltc_confirmations: number | null;
  ltc_required_confirmations: number | null;
  ltc_revision: number | null;
}

interface ChargeTable extends TenantTable {
  number: Generated<number>;
  charge_id: string;
  kind: 'single' | 'split';
  version: number;
  status: 'pending' | 'paid' | 'expired' | 'refunded' | 'failed';
  amount_cents: number;
  fee_cents: number;
  description: string | null;
  metadata: string | null;
  br_code: string | null;
  created_at: Date;
  expires_at: Date;
  paid_at: Date | null;
  paid_late: boolean;
  end_to_end_id: string | null;
  refunded_at: Date | null;
  refunded_cents: number;
  refunding_cents: number;
  disputed_cents: Generated<number>;
  refund_count: number;
  failure_reason: string | null;
  returned_credits: Json<unknown[]>;
  splits: Json<
    {
      subaccountId: string;
      amountCents: number;
      percent: string | null;
      refundedCents: number;
      assignedCents: number;
    }[]
  >;
  refund_parts: Json<
    { refundId: string; parts: { subaccountId: string; assignedCents: number; takenCents: number }[] }[]
  >;
}

interface LtcOutputTable extends TenantTable {
  payment_id: string;
  txid: string;
  vout: number;
  litoshi: number;
  seen_at: Date;
  confirmations: number;
  state: 'seen' | 'gone' | 'unmatched' | 'credited';
  postings: number;
}

interface PixSubscriptionTable extends TenantTable {
  number: Generated<number>;
  subscription_id: string;
  version: number;
  status: 'pending' | 'active' | 'past_due' | 'canceled' | 'completed' | 'expired';
  amount_cents: number;
  fee_cents: number;
  every: 'weekly' | 'monthly' | 'quarterly' | 'semiannual' | 'yearly';
  ends_after_cycles: number | null;
  description: string | null;
  customer: Json<{ name?: string; email?: string; externalId?: string; taxId?: string } | null>;
  metadata: string | null;
  success_url: string | null;
  cancel_url: string | null;
  br_code: string | null;
  next_due_at: Date | null;
  cancel_reason: 'merchant' | 'payer' | 'unpaid' | null;
  canceled_at: Date | null;
  created_at: Date;
  expires_at: Date;
  authorised_at: Date | null;
  failed_in_row: number;
  returned_credits: Json<unknown[]>;
}

interface SubscriptionCycleTable extends TenantTable {
  subscription_id: string;
  number: number;
  due_at: Date;
  status: 'scheduled' | 'retrying' | 'paid' | 'failed' | 'canceled';
  amount_cents: number;
  attempts: number;
  next_attempt_at: Date | null;
  sent: boolean;
  payment_id: string | null;
  paid_at: Date | null;
  failure_reason: string | null;
}

interface PixCreditTable extends TenantTable {
  end_to_end_id: string;
  payment_id: string;
  amount_cents: number;
  received_at: Date;
  cause: 'already_paid' | 'amount_mismatch' | 'not_payable' | 'paid_elsewhere' | null;
  returned_at: Date | null;
  failed_returns: number;
}

interface PixPaidOrderTable extends TenantTable {
  kind: 'attempt' | 'external_id';
  name: string;
  payment_id: string;
  paid_at: Date;
}

interface PixCheckoutUseTable {
  token_id: string;
  payment_id: string;
}

interface CheckoutUseTable {
  token_id: string;
  order_code: string;
}

interface PayoutTable extends TenantTable {
  number: Generated<number>;
  withdrawal_id: string;
  code: string;
  version: number;
  method: PayoutMethod;
  status: 'pending' | 'processing' | 'completed' | 'denied';
  amount_cents: number;
  fee_cents: number;
  litoshi: number | null;
  destination: string;
  requested_at: Date;
  processed_at: Date | null;
  denied_reason: string | null;
  end_to_end_id: string | null;
}

interface WebhookEndpointTable extends TenantTable {
  url: string | null;
  secret: string;
  secret_shown: boolean;
  optional_events: string[];
}

interface WebhookDeliveryTable extends TenantTable {
  number: Generated<number>;
  webhook_id: string;
  event_version: number | null;
  event: string;
  resource: string;
  resource_id: string;
  url: string;
  body: string;
  headers: ColumnType<Record<string, string> | null, string | null, never>;
  resource_version: number | null;
  occurred_at: Date | null;
  status: 'pending' | 'delivered' | 'exhausted';
  attempts: Generated<number>;
  failures: Generated<number>;
  next_attempt_at: Date | null;
  created_at: Date;
}

interface ReceivedWebhookTable extends TenantTable {
  webhook_id: string;
  body_hash: string;
  received_at: Date;
}

interface WebhookAttemptTable {
  webhook_id: string;
  number: number;
  at: Date;
  response_status: number | null;
  error: string | null;
  duration_ms: number;
}

interface ProductTable extends TenantTable {
  number: Generated<number>;
  id: string;
  name: string;
  description: string | null;
  price_cents: number;
  created_at: Date;
}

interface DeliveryTable extends TenantTable {
  number: Generated<number>;
  delivery_id: string;
  product_id: string;
  kind: 'text' | 'link' | 'codes';
  content: string | null;
  delivered_count: Generated<number>;
  remaining_count: number | null;
  created_at: Date;
  deleted_at: Date | null;
}

interface DeliveryCodeTable extends TenantTable {
  number: Generated<number>;
  product_id: string;
  code_hash: string;
  delivery_id: string;
  code: string;
  delivered: Generated<boolean>;
}

interface DeliveredContentTable extends TenantTable {
  number: Generated<number>;
  resource: 'card_payment' | 'payment';
  resource_id: string;
  position: number;
  product_id: string;
  delivery_id: string;
  kind: 'text' | 'link' | 'codes';
  status: 'pending' | 'delivered' | 'revoked';
  code_hash: string | null;
  callback_url: string | null;
  paid_at: Date;
  delivered_at: Date | null;
}

interface StoreProductTable extends TenantTable {
  number: number;
  store_product_id: string;
  name: string | null;
  description: string | null;
  price: string | null;
  image_url: string | null;
  available: boolean | null;
}

interface TestPaymentTable extends TenantTable {
  number: Generated<number>;
  id: string;
  value_cents: number;
  status: 'pending' | 'paid';
  created_at: Date;
  paid_at: Date | null;
}

interface DisputeTable extends TenantTable {
  number: Generated<number>;
  id: string;
  version: Generated<number>;
  amount_cents: number;
  order_code: string | null;
  resource: 'card_payment' | 'payment' | 'charge' | null;
  resource_id: string | null;
  reason: Generated<'fraud' | 'operational_error' | 'unknown'>;
  status: 'open' | 'under_review' | 'won' | 'lost' | 'forgiven';
  evidence: Json<unknown[]>;
  evidence_due_at: Date | null;
  created_at: Date;
  closed_at: Date | null;
}

interface DisputeShortfallTable extends TenantTable {
  resource: 'card_payment' | 'payment' | 'charge';
  resource_id: string;
  claims: Json<unknown[]>;
}

interface RateWindowTable {
  key: string;
  ends_at: Date;
  used: number;
}

interface StatementEntryTable extends TenantTable {
  number: Generated<number>;
  subaccount_id: string;
  kind: 'transfer_in' | 'payout' | 'payout_reversal' | 'split_in' | 'split_reversal';
  ref_id: string;
  amount_cents: number;
  balance_after_cents: number;
  created_at: Date;
}

interface SubaccountPayoutTable extends TenantTable {
  number: Generated<number>;
  id: string;
  subaccount_id: string;
  version: number;
  payout_id: string;
  status: 'processing' | 'completed' | 'failed';
  under_verification: boolean;
  withdrawal_id: string | null;
  turbo_code: string | null;
  sub_code: string | null;
  amount_cents: number;
  fee_cents: number;
  agreed_fee_cents: number;
  pix_key: string;
  end_to_end_id: string | null;
  recipient_name: string | null;
  recipient_bank_name: string | null;
  failure_reason: string | null;
  created_at: Date;
  completed_at: Date | null;
  reversed_at: Date | null;
}

interface ObservedTable extends TenantTable {
  number: Generated<number>;
  resource:
    | 'card_payment'
    | 'charge'
    | 'dispute'
    | 'payment'
    | 'payout'
    | 'subaccount_payout'
    | 'refund'
    | 'subscription'
    | 'wallet';
  id: string;
  version: number;
  status: string;
  final: boolean;
  parent: string | null;
  created_at: Generated<Date | null>;
  snapshot: Json<unknown>;
  observed_at: Date;
}

interface ObservedReferenceTable extends TenantTable {
  resource: ObservedTable['resource'];
  reference: string;
  id: string;
}

interface UpstreamIntentTable extends TenantTable {
  id: string;
  operation: string;
  key: string;
  input_hash: string;
  state: 'sending' | 'in_doubt' | 'done' | 'refused' | 'absent';
  resource_id: string | null;
  summary: Json<unknown>;
  looks: Generated<number>;
  looked_at: Generated<Date | null>;
  finding: Generated<string | null>;
  created_at: Date;
}

interface UpstreamPollTable extends TenantTable {
  name: string;
  polled_at: Date;
}

interface UpstreamAccountTable {
  key: string;
  last_at: Date;
  blocked_until: Date | null;
}

interface UpstreamSlotTable {
  id: string;
  account_key: string;
  class: 'money' | 'query' | 'lookup' | 'payer' | 'poll';
  subject: string | null;
  held_until: Date;
}

interface ListCountTable extends TenantTable {
  list: string;
  parent: string;
  seconds: number;
  since: Date;
  kind: string;
  status: string;
  count: number;
}
