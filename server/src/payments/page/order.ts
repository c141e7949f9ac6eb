import type { Shown } from '../../checkout-page/layout.ts';
import type { StoredPayment } from '../model.ts';

/** A PIX payment with what its page shows beside it. */
export interface Order extends Shown {
  payment: StoredPayment;
  paidElsewhere: boolean;
}
