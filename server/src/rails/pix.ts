import type { Cents } from '../kernel/money.ts';
import type { Tenant } from '../kernel/tenant.ts';
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
  /** The payer, as far as the merchant has named it. */
  payer: { name?: string | undefined; email?: string | undefined; taxId?: string | undefined } | null;
}

/** The answer to a registration. */
export type PixRegistration =
  /** `brCode`: the text of PIX Copia e Cola. */
  | { status: 'registered'; brCode: string }
  /** Not done yet: asked again under the same txid. */
  | { status: 'pending' }
  /** Refused for good: no payer can ever pay it. */
  | { status: 'refused'; reason: string };

/** Money that a payer has sent for a code. */
export interface PixCredit {
  /** The bank's identifier of the PIX, unique for good. */
  endToEndId: string;
  amountCents: Cents;
  /** When the payer's bank sent it. */
  at: Date;
}

/**
 * The bank's side of PIX payments. It holds what payers have sent; the service looks there when it is notified, so that a
 * notification which is lost, repeated or forged changes nothing.
 */
export interface PixRail extends RefundRail {
  register(code: PixCode): Promise<PixRegistration>;
  /** Lists every credit that has come for a code, oldest first. */
  creditsOf(txid: string): Promise<PixCredit[]>;
}
