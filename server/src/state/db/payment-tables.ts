import type { TenantTable } from './tenant-table.ts';

/** Payments of every kind, with their credits, refunds and disputes. */
export interface PaymentTables {
  checkout_use: CheckoutUseTable;
  ltc_output: LtcOutputTable;
  pix_checkout_use: PixCheckoutUseTable;
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

interface PixCheckoutUseTable {
  token_id: string;
  payment_id: string;
}
