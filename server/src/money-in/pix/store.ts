import { type Columns, changing, fixed, json, type RowsOf, table } from '../../state/db/table.ts';
import type { RecordedCredit } from './credit.ts';
import { returnedCreditFromJson, type ShownElsewhere, type StoredPixResource } from './model.ts';

// ── The columns of all resources that a PIX code pays ───────────────────────────────────────────

/**
 * The columns with the same name and meaning in the table of each family. `expires_at` changes if a sandbox
 * ends the time earlier.
 */
export const PIX_COLUMNS = {
  version: changing('version'),
  status: changing('status'),
  amountCents: fixed('amount_cents'),
  feeCents: fixed('fee_cents'),
  description: fixed('description'),
  metadata: fixed('metadata'),
  language: fixed('language'),
  brCode: changing('br_code'),
  createdAt: fixed('created_at'),
  expiresAt: changing('expires_at'),
  paidAt: changing('paid_at'),
  paidLate: changing('paid_late'),
  canceledAt: changing('canceled_at'),
  endToEndId: changing('end_to_end_id'),
  refundedAt: changing('refunded_at'),
  refundedCents: changing('refunded_cents'),
  refundingCents: changing('refunding_cents'),
  disputedCents: changing('disputed_cents'),
  refundCount: changing('refund_count'),
  failureReason: changing('failure_reason'),
  returnedCredits: json(changing('returned_credits'), (credits: unknown[]) =>
    credits.map(returnedCreditFromJson),
  ),
} satisfies Columns<Omit<StoredPixResource, ShownElsewhere>>;

// ── Credits, and the orders that they close ─────────────────────────────────────────────────────

const creditColumns = {
  endToEndId: fixed('end_to_end_id'),
  resourceId: fixed('payment_id'),
  amountCents: fixed('amount_cents'),
  receivedAt: fixed('received_at'),
  cause: fixed('cause'),
  returnedAt: changing('returned_at'),
  failedReturns: changing('failed_returns'),
} satisfies Columns<RecordedCredit>;

/** An order that a PIX has closed, by one of its names. */
export interface PaidOrder {
  kind: 'attempt' | 'external_id';
  name: string;
  resourceId: string;
  paidAt: Date;
}

const orderColumns = {
  kind: fixed('kind'),
  name: fixed('name'),
  resourceId: fixed('payment_id'),
  paidAt: fixed('paid_at'),
} satisfies Columns<PaidOrder>;

declare module '../../state/db/tables.ts' {
  interface Tables {
    pix_credit: RowsOf<RecordedCredit, typeof creditColumns>;
    pix_paid_order: RowsOf<PaidOrder, typeof orderColumns>;
  }
}

export const creditTable = table<RecordedCredit>('pix_credit', creditColumns, {
  key: 'endToEndId',
  unique: ['account_id', 'environment', 'end_to_end_id'],
});

export const paidOrderTable = table<PaidOrder, never, 'kind' | 'name'>('pix_paid_order', orderColumns, {
  key: { kind: 'text', name: 'text' },
  unique: ['account_id', 'environment', 'kind', 'name'],
});
