import type { Cents } from '../kernel/money.ts';
import type { LedgerTransaction } from '../ledger/postings.ts';
import type { ReturnCause } from '../receiving/model.ts';

/** Money that the bank holds for a resource. */
export interface ArrivedCredit {
  endToEndId: string;
  amountCents: Cents;
  at: Date;
  /** The ids under which the bank has sent it back, or a part of it. */
  returnIds?: readonly string[];
}

/** The outcome of a return at the bank. */
export type ReturnOutcome =
  | { status: 'completed' }
  | { status: 'pending'; settlesAt: Date | null }
  | { status: 'failed' };

/** A PIX that the bank has received for a resource, as this service has recorded it. */
export interface RecordedCredit {
  endToEndId: string;
  /** The id of the resource whose code the payer used. */
  resourceId: string;
  amountCents: Cents;
  /** The time at which the payer's bank sent it. */
  receivedAt: Date;
  /** The reason for which it is sent back; null where it was accepted. */
  cause: ReturnCause | null;
  returnedAt: Date | null;
  /** The number of times that the bank has refused to send this PIX back. */
  failedReturns: number;
}

/** A subaccount's part of an amount. */
export interface Share {
  subaccountId: string;
  amountCents: Cents;
}

/** A line on the statement of a subaccount, with its posting. */
export interface ShareMove {
  readonly kind: 'split_in' | 'split_reversal';
  readonly subaccountId: string;
  /** The charge whose money came, or the refund that takes it or has failed. */
  readonly refId: string;
  /** The signed change of the subaccount's balance. */
  readonly amountCents: number;
  readonly transaction: LedgerTransaction;
}
