import { type Html, html } from './html.ts';
import { ICONS } from './icons.ts';
import { backLink, type Site, type Tone } from './layout.ts';

/** The state of the page of an unpaid payment, by the status of an order that another payment has paid. */
export const CLOSED_ORDER = { paid: 'paid_elsewhere', refunded: 'order_refunded' } as const;

/** The notice on the page of a payment whose order was paid by another payment, and refunded in full. */
export function orderRefundedNotice(
  site: Site,
  { returned = null, cancelUrl }: { returned?: Html | null; cancelUrl: string | null },
): { icon: Html; tone: Tone; title: string; body: Html } {
  return {
    icon: ICONS.cross,
    tone: 'neutral',
    title: site.texts.page.orderRefunded,
    body: html`
      <p>${site.texts.page.orderRefundedText}</p>
      ${returned}
      ${backLink(site, cancelUrl)}`,
  };
}
