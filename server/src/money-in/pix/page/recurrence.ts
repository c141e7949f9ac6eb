import { type Html, html } from '../../../api/checkout-page/html.ts';
import { ICONS } from '../../../api/checkout-page/icons.ts';
import {
  backLink,
  nextStep,
  receipt,
  receiptActions,
  type Site,
  shopName,
} from '../../../api/checkout-page/layout.ts';
import { cancelUrlOf, type Order, successUrlOf } from './order.ts';
import type { PageState } from './state.ts';
import type { Status } from './status.ts';

// The page of a code that authorizes debits: the terms for the payer, and the status.

/** The terms that the payer authorizes, above the code. */
export function recurrenceNote({ texts, formats }: Site, { payment, merchantName }: Order): Html {
  const { interval, endsAfterCycles } = payment.recurrence!;
  const { terms, every, until, once } = texts.recurrence;
  const amount = formats.money(payment.amountCents);
  const agreed =
    endsAfterCycles === 1
      ? once(amount)
      : terms(amount, every[interval], until(endsAfterCycles), shopName(merchantName));
  return html`<p class="pix-hint">${agreed}</p>`;
}

/** The states of a recurrence that need other words than a payment. */
export const RECURRENCE_STATUS: Partial<Record<PageState, Status>> = {
  expired: (site, { payment }, returned) => {
    const { texts, formats } = site;
    return {
      icon: ICONS.clock,
      tone: 'neutral',
      // If the bank refuses the code, the title must not say that its time is over.
      title: payment.brCode === null ? texts.page.notCompleted : texts.recurrence.expired,
      body: html`
      <p>${payment.brCode === null ? texts.pix.failedText : texts.recurrence.expiredText(formats.instant(payment.expiresAt))}</p>
      ${returned}
      <p class="aside">${texts.recurrence.startAgain}</p>
      ${backLink(site, cancelUrlOf(payment))}`,
    };
  },
  paid: (site, order, returned) => {
    const { formats } = site;
    const texts = site.texts.recurrence;
    const { payment, merchantName } = order;
    const { interval, nextDueAt, isOver } = payment.recurrence!;
    return {
      icon: ICONS.check,
      tone: isOver ? 'neutral' : 'success',
      title: isOver ? texts.over : texts.paid,
      body: html`
        <p>${isOver ? texts.overText : texts.paidText} ${texts.shopSees(shopName(merchantName))}</p>
        ${returned}
        ${receipt(site, order, [
          [texts.charge, texts.every[interval]],
          [texts.authorisedAt, payment.paidAt && formats.instant(payment.paidAt)],
          [texts.nextCharge, nextDueAt && formats.day(nextDueAt)],
          [texts.subscription, payment.id],
        ])}
        ${receiptActions(site)}
        ${nextStep(site, successUrlOf(payment))}`,
    };
  },
  failed: (site, { payment }, returned) => ({
    icon: ICONS.cross,
    tone: 'neutral',
    title: site.texts.recurrence.failed,
    body: html`
      <p>${site.texts.recurrence.failedText}</p>
      ${returned}
      <p class="aside">${site.texts.recurrence.startAgain}</p>
      ${backLink(site, cancelUrlOf(payment))}`,
  }),
};
