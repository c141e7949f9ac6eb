import { CLOSED_ORDER, orderRefundedNotice } from '../../../api/checkout-page/closed-order.ts';
import { type Html, html } from '../../../api/checkout-page/html.ts';
import { ICONS } from '../../../api/checkout-page/icons.ts';
import {
  backLink,
  deliveredContent,
  followPath,
  nextStep,
  notice,
  type PagePayment,
  page,
  pagePath,
  receipt,
  receiptActions,
  type Site,
  shopName,
  summary,
  type Tone,
  testNote,
} from '../../../api/checkout-page/layout.ts';
import { drawQr } from '../../../api/checkout-page/qr.ts';
import { returnUrl } from '../../../api/checkout-page/return-url.ts';
import { type LtcRequest, ltcAmount, ltcUri } from '../model.ts';

/** A payment by LTC as the page of its payer shows it. */
interface HostedLtc {
  id: string;
  version: number;
  status: string;
  amountCents: number;
  description: string | null;
  expiresAt: Date;
  paidAt: Date | null;
  paidLate: boolean;
  canceledAt: Date | null;
  ltc: LtcRequest;
  successUrl: string | null;
  cancelUrl: string | null;
}

interface Order extends PagePayment {
  payment: HostedLtc;
  delivered: Parameters<typeof deliveredContent>[1];
}

/** The states of the page. `confirming`: all of the amount was seen, and waits for its confirmations. */
type PageState =
  | 'waiting'
  | 'pending'
  | 'part'
  | 'confirming'
  | 'expired'
  | 'paid_elsewhere'
  | 'order_refunded'
  | 'paid'
  | 'failed';

/**
 * Shows the page of a payment by LTC; null for a payment by another method. `isTest`: no wallet of the main
 * network sends to its address.
 */
export function createLtcPage({ isTest }: { isTest: boolean }) {
  return {
    show(
      site: Site,
      order: PagePayment & { payment: object; orderStatus: 'paid' | 'refunded' | null },
      now: Date,
    ): { state: PageState; page: string } | null {
      const { payment } = order;
      if (!('ltc' in payment) || payment.ltc === null) return null;
      const own = order as unknown as Order;
      const state = stateOf(own.payment, order.orderStatus, now);
      return { state, page: paymentPage(site, own, state, isTest) };
    },
  };
}

function stateOf(
  { status, ltc, expiresAt }: HostedLtc,
  orderStatus: 'paid' | 'refunded' | null,
  now: Date,
): PageState {
  if (status === 'paid' || status === 'failed') return status;
  if (orderStatus) return CLOSED_ORDER[orderStatus];
  if (status === 'expired') return 'expired';
  const received = ltc.receivedLitoshi ?? 0;
  if (received >= ltc.litoshi) return 'confirming';
  if (expiresAt <= now) return 'expired';
  if (ltc.address === null) return 'waiting';
  return received > 0 ? 'part' : 'pending';
}

/** The states that can change while the payer looks. */
const FOLLOWED: ReadonlySet<PageState> = new Set(['waiting', 'pending', 'part', 'confirming', 'expired']);

function paymentPage(site: Site, order: Order, state: PageState, isTest: boolean): string {
  const { payment, path } = order;
  const { texts, formats } = site;
  const followed = {
    state,
    version: payment.version,
    followUrl: FOLLOWED.has(state) ? followPath(site, path) : undefined,
    reloads: state === 'waiting' || state === 'confirming',
  };
  if (state === 'pending' || state === 'part')
    return page(site, {
      ...followed,
      title: texts.ltc.pay(formats.money(payment.amountCents)),
      summary: summary(site, order, { withCountdown: true }),
      main: request(site, order, isTest),
      aside: html`<aside class="promise" aria-label="${texts.page.security}">${ICONS.shield}<p>${texts.ltc.promise}</p></aside>`,
    });
  const shown = NOTICES[state](site, order);
  return page(site, {
    ...followed,
    title: shown.title,
    summary: summary(site, order, { withCountdown: false }),
    main: notice(shown),
  });
}

/** The address, the amount, and how much of it was received. */
function request(site: Site, { payment, merchantName, path }: Order, isTest: boolean): Html {
  const { ltc } = payment;
  const { texts, formats } = site;
  const received = ltc.receivedLitoshi ?? 0;
  const litoshi = ltc.litoshi - received;
  const missing = formats.ltc(litoshi);
  const uri = ltcUri({ ...ltc, litoshi })!;
  const qr = drawQr(uri, texts.ltc.qrLabel(missing, merchantName));
  const back = cancelUrlOf(payment);
  return html`
    ${isTest && testNote(site, texts.ltc.testWarning)}
    <h2 class="panel-title" id="ltc-title">${texts.ltc.title}</h2>
    ${received > 0 && html`<p class="pix-hint">${texts.ltc.receivedPart(html`<strong>${formats.ltc(received)}</strong>`)}</p>`}
    <div class="pix" role="group" aria-labelledby="ltc-title">
      ${qr && html`<div class="pix-scan">${qr('qr-large')}<p class="pix-hint">${texts.ltc.scan}</p></div>`}
      <div class="pix-copy">
        <p class="pix-hint">${texts.ltc.send(html`<strong>${missing}</strong>`)}</p>
        <label for="ltc-amount">${texts.ltc.amount}</label>
        <textarea id="ltc-amount" class="pix-text" rows="1" readonly spellcheck="false" autocomplete="off">${missing}</textarea>
        <button class="button button-quiet" type="button" data-copy="ltc-amount" data-copied-text="${ltcAmount({ litoshi })}" data-copied="${texts.page.copied}" data-copied-note="${texts.ltc.amountCopied}" data-selected="${texts.ltc.amountSelected}" hidden>${ICONS.copy}<span data-label>${texts.ltc.copyAmount}</span></button>
        <label for="ltc-address">${texts.ltc.address}</label>
        <textarea id="ltc-address" class="pix-text" rows="2" readonly spellcheck="false" autocomplete="off" aria-describedby="ltc-hint" data-pix-code>${ltc.address!}</textarea>
        <button class="button button-pay" type="button" data-copy="ltc-address" data-copied="${texts.page.copied}" data-copied-note="${texts.ltc.addressCopied}" data-selected="${texts.ltc.addressSelected}" hidden>${ICONS.copy}<span data-label>${texts.ltc.copy}</span></button>
        <p class="pix-hint" id="ltc-hint">${texts.ltc.hint} <a href="${uri}">${texts.ltc.openWallet}</a></p>
        <p class="pix-note" role="status" data-copy-note></p>
      </div>
      ${qr && html`<details class="pix-fold"><summary>${texts.pix.otherDevice}</summary>${qr('qr-small')}</details>`}
      <p class="pix-live">${ICONS.refresh}<span data-live hidden>${texts.page.refreshesItself}</span><noscript><a href="${pagePath(site, path)}">${texts.ltc.haveSent}</a></noscript></p>
      ${back && html`<a class="cancel" href="${back}" rel="noreferrer">${ICONS.back}${texts.page.backToShop}</a>`}
    </div>`;
}

interface Notice {
  icon: Html;
  tone: Tone;
  title: string;
  body: Html;
}

const NOTICES: Record<Exclude<PageState, 'pending' | 'part'>, (site: Site, order: Order) => Notice> = {
  waiting: ({ texts }) => ({
    icon: ICONS.clock,
    tone: 'busy',
    title: texts.ltc.creating,
    body: html`<p>${texts.ltc.creatingText}</p>`,
  }),
  confirming: ({ texts }, { payment: { ltc } }) => ({
    icon: ICONS.clock,
    tone: 'busy',
    title: texts.ltc.confirming,
    body: html`
      <p>${texts.ltc.confirmingText(html`<strong>${texts.ltc.confirmations(ltc.confirmations, ltc.requiredConfirmations ?? 2)}</strong>`)}</p>
      <p class="aside">${texts.ltc.confirmingHint}</p>`,
  }),
  expired: (site, { payment, merchantName }) => ({
    icon: ICONS.clock,
    tone: 'neutral',
    ...(payment.canceledAt
      ? {
          title: site.texts.page.canceled,
          body: html`
            <p>${site.texts.ltc.canceledText(shopName(merchantName), site.formats.instant(payment.canceledAt))}</p>
            ${backLink(site, cancelUrlOf(payment))}`,
        }
      : {
          title: site.texts.page.timeIsUp,
          body: html`
            <p>${site.texts.ltc.expiredText}</p>
            <p>${site.texts.ltc.justSent}</p>
            ${backLink(site, cancelUrlOf(payment))}`,
        }),
  }),
  order_refunded: (site, { payment }) => orderRefundedNotice(site, { cancelUrl: cancelUrlOf(payment) }),
  paid_elsewhere: (site, { payment }) => ({
    icon: ICONS.check,
    tone: 'neutral',
    title: site.texts.page.alreadyPaid,
    body: html`
      <p>${site.texts.ltc.alreadyPaidText}</p>
      ${backLink(site, cancelUrlOf(payment))}`,
  }),
  paid: (site, order) => {
    const { texts, formats } = site;
    const { payment, merchantName, delivered } = order;
    return {
      icon: ICONS.check,
      tone: 'success',
      title: texts.ltc.paid,
      body: html`
        <p>${payment.paidLate ? texts.ltc.paidLate : texts.page.allSet} ${texts.page.shopSeesPayment(shopName(merchantName))}</p>
        ${receipt(site, order, [
          [texts.ltc.received, formats.ltc(payment.ltc.receivedLitoshi ?? payment.ltc.litoshi)],
          [texts.page.paidAt, payment.paidAt && formats.instant(payment.paidAt)],
          [texts.page.payment, payment.id],
        ])}
        ${receiptActions(site)}
        ${deliveredContent(site, delivered)}
        ${nextStep(site, returnUrl(payment.successUrl, { psa_payment_id: payment.id }), { isRead: delivered.length > 0 })}`,
    };
  },
  failed: (site, { payment, merchantName }) => ({
    icon: ICONS.cross,
    tone: 'danger',
    title: site.texts.page.notCompleted,
    body: html`
      ${
        (payment.ltc.receivedLitoshi ?? 0) > 0
          ? html`<p>${site.texts.ltc.failedPart(html`<strong>${site.formats.ltc(payment.ltc.receivedLitoshi!)}</strong>`, shopName(merchantName), html`<code>${payment.id}</code>`)}</p>`
          : html`<p>${site.texts.ltc.failedNothing}</p>`
      }
      ${backLink(site, cancelUrlOf(payment))}`,
  }),
};

function cancelUrlOf({ cancelUrl, id }: HostedLtc): string | null {
  return returnUrl(cancelUrl, { psa_payment_id: id });
}
