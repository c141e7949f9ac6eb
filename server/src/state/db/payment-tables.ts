import type { Json } from './json-column.ts';
import type { TenantTable } from './tenant-table.ts';

/** Payments of every kind, with their credits, refunds and disputes. */
export interface PaymentTables {
  checkout_use: CheckoutUseTable;
  ltc_output: LtcOutputTable;
  subscription_cycle: SubscriptionCycleTable;
  pix_paid_order: PixPaidOrderTable;
  pix_checkout_use: PixCheckoutUseTable;
  dispute_shortfall: DisputeShortfallTable;
}

interface CheckoutUseTable {
  token_id: string;
  order_code: string;
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

interface DisputeShortfallTable extends TenantTable {
  resource: 'card_payment' | 'payment' | 'charge';
  resource_id: string;
  claims: Json<unknown[]>;
}
