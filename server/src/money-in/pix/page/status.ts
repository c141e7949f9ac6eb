import type { Html } from '../../../api/checkout-page/html.ts';
import type { Site, Tone } from '../../../api/checkout-page/layout.ts';
import type { Order } from './order.ts';

/** The words of a state in which the payer has nothing to pay. */
export type Status = (
  site: Site,
  order: Order,
  /** The note on money that was sent back; null if there is none. */
  returned: Html | null,
) => { icon: Html; tone: Tone; title: string; body: Html };
