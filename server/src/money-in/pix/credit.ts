import type { Cents } from '../../kernel/money.ts';
import type { LedgerTransaction } from '../../state/ledger/postings.ts';
import type { ReturnCause } from '../receiving/model.ts';
import type { StoredPixResource } from './model.ts';

/** Money that the bank holds for a resource. */
export interface ArrivedCredit {
  endToEndId: string;
  amountCents: Cents;
  at: Date;
  /** The ids of the returns by which the bank has sent back some or all of the money. */
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
  /** The reason for sending it back; null if it was accepted. */
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
  /** The id of the charge whose money arrived, or of the refund that takes it or has failed. */
  readonly refId: string;
  /** The signed change of the subaccount's balance. */
  readonly amountCents: number;
  readonly transaction: LedgerTransaction;
}

/** Whether this service has sent the whole credit back before, which a restored backup does not show. */
export function wasSentBack({ endToEndId, returnIds = [] }: ArrivedCredit): boolean {
  return returnIds.some((id) => id.startsWith(`${endToEndId}.`));
}

/**
 * The rail's name of the current attempt to send a credit back: each refused attempt is followed by one with
 * a new name.
 */
export function returnIdOf({ endToEndId, failedReturns }: RecordedCredit): string {
  return `${endToEndId}.${failedReturns}`;
}

/** The record of a credit: accepted, or with the cause for which it is sent back. */
export function creditOf(
  resourceId: string,
  { endToEndId, amountCents, at }: ArrivedCredit,
  cause: ReturnCause | null,
): RecordedCredit {
  return { endToEndId, resourceId, amountCents, cause, receivedAt: at, returnedAt: null, failedReturns: 0 };
}

/** A returned credit as its resource shows it. */
export function shownReturn({
  endToEndId,
  amountCents,
  cause,
  receivedAt,
  returnedAt,
}: RecordedCredit): StoredPixResource['returnedCredits'][number] {
  return { endToEndId, amountCents, cause: cause!, receivedAt, returnedAt };
}
