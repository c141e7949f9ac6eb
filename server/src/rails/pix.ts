import type { Cents } from '../kernel/money.ts';
import type { Tenant } from '../kernel/tenant.ts';
import type { Payer } from './payer.ts';
import type { RefundRail } from './refund.ts';

/** A code to register at the bank. */
export interface PixCode {
  /** 32 letters and digits of this server: two calls with one txid have one effect. */
  txid: string;
  tenant: Tenant;
  amountCents: Cents;
  expiresAt: Date;
  /** The payee that the payer's bank shows. */
  merchantName: string;
  payer: Payer | null;
  /** The later debits that the payer authorises with the code; null where it authorises none. */
  recurrence: { interval: string; endsAfterCycles: number | null } | null;
}

/** One try to debit the payer of a recurrence. */
export interface PixDebit {
  /** The name of this server: two calls with one id have one effect. It is an identifier of the cycle, and the attempt. */
  id: string;
  /** The identifier of the code that has authorised the recurrence. */
  txid: string;
  amountCents: Cents;
  /** 00:00 of the day in São Paulo on which the payer is debited. */
  dueAt: Date;
}

/** The outcome of a try, as the payer's bank reports it. */
export type DebitReport =
  | { id: string; status: 'paid'; endToEndId: string; amountCents: Cents; at: Date }
  | { id: string; status: 'failed'; reason: string; at: Date };

/** The payer's side of a recurrence. */
export interface RecurrenceState {
  /** The time at which the payer rejected or canceled it in its bank; null where it has not. */
  endedByPayerAt: Date | null;
  /** Every outcome so far, in no order. */
  debits: DebitReport[];
}

/** The answer to a registration. */
export type PixRegistration =
  /** `brCode`: the text of PIX Copia e Cola. */
  | { status: 'registered'; brCode: string }
  /** The registration is not done yet: it is retried under the same txid. */
  | { status: 'pending' }
  /** Refused for good: no payer can ever pay it. */
  | { status: 'refused'; reason: string };

/** Money that a payer has sent for a code. */
export interface PixCredit {
  /** The bank's identifier of the PIX, unique for good. */
  endToEndId: string;
  amountCents: Cents;
  /** The time at which the payer's bank sent it. */
  at: Date;
  /** The ids under which this server has sent it back, or a part of it. */
  returnIds?: readonly string[];
}

/**
 * The bank's side of PIX payments. It holds what payers have sent; the service looks there when it is notified, so that a
 * notification which is lost, repeated or forged changes nothing.
 */
export interface PixRail extends RefundRail {
  register(code: PixCode): Promise<PixRegistration>;
  /** Lists every credit that has come by a code itself, oldest first; those of its debits are in `recurrenceOf`. */
  creditsOf(txid: string): Promise<PixCredit[]>;
  /**
   * Instructs the payer's bank to debit the payer on a day. `ended`: the recurrence is over at the bank, and nothing will be
   * debited.
   */
  schedule(debit: PixDebit): Promise<'scheduled' | 'ended'>;
  /** Recalls a try. One that is under way, has ended or was never scheduled stays as it is. */
  cancelSchedule(debit: Pick<PixDebit, 'id' | 'txid'>): Promise<void>;
  /** Ends a recurrence, with each try that can be recalled. One that has ended stays so. */
  cancelRecurrence(txid: string): Promise<void>;
  /** Reads what the payer's bank has reported of a recurrence. */
  recurrenceOf(txid: string): Promise<RecurrenceState>;
}
