import { cardForm, type FormAnswer, NOT_TAKEN } from './card-form.ts';
import { instant, money } from './format.ts';
import { type Html, html } from './html.ts';
import { ICONS } from './icons.ts';
import {
  backLink,
  followPath,
  notice,
  type Order,
  page,
  receipt,
  type Site,
  summary,
  type Tone,
} from './layout.ts';
import { returnUrl } from './return-url.ts';
import type { PageState } from './state.ts';

export function formPage(site: Site, order: Order, answer: FormAnswer | null): string {
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
  site: Site,
  order: Order,
  state: Exclude<PageState, 'form'> | 'paid_elsewhere',
): string {
  const { icon, tone, title, body, follow } = STATUS[state](site, order);
  return page(site, {
    title,
    state,
    followUrl: follow,
    summary: summary(site, order, { withCountdown: false }),
    main: notice({ icon, tone, title, body }),
  });
}

/** The page of a refused request or an internal error, in the same look. */
export function problemPage(site: Site, status: number, orderUrl: string | null): string {
  const [title, text] = PROBLEMS[status] ?? PROBLEMS_ELSE;
  const link =
    orderUrl !== null &&
    html`<p class="actions"><a class="button" href="${orderUrl}">Ver este pagamento</a></p>`;
  return page(site, {
    title,
    state: 'problem',
    summary: null,
    main: notice({
      icon: status === 404 ? ICONS.search : ICONS.alert,
      tone: 'neutral',
      title,
      body: html`<p>${text}</p>${link}`,
    }),
  });
}

const PROBLEMS_ELSE = [
  'Algo deu errado',
  'Pode ser que o pagamento tenha sido feito mesmo assim. Veja a situação dele antes de tentar de novo.',
] as const;
const PROBLEMS: Record<number, readonly [title: string, text: string]> = {
  400: ['Envio incompleto', 'Os dados não chegaram inteiros. Nada foi cobrado: volte e tente de novo.'],
  403: ['Envio recusado', 'O formulário não foi enviado por esta página. Nada foi cobrado.'],
  404: ['Pagamento não encontrado', 'Confira o endereço ou peça um novo link à loja.'],
  413: ['Envio recusado', 'Os dados enviados são grandes demais. Nada foi cobrado.'],
  415: ['Envio recusado', 'O formulário veio em um formato que esta página não aceita. Nada foi cobrado.'],
  429: [
    'Aguarde um instante',
    'Vieram muitos pedidos desta rede. Nada foi cobrado agora: tente de novo em um minuto.',
  ],
};

interface Status {
  icon: Html;
  tone: Tone;
  title: string;
  body: Html;
  /** The address that the page reloads until its state has changed. */
  follow?: string;
}

const STATUS: Record<Exclude<PageState, 'form'> | 'paid_elsewhere', (site: Site, order: Order) => Status> = {
  processing: (site, { payment }) => {
    const follow = followPath(site, payment);
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
  paid: (_site, { payment, merchantName }) => {
    const next = returnUrl(payment.successUrl, { psa_order_code: payment.orderCode });
    return {
      icon: ICONS.check,
      tone: 'success',
      title: 'Pagamento aprovado',
      body: html`
        <p>Tudo certo! <span class="name">${merchantName}</span> já pode ver o seu pagamento.</p>
        ${receipt(payment, merchantName, [['Pago em', payment.paidAt && instant(payment.paidAt)]])}
        ${next && html`<p class="actions"><a class="button" href="${next}" rel="noreferrer">Continuar para a loja</a></p>`}
        <p class="aside" data-closable="${next ? 'no' : 'yes'}" role="status" hidden>Você já pode fechar esta janela.</p>`,
    };
  },
  failed: (_site, { payment }) => ({
    icon: ICONS.cross,
    tone: 'danger',
    title: 'Pagamento não concluído',
    body: html`
      <p>${NOT_TAKEN.declined} Nada foi cobrado.</p>
      <p class="aside">Para tentar de novo, volte à loja e comece outro pagamento.</p>
      ${backLink(payment)}`,
  }),
  expired: (_site, { payment, merchantName }) => ({
    icon: ICONS.clock,
    tone: 'neutral',
    ...(payment.canceledAt
      ? {
          title: 'Pagamento cancelado',
          body: html`
            <p><span class="name">${merchantName}</span> cancelou este pagamento em ${instant(payment.canceledAt)}. Nada foi cobrado.</p>
            ${backLink(payment)}`,
        }
      : {
          title: 'O tempo para pagar acabou',
          body: html`
            <p>Este pagamento expirou em ${instant(payment.expiresAt)}. Nada foi cobrado.</p>
            <p class="aside">Para tentar de novo, volte à loja e comece outro pagamento.</p>
            ${backLink(payment)}`,
        }),
  }),
  refunded: (_site, { payment, merchantName }) => ({
    icon: ICONS.refund,
    tone: 'neutral',
    title: 'Pagamento devolvido',
    body: html`
      <p>O valor foi devolvido para o cartão. Pode levar até duas faturas para aparecer.</p>
      ${receipt(payment, merchantName, [
        ['Pago em', payment.paidAt && instant(payment.paidAt)],
        ['Devolvido em', payment.refundedAt && instant(payment.refundedAt)],
      ])}
      ${backLink(payment)}`,
  }),
  paid_elsewhere: (_site, { payment }) => ({
    icon: ICONS.check,
    tone: 'neutral',
    title: 'Esta compra já foi paga',
    body: html`
      <p>Outro pagamento da mesma compra já foi aprovado, talvez em outra janela. Nada foi cobrado agora.</p>
      ${backLink(payment)}`,
  }),
};
