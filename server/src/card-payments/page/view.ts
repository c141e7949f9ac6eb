import { instant, money } from '../../checkout-page/format.ts';
import { type Html, html } from '../../checkout-page/html.ts';
import { ICONS } from '../../checkout-page/icons.ts';
import {
  backLink,
  deliveredContent,
  followPath,
  nextStep,
  notice,
  page,
  receipt,
  summary,
  type Tone,
} from '../../checkout-page/layout.ts';
import { returnUrl } from '../../checkout-page/return-url.ts';
import type { StoredCardPayment } from '../model.ts';
import { cardForm, type FormAnswer, NOT_TAKEN } from './card-form.ts';
import type { CardSite, Order } from './order.ts';
import type { PageState } from './state.ts';

export function formPage(site: CardSite, order: Order, answer: FormAnswer | null): string {
  const { payment } = order;
  return page(site, {
    title: `Pagar ${money(payment.amountCents)}`,
    state: 'form',
    summary: summary(site, order, { withCountdown: true }),
    main: cardForm(site, order, answer),
    aside: html`<aside class="promise" aria-label="Segurança">${ICONS.shield}<p>O cartão é usado só nesta compra. O número e o CVV não são guardados.</p></aside>`,
  });
}

/** The page of a payment that takes no card now, or that another payment of the same order has paid. */
export function statusPage(
  site: CardSite,
  order: Order,
  state: Exclude<PageState, 'form'> | 'paid_elsewhere',
): string {
  const { icon, tone, title, body, follow } = STATUS[state](order);
  return page(site, {
    title,
    state,
    followUrl: follow,
    reloads: true,
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

const STATUS: Record<Exclude<PageState, 'form'> | 'paid_elsewhere', (order: Order) => Status> = {
  processing: ({ path }) => {
    const follow = followPath(path);
    return {
      icon: ICONS.clock,
      tone: 'busy',
      title: 'Confirmando o pagamento',
      follow,
      body: html`
        <p>O banco ainda está analisando. Esta página se atualiza sozinha: não pague de novo.</p>
        <p class="aside">Se preferir, feche esta janela. A confirmação chega à loja do mesmo jeito.</p>
        <noscript><p class="actions"><a class="button button-quiet" href="${follow}">Atualizar agora</a></p></noscript>`,
    };
  },
  paid: (order) => {
    const { payment, merchantName, delivered } = order;
    return {
      icon: ICONS.check,
      tone: 'success',
      title: 'Pagamento aprovado',
      body: html`
        <p>Tudo certo! <span class="name">${merchantName}</span> já pode ver o seu pagamento.</p>
        ${receipt(order, [
          ['Pago em', payment.paidAt && instant(payment.paidAt)],
          ['Pedido', payment.orderCode],
        ])}
        ${deliveredContent(delivered)}
        ${nextStep(returnUrl(payment.successUrl, { psa_order_code: payment.orderCode }), { isRead: delivered.length > 0 })}`,
    };
  },
  failed: ({ payment }) => ({
    icon: ICONS.cross,
    tone: 'danger',
    title: 'Pagamento não concluído',
    body: html`
      <p>${NOT_TAKEN.declined} Nada foi cobrado.</p>
      <p class="aside">Para tentar de novo, volte à loja e comece outro pagamento.</p>
      ${backLink(cancelUrlOf(payment))}`,
  }),
  expired: ({ payment, merchantName }) => ({
    icon: ICONS.clock,
    tone: 'neutral',
    ...(payment.canceledAt
      ? {
          title: 'Pagamento cancelado',
          body: html`
            <p><span class="name">${merchantName}</span> cancelou este pagamento em ${instant(payment.canceledAt)}. Nada foi cobrado.</p>
            ${backLink(cancelUrlOf(payment))}`,
        }
      : {
          title: 'O tempo para pagar acabou',
          body: html`
            <p>Este pagamento expirou em ${instant(payment.expiresAt)}. Nada foi cobrado.</p>
            <p class="aside">Para tentar de novo, volte à loja e comece outro pagamento.</p>
            ${backLink(cancelUrlOf(payment))}`,
        }),
  }),
  refunded: (order) => ({
    icon: ICONS.refund,
    tone: 'neutral',
    title: 'Pagamento devolvido',
    body: html`
      <p>O valor foi devolvido para o cartão. Pode levar até duas faturas para aparecer.</p>
      ${receipt(order, [
        ['Pago em', order.payment.paidAt && instant(order.payment.paidAt)],
        ['Devolvido em', order.payment.refundedAt && instant(order.payment.refundedAt)],
        ['Pedido', order.payment.orderCode],
      ])}
      ${backLink(cancelUrlOf(order.payment))}`,
  }),
  paid_elsewhere: ({ payment }) => ({
    icon: ICONS.check,
    tone: 'neutral',
    title: 'Esta compra já foi paga',
    body: html`
      <p>Outro pagamento da mesma compra já foi aprovado, talvez em outra janela. Nada foi cobrado agora.</p>
      ${backLink(cancelUrlOf(payment))}`,
  }),
};

/** The shop's address for a payer who has neither paid nor cancelled. */
function cancelUrlOf({ cancelUrl, orderCode }: StoredCardPayment): string | null {
  return returnUrl(cancelUrl, { psa_order_code: orderCode });
}
