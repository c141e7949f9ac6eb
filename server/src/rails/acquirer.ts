import type { Cents } from '../kernel/money.ts';
import type { Payer } from './payer.ts';
import type { RefundRail } from './refund.ts';

/** A card as the payer typed it: in memory during the call to the acquirer, never stored, never logged. */
export interface Card {
  /** The number, digits alone. */
  number: string;
  holder: string;
  expiryMonth: number;
  expiryYear: number;
  securityCode: string;
}

/** The status of a charge at the acquirer. */
export type ChargeStatus =
  | { status: 'approved' }
  /** `final`: no other attempt can succeed, with any card. */
  | { status: 'declined'; reason: string; final: boolean }
  /** The charge is not decided yet. The next lookup is at `settlesAt`, or soon if that is null. */
  | { status: 'pending'; settlesAt: Date | null }
  /**
   * The acquirer never received this charge, and would refuse it now: no money was taken, and none will be.
   */
  | { status: 'void' };

/**
 * The acquirer, which charges cards. Every call names a charge or a refund by an id of this server: a call
 * that is repeated after a crash or a lost answer has one effect.
 */
export interface Acquirer extends RefundRail {
  /** Returns why this acquirer does not accept the card; null if it does. It reads the number alone. */
  refusal(cardNumber: string): 'test_cards_only' | null;
  charge(charge: { id: string; amountCents: Cents; card: Card; payer: Payer | null }): Promise<ChargeStatus>;
  /**
   * Looks up a charge. A charge that never arrived becomes void, so that no delayed request of this server
   * can still take money.
   */
  resolve(chargeId: string): Promise<ChargeStatus>;
}
