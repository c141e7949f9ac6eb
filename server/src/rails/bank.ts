import type { Cents } from '../kernel/money.ts';
import type { PayoutMethod } from '../kernel/payout-methods/registry.ts';
import type { Tenant } from '../kernel/tenant.ts';

export interface Transfer {
  /** The id that this server gives the transfer: two calls with one id have one effect. */
  id: string;
  /**
   * The owner of the money. Sandbox money never leaves through a bank: there every transfer arrives, and none
   * is denied or refused.
   */
  tenant: Tenant;
  method: PayoutMethod;
  /** The destination of the method, in its normal form. */
  destination: string;
  /** The amount that the destination receives, after fees. */
  amountCents: Cents;
  /** The quoted amount of LTC; null for other methods. */
  litoshi: number | null;
}

/** The status of a transfer. The service itself may hold or refuse it before any bank sees it. */
export type TransferStatus =
  /** The service holds the transfer for verification: it is not sent. */
  | { status: 'in_verification'; until: Date | null }
  /** The service has refused the transfer: no bank has seen it, and none will. */
  | { status: 'refused'; reason: string }
  /** The transfer is accepted but not sent yet. */
  | { status: 'queued'; until: Date | null }
  /** The transfer is sent, but the bank has not confirmed it. */
  | { status: 'sent'; until: Date | null }
  | { status: 'completed'; receipt: TransferReceipt }
  /** The transfer was completed, and the receiver or its bank has sent the whole amount back since. */
  | { status: 'returned'; receipt: TransferReceipt }
  /** The bank has denied the transfer: no money has left, or all of it has returned. */
  | { status: 'denied'; reason: string };

export interface TransferReceipt {
  /** The bank's identifier of a PIX; null for crypto. */
  endToEndId: string | null;
  recipientName: string | null;
  recipientBankName: string | null;
}

/** The bank, which sends money out. `until`: the time of the next lookup, which comes soon if it is null. */
export interface Bank {
  /** Quotes an amount in litoshi. A decision never calls it: its command quotes before. */
  quoteLitoshi(amountCents: Cents): Promise<number>;
  /**
   * Sends a transfer, or returns the status of one that was sent before: it is called again after a crash or
   * a lost answer.
   */
  send(transfer: Transfer): Promise<TransferStatus>;
}
