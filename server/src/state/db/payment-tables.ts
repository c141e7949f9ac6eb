import type { Generated } from 'kysely';
import type { Language } from '../../kernel/language.ts';
import type { Json } from './json-column.ts';
import type { TenantTable } from './tenant-table.ts';

/** Payments of every kind, with their credits, refunds and disputes. */
export interface PaymentTables {
  card_payment: CardPaymentTable;
  checkout_use: CheckoutUseTable;
  refund: RefundTable;
  payment_return: PaymentReturnTable;
  ltc_output: LtcOutputTable;
  pix_subscription: PixSubscriptionTable;
  subscription_cycle: SubscriptionCycleTable;
  pix_credit: PixCreditTable;
  pix_paid_order: PixPaidOrderTable;
  pix_checkout_use: PixCheckoutUseTable;
  test_payment: TestPaymentTable;
  dispute: DisputeTable;
  dispute_shortfall: DisputeShortfallTable;
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
  language: Language | null;
  checkout_attempt: string | null;
  order_status: 'paid' | 'refunded' | null;
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
  returned: Generated<boolean>;
  kept_payment: string | null;
}

interface CheckoutUseTable {
  token_id: string;
  order_code: string;
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
  failed_at: Date | null;
}

interface PaymentReturnTable extends TenantTable {
  number: Generated<number>;
  return_id: string;
  resource: 'card_payment' | 'payment' | 'charge' | 'subscription';
  resource_id: string;
  external_id: string | null;
  amount_cents: number;
  cause: 'already_paid' | 'amount_mismatch' | 'canceled' | 'not_payable' | 'paid_elsewhere';
  kept_payment: string | null;
  rail_id: string;
  received_at: Date;
  returned_at: Date | null;
  failed_returns: number;
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
  language: Language | null;
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
  cause: 'already_paid' | 'amount_mismatch' | 'canceled' | 'not_payable' | 'paid_elsewhere' | null;
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
  accepted_at: Date | null;
}

interface DisputeShortfallTable extends TenantTable {
  resource: 'card_payment' | 'payment' | 'charge';
  resource_id: string;
  claims: Json<unknown[]>;
}
