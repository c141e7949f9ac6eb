import type { Cents } from '../kernel/money.ts';
import type { Tenant } from '../kernel/tenant.ts';
import type { Payer } from './payer.ts';
import type { RefundRail } from './refund.ts';

/** A code to register at the bank. */
export interface PixCode {
  /** 32 letters and digits that this server draws: two calls with one txid have one effect. */
  txid: string;
  tenant: Tenant;
  amountCents: Cents;
  expiresAt: Date;
  /** The name of the payee that the payer's bank shows. */
  merchantName: string;
  payer: Payer | null;
  /** The later debits that the payer authorizes with the code; null if it authorizes none. */
  recurrence: { interval: string; endsAfterCycles: number | null } | null;
}

/** One attempt to debit the payer of a recurrence. */
export interface PixDebit {
  /**
   * The id that this server derives from the cycle and the attempt: two calls with one id have one effect.
   */
  id: string;
  /** The identifier of the code that has authorized the recurrence. */
  txid: string;
  amountCents: Cents;
  /** 00:00 of the day in São Paulo on which the payer is debited. */
  dueAt: Date;
}

/** The outcome of an attempt, as the payer's bank reports it. */
export type DebitReport =
  | { id: string; status: 'paid'; endToEndId: string; amountCents: Cents; at: Date }
  | { id: string; status: 'failed'; reason: string; at: Date };

/** The payer's side of a recurrence. */
export interface RecurrenceState {
  /** The time at which the payer rejected or canceled the recurrence at its bank; null if it did neither. */
  endedByPayerAt: Date | null;
  /** Every outcome so far, in no order. */
  debits: DebitReport[];
}

/** The answer to a registration. */
export type PixRegistration =
  /** `brCode`: the text of PIX Copia e Cola. */
  | { status: 'registered'; brCode: string }
  /** The registration is not done yet: it is retried with the same txid. */
  | { status: 'pending' }
  /** The code is refused for good: no payer can ever pay it. */
  | { status: 'refused'; reason: string };

/** Money that a payer has sent for a code. */
export interface PixCredit {
  /** The bank's identifier of the PIX, which is never reused. */
  endToEndId: string;
  amountCents: Cents;
  /** The time at which the payer's bank sent the money. */
  at: Date;
  /** The ids of the returns by which this server has sent back some or all of the money. */
  returnIds?: readonly string[];
}

/**
 * The bank's side of PIX payments. The bank holds the credits, and the service reads them there when it is
 * notified: a notification that is lost, repeated or forged changes nothing.
 */
export interface PixRail extends RefundRail {
  register(code: PixCode): Promise<PixRegistration>;
  /** Lists the credits that paid a code directly, oldest first; `recurrenceOf` has those of its debits. */
  creditsOf(txid: string): Promise<PixCredit[]>;
  /**
   * Instructs the payer's bank to debit the payer on a day. `ended`: the recurrence has ended at the bank,
   * which will debit nothing.
   */
  schedule(debit: PixDebit): Promise<'scheduled' | 'ended'>;
  /**
   * Recalls an attempt. An attempt that the bank is debiting, that has ended or that was never scheduled stays as it
   * is.
   */
  cancelSchedule(debit: Pick<PixDebit, 'id' | 'txid'>): Promise<void>;
  /** Ends a recurrence, and recalls its attempts as far as possible. A recurrence that has ended stays so. */
  cancelRecurrence(txid: string): Promise<void>;
  /** Reads the state of a recurrence at the payer's bank. */
  recurrenceOf(txid: string): Promise<RecurrenceState>;
}
