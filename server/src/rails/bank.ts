import type { Cents } from '../kernel/money.ts';
import type { Tenant } from '../kernel/tenant.ts';
import type { PayoutMethod } from '../payouts/methods/registry.ts';

export interface Transfer {
  /** Ours: whatever is sent twice under one id has one effect. */
  id: string;
  /** Whose money. For the sandbox no bank moves any: there every transfer arrives, none is denied or refused. */
  tenant: Tenant;
  method: PayoutMethod;
  /** The destination of the method, in its normal form. */
  destination: string;
  /** What the destination receives, fees taken off. */
  amountCents: Cents;
  /** For LTC, what it was quoted as. */
  litoshi: number | null;
}

/** Where a transfer stands. The service itself may hold or refuse it before any bank sees it. */
export type TransferStatus =
  /** Held by the service for a look at it: not sent. */
  | { status: 'in_verification'; until: Date | null }
  /** Refused by the service: no bank has seen it, and none will. */
  | { status: 'refused'; reason: string }
  /** Taken on and not sent yet. */
  | { status: 'queued'; until: Date | null }
  /** The money has left, and the bank has not confirmed. */
  | { status: 'sent'; until: Date | null }
  | { status: 'completed'; receipt: TransferReceipt }
  /** By the bank: nothing has left, or all of it came back. */
  | { status: 'denied'; reason: string };

export interface TransferReceipt {
  /** The bank's identifier of a PIX; null for crypto. */
  endToEndId: string | null;
  recipientName: string | null;
  recipientBankName: string | null;
}

/** Who sends money out. `until`: when to ask again; soon where it does not say. */
export interface Bank {
  /** What an amount buys, in litoshi. Asked before the decision, never inside one. */
  quoteLitoshi(amountCents: Cents): Promise<number>;
  /** Sends, or tells where a transfer stands that was sent before: asked again after a crash or a lost answer. */
  send(transfer: Transfer): Promise<TransferStatus>;
}
