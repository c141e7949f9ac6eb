import { orderRefundedNotice } from '../../../api/checkout-page/closed-order.ts';
import { type Html, html } from '../../../api/checkout-page/html.ts';
import { ICONS } from '../../../api/checkout-page/icons.ts';
import {
  backLink,
  deliveredContent,
  followPath,
  nextStep,
  notice,
  page,
  receipt,
  receiptActions,
  type Site,
  shopName,
  summary,
  type Tone,
} from '../../../api/checkout-page/layout.ts';
import { returnUrl } from '../../../api/checkout-page/return-url.ts';
import type { StoredCardPayment } from '../model.ts';
import { cardForm, type FormAnswer } from './card-form.ts';
import type { CardSite, Order } from './order.ts';
import type { PageState } from './state.ts';

export function formPage(site: CardSite, order: Order, answer: FormAnswer | null): string {
  const { texts, formats } = site;
  return page(site, {
    title: texts.card.pay(formats.money(order.payment.amountCents)),
    state: 'form',
    summary: summary(site, order, { withCountdown: true }),
    main: cardForm(site, order, answer),
    aside: html`<aside class="promise" aria-label="${texts.page.security}">${ICONS.shield}<p>${texts.card.promise}</p></aside>`,
  });
}

/** The page of a payment that takes no card now, or that another payment of the same order has paid. */
export function statusPage(site: CardSite, order: Order, state: Exclude<PageState, 'form'>): string {
  const { icon, tone, title, body, follow } = STATUS[state](site, order);
  return page(site, {
    title,
    state,
    followUrl: follow,
    reloads: state === 'processing',
    summary: summary(site, order, { withCountdown: false }),
    main: notice({ icon, tone, title, body }),
  });
}

interface Status {
  icon: Html;
  tone: Tone;
  title: string;
  body: Html;
  /** The address that the page reloads until its state has changed. */
  follow?: string;
}

const STATUS: Record<Exclude<PageState, 'form'>, (site: Site, order: Order) => Status> = {
  processing: (site, { payment, path }) => {
    const { texts } = site;
    const follow = followPath(site, path, payment.declinedCharges);
    return {
      icon: ICONS.clock,
      tone: 'busy',
      title: texts.card.confirming,
      follow,
      body: html`
        <p>${texts.card.confirmingText}</p>
        <p class="aside">${texts.card.confirmingHint}</p>
        <noscript><p class="actions"><a class="button button-quiet" href="${follow}">${texts.page.refreshNow}</a></p></noscript>`,
    };
  },
  paid: (site, order) => {
    const { texts, formats } = site;
    const { payment, merchantName, delivered } = order;
    return {
      icon: ICONS.check,
      tone: 'success',
      title: texts.card.paid,
      body: html`
        <p>${texts.page.allSet} ${texts.page.shopSeesPayment(shopName(merchantName))}</p>
        ${receipt(site, order, [
          [texts.page.paidAt, payment.paidAt && formats.instant(payment.paidAt)],
          [texts.pix.refundedAmount, payment.refundedCents ? formats.money(payment.refundedCents) : null],
          [texts.card.order, payment.orderCode],
        ])}
        ${receiptActions(site)}
        ${deliveredContent(site, delivered)}
        ${nextStep(site, returnUrl(payment.successUrl, { psa_order_code: payment.orderCode }), { isRead: delivered.length > 0 })}`,
    };
  },
  failed: (site, { payment }) => ({
    icon: ICONS.cross,
    tone: 'danger',
    title: site.texts.page.notCompleted,
    body: html`
      <p>${site.texts.card.bankDeclined} ${site.texts.card.nothingCharged}</p>
      <p class="aside">${site.texts.page.startAgain}</p>
      ${backLink(site, cancelUrlOf(payment))}`,
  }),
  expired: (site, { payment, merchantName, path }) => ({
    icon: ICONS.clock,
    tone: 'neutral',
    // Another device may still pay the order.
    follow: followPath(site, path),
    ...(payment.canceledAt
      ? {
          title: site.texts.page.canceled,
          body: html`
            ${returnedText(site, payment) ?? html`<p>${site.texts.card.canceledText(shopName(merchantName), site.formats.instant(payment.canceledAt))}</p>`}
            ${backLink(site, cancelUrlOf(payment))}`,
        }
      : {
          title: site.texts.page.timeIsUp,
          body: html`
            <p>${site.texts.card.expiredText(site.formats.instant(payment.expiresAt))}</p>
            <p class="aside">${site.texts.page.startAgain}</p>
            ${backLink(site, cancelUrlOf(payment))}`,
        }),
  }),
  refunded: (site, order) => ({
    icon: ICONS.refund,
    tone: 'neutral',
    title: site.texts.card.refunded,
    body: html`
      <p>${site.texts.card.refundedText}</p>
      ${receipt(site, order, [
        [site.texts.page.paidAt, order.payment.paidAt && site.formats.instant(order.payment.paidAt)],
        [
          site.texts.page.refundedAt,
          order.payment.refundedAt && site.formats.instant(order.payment.refundedAt),
        ],
        [site.texts.card.order, order.payment.orderCode],
      ])}
      ${backLink(site, cancelUrlOf(order.payment))}`,
  }),
  order_refunded: (site, { payment }) =>
    orderRefundedNotice(site, {
      returned: returnedText(site, payment),
      cancelUrl: cancelUrlOf(payment),
    }),
  paid_elsewhere: (site, { payment }) => {
    const returned = returnedText(site, payment);
    return {
      icon: returned ? ICONS.refund : ICONS.check,
      tone: 'neutral',
      title: site.texts.page.alreadyPaid,
      body: html`
        <p>${returned ? site.texts.card.paidBefore : site.texts.card.alreadyPaidText}</p>
        ${returned}
        ${backLink(site, cancelUrlOf(payment))}`,
    };
  },
};

/** The text about a charge that was returned automatically; null if there was none. */
function returnedText({ texts }: Site, { returned }: StoredCardPayment): Html | null {
  return returned ? html`<p>${texts.card.refundedText}</p>` : null;
}

/** The shop's address for a payer who has neither paid nor canceled. */
function cancelUrlOf({ cancelUrl, orderCode }: StoredCardPayment): string | null {
  return returnUrl(cancelUrl, { psa_order_code: orderCode });
}
