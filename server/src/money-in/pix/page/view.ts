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
  pagePath,
  receipt,
  receiptActions,
  type Site,
  shopName,
  summary,
} from '../../../api/checkout-page/layout.ts';
import type { HostedPix } from '../model.ts';
import { pixCode } from './code.ts';
import { cancelUrlOf, type Order, successUrlOf } from './order.ts';
import { RECURRENCE_STATUS } from './recurrence.ts';
import type { PageState } from './state.ts';
import type { Status } from './status.ts';

/** The page of a payment in its state. */
export function paymentPage(site: Site, order: Order, state: PageState): string {
  const { payment, path } = order;
  const { texts, formats } = site;
  const returned = returnedNote(site, payment.returnedCredits);
  const followed = {
    state,
    version: payment.version,
    followUrl: FOLLOWED.has(state) ? followPath(site, path) : undefined,
    reloads: state === 'waiting',
  };
  if (state === 'pending')
    return page(site, {
      ...followed,
      title: (payment.recurrence ? texts.pix.authorise : texts.pix.pay)(formats.money(payment.amountCents)),
      summary: summary(site, order, { withCountdown: true }),
      main: pixCode(site, order, payment.brCode!, returned),
      aside: html`<aside class="promise" aria-label="${texts.page.security}">${ICONS.shield}<p>${texts.pix.promise}</p></aside>`,
    });
  const describe = (payment.recurrence && RECURRENCE_STATUS[state]) || STATUS[state];
  const { icon, tone, title, body } = describe(site, order, returned);
  return page(site, {
    ...followed,
    title,
    summary: summary(site, order, { withCountdown: false }),
    main: notice({ icon, tone, title, body }),
  });
}

/** The states that can change while the payer looks: a late PIX is recognized after the expiry too. */
const FOLLOWED: ReadonlySet<PageState> = new Set(['waiting', 'pending', 'expired']);

const STATUS: Record<Exclude<PageState, 'pending'>, Status> = {
  waiting: (site, { path }) => ({
    icon: ICONS.clock,
    tone: 'busy',
    title: site.texts.pix.creating,
    body: html`
      <p>${site.texts.pix.creatingText}</p>
      <noscript><p class="actions"><a class="button button-quiet" href="${pagePath(site, path)}">${site.texts.page.refreshNow}</a></p></noscript>`,
  }),
  expired: (site, { payment, path, merchantName }, returned) => ({
    icon: ICONS.clock,
    tone: 'neutral',
    ...(payment.canceledAt
      ? {
          title: site.texts.page.canceled,
          body: html`
            <p>${site.texts.pix.canceledText(shopName(merchantName), site.formats.instant(payment.canceledAt))}</p>
            ${returned}
            ${backLink(site, cancelUrlOf(payment))}`,
        }
      : {
          title: site.texts.page.timeIsUp,
          body: html`
            <p>${site.texts.pix.expiredText(site.formats.instant(payment.expiresAt))}</p>
            <p>${site.texts.pix.justPaid}</p>
            ${returned}
            <p class="aside">${site.texts.page.startAgain}</p>
            <noscript><p class="actions"><a class="button button-quiet" href="${pagePath(site, path)}">${site.texts.page.refreshNow}</a></p></noscript>
            ${backLink(site, cancelUrlOf(payment))}`,
        }),
  }),
  order_refunded: (site, { payment }, returned) =>
    orderRefundedNotice(site, { returned, cancelUrl: cancelUrlOf(payment) }),
  paid_elsewhere: (site, { payment }, returned) => ({
    icon: ICONS.check,
    tone: 'neutral',
    title: site.texts.page.alreadyPaid,
    body: html`
      <p>${site.texts.pix.alreadyPaidText}</p>
      ${returned}
      ${backLink(site, cancelUrlOf(payment))}`,
  }),
  paid: (site, order, returned) => {
    const { texts, formats } = site;
    const { payment, merchantName, delivered } = order;
    return {
      icon: ICONS.check,
      tone: 'success',
      title: texts.pix.paid,
      body: html`
        <p>${payment.paidLate ? texts.pix.paidLate : texts.page.allSet} ${texts.page.shopSeesPayment(shopName(merchantName))}</p>
        ${returned}
        ${receipt(site, order, [
          [texts.page.paidAt, payment.paidAt && formats.instant(payment.paidAt)],
          [texts.pix.refundedAmount, payment.refundedCents > 0 ? formats.money(payment.refundedCents) : null],
          [texts.page.payment, payment.id],
        ])}
        ${receiptActions(site)}
        ${deliveredContent(site, delivered)}
        ${nextStep(site, successUrlOf(payment), { isRead: delivered.length > 0 })}`,
    };
  },
  refunded: (site, order, returned) => ({
    icon: ICONS.refund,
    tone: 'neutral',
    title: site.texts.pix.refunded,
    body: html`
      <p>${site.texts.pix.refundedText}</p>
      ${returned}
      ${receipt(site, order, [
        [site.texts.page.paidAt, order.payment.paidAt && site.formats.instant(order.payment.paidAt)],
        [
          site.texts.page.refundedAt,
          order.payment.refundedAt && site.formats.instant(order.payment.refundedAt),
        ],
        [site.texts.page.payment, order.payment.id],
      ])}
      ${backLink(site, cancelUrlOf(order.payment))}`,
  }),
  failed: (site, { payment }, returned) => ({
    icon: ICONS.cross,
    tone: 'danger',
    title: site.texts.page.notCompleted,
    body: html`
      <p>${site.texts.pix.failedText}</p>
      ${returned}
      <p class="aside">${site.texts.page.startAgain}</p>
      ${backLink(site, cancelUrlOf(payment))}`,
  }),
};

// ── Money that was sent back ────────────────────────────────────────────────────────────────────

/** The number of returned credits that the page lists, the newest first. */
const LISTED = 3;

function returnedNote({ texts, formats }: Site, credits: HostedPix['returnedCredits']): Html | null {
  if (credits.length === 0) return null;
  const more = credits.length - LISTED;
  return html`
    <div class="returned">${ICONS.refund}<ul>
      ${[...credits]
        .reverse()
        .slice(0, LISTED)
        .map(
          ({ amountCents, cause, returnedAt }) =>
            html`<li>${texts.pix.returned(html`<strong>${formats.money(amountCents)}</strong>`, returnedAt !== null, texts.pix.returnReasons[cause])}</li>`,
        )}
      ${more > 0 && html`<li>${texts.pix.moreReturned(more)}</li>`}
    </ul></div>`;
}
