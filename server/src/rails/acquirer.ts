import type { Cents } from '../kernel/money.ts';

/** A card as the payer typed it: in memory while the acquirer is asked, never stored, never logged. */
export interface Card {
  /** Digits alone. */
  number: string;
  holder: string;
  expiryMonth: number;
  expiryYear: number;
  securityCode: string;
}

/** Where a charge stands at the acquirer. */
export type ChargeStatus =
  | { status: 'approved' }
  /** `final`: no other try with any card makes sense. */
  | { status: 'declined'; reason: string; final: boolean }
  /** Not decided yet; asked again at `settlesAt`, or soon where it does not say. */
  | { status: 'pending'; settlesAt: Date | null }
  /** The acquirer never got this charge, and would refuse it now: nothing was taken and nothing will be. */
  | { status: 'void' };

/**
 * Who takes the money from a card. Every call names a charge by an id of ours, so a call that is repeated after a
 * crash or a lost answer has one effect.
 */
export interface Acquirer {
  /** Null where this acquirer takes the card; else why not, in words for the payer. Looks at the number alone. */
  refusal(cardNumber: string): string | null;
  charge(charge: { id: string; amountCents: Cents; card: Card }): Promise<ChargeStatus>;
  /** Where a charge stands. One that never arrived is made void, so that no slow request of ours can still take money. */
  resolve(chargeId: string): Promise<ChargeStatus>;
  /** Gives the whole amount back; a second time it does nothing. */
  refund(chargeId: string): Promise<void>;
}
