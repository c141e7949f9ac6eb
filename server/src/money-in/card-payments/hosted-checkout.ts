import type { OrderStatus } from '../../kernel/orders.ts';
import type { DeliveredContent } from '../receiving/model.ts';
import type { StoredCardPayment } from './model.ts';

/** The operations of the payer's page on one payment. The page knows only the order code. */
export interface HostedCheckout {
  /**
   * `orderStatus`: the status of an order that another payment has paid, so that this one takes no card.
   * `delivered`: the content that a paid payment got.
   */
  open(orderCode: string): Promise<{
    accountId: string;
    payment: StoredCardPayment;
    merchantName: string;
    orderStatus: OrderStatus | null;
    delivered: readonly DeliveredContent[];
  } | null>;
  /** Returns why the acquirer does not accept the card; null if it does. */
  cardRefusal(cardNumber: string): CardRefusal | null;
  /**
   * Charges a card: records the charge, calls the acquirer, records its answer. A crash or a lost answer in between
   * loses nothing: the open charge is looked up later, and is `processing` until then. `address` is the payer's;
   * without one nobody is held back.
   * @throws NotFoundError
   */
  pay(orderCode: string, card: CardDetails, address?: string | null): Promise<PayResult>;
}

/** The reason why a card is refused, whatever its account: the acquirer moves no money. */
export type CardRefusal = 'test_cards_only';

/** A card as the payer typed it: never stored, never logged. */
export interface CardDetails {
  number: string;
  holder: string;
  expiryMonth: number;
  expiryYear: number;
  securityCode: string;
}

export type PayResult =
  | { kind: 'paid' | 'failed' | 'processing'; payment: StoredCardPayment }
  /**
   * The card was charged, and the money is returned automatically: another payment of the order was paid
   * before, or the merchant had canceled this one.
   */
  | { kind: 'returned'; payment: StoredCardPayment }
  /**
   * `reason` is the acquirer's, for the merchant alone: a tester of stolen cards would learn from it which are good.
   */
  | { kind: 'declined'; reason: string; payment: StoredCardPayment }
  /** The acquirer never received the charge. */
  | { kind: 'not_charged'; payment: StoredCardPayment }
  /** No card was tried: this payer may try one again at `retryAt`. */
  | { kind: 'held_back'; retryAt: Date; payment: StoredCardPayment }
  | { kind: ChargeRefusal; payment: StoredCardPayment };

export type ChargeRefusal = 'not_payable' | 'in_progress' | 'paid_elsewhere';
