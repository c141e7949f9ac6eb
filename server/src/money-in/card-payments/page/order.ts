import type { PagePayment, Site } from '../../../api/checkout-page/layout.ts';
import type { DeliveredContent } from '../../receiving/model.ts';
import type { StoredCardPayment } from '../model.ts';

/** The behavior of each test card at the simulated acquirer, by its number, in the form of that acquirer's own list. */
export type TestCards = Readonly<
  Record<
    string,
    | { kind: 'approve'; refunds?: 'later' | 'fail' }
    | { kind: 'decline'; reason: string; final: boolean }
    | { kind: 'settle_later'; afterMs: number }
  >
>;

/** The addresses of every page, and the test cards if no real ones are accepted. */
export interface CardSite extends Site {
  testCards: TestCards | null;
}

/** A card payment with what its page shows beside it. */
export interface Order extends PagePayment {
  accountId: string;
  payment: StoredCardPayment;
  orderStatus: 'paid' | 'refunded' | null;
  delivered: readonly DeliveredContent[];
}
