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
  type Shown,
  type Site,
  summary,
  type Tone,
  testNote,
} from '../../checkout-page/layout.ts';
import { drawQr } from '../../checkout-page/qr.ts';
import { returnUrl } from '../../checkout-page/return-url.ts';
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
  ltc: LtcRequest;
  successUrl: string | null;
  cancelUrl: string | null;
}

interface Order extends Shown {
  payment: HostedLtc;
  delivered: Parameters<typeof deliveredContent>[0];
}

/** The states of the page. `confirming`: all of the amount was seen, and waits for its confirmations. */
type PageState =
  | 'waiting'
  | 'pending'
  | 'part'
  | 'confirming'
  | 'expired'
  | 'paid_elsewhere'
  | 'paid'
  | 'failed';

/** Shows the page of a payment by LTC; null of a payment by another method. `isTest`: no wallet of the main network sends to it. */
export function createLtcPage({ isTest }: { isTest: boolean }) {
  return {
    show(
      site: Site,
      order: Shown & { payment: object; paidElsewhere: boolean },
      now: Date,
    ): { state: PageState; page: string } | null {
      const { payment } = order;
      if (!('ltc' in payment) || payment.ltc === null) return null;
      const own = order as unknown as Order;
      const state = stateOf(own.payment, order.paidElsewhere, now);
      return { state, page: paymentPage(site, own, state, isTest) };
    },
  };
}

function stateOf({ status, ltc, expiresAt }: HostedLtc, paidElsewhere: boolean, now: Date): PageState {
  if (status === 'paid' || status === 'failed') return status;
  if (paidElsewhere) return 'paid_elsewhere';
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
  const followed = {
    state,
    version: payment.version,
    followUrl: FOLLOWED.has(state) ? followPath(path) : undefined,
    reloads: state === 'waiting' || state === 'confirming',
  };
  if (state === 'pending' || state === 'part')
    return page(site, {
      ...followed,
      title: `Pagar ${money(payment.amountCents)} com LTC`,
      summary: summary(site, order, { withCountdown: true }),
      main: request(order, isTest),
      aside: html`<aside class="promise" aria-label="Segurança">${ICONS.shield}<p>O envio é feito na sua carteira. Esta página não pede senha nem chaves.</p></aside>`,
    });
  return page(site, {
    ...followed,
    title: NOTICES[state](order).title,
    summary: summary(site, order, { withCountdown: false }),
    main: notice(NOTICES[state](order)),
  });
}

/** The address, the amount, and what has come of it. */
function request({ payment, merchantName, path }: Order, isTest: boolean): Html {
  const { ltc } = payment;
  const received = ltc.receivedLitoshi ?? 0;
  const missing = ltcAmount({ litoshi: ltc.litoshi - received });
  const uri = ltcUri({ ...ltc, litoshi: ltc.litoshi - received })!;
  const qr = drawQr(uri, `QR code do envio de ${missing} LTC para ${merchantName}`);
  const back = cancelUrlOf(payment);
  return html`
    ${isTest && testNote('Este endereço é de uma rede de testes: nenhuma carteira de verdade envia para ele.')}
    <h2 class="panel-title" id="ltc-title">Pague com Litecoin</h2>
    ${received > 0 && html`<p class="pix-hint">Recebemos <strong>${ltcAmount({ litoshi: received })} LTC</strong>. Envie o que falta antes do prazo.</p>`}
    <div class="pix" role="group" aria-labelledby="ltc-title">
      ${qr && html`<div class="pix-scan">${qr('qr-large')}<p class="pix-hint">Aponte a câmera da sua carteira para o QR code.</p></div>`}
      <div class="pix-copy">
        <p class="pix-hint">Envie <strong>${missing} LTC</strong>, nem menos: um valor menor não paga a compra.</p>
        <label for="ltc-address">Endereço LTC</label>
        <textarea id="ltc-address" class="pix-text" rows="2" readonly spellcheck="false" autocomplete="off" aria-describedby="ltc-hint" data-pix-code>${ltc.address!}</textarea>
        <button class="button button-pay" type="button" data-copy="ltc-address" data-copied="Copiado" data-copied-note="Endereço copiado. Abra a sua carteira e envie o valor exato." hidden>${ICONS.copy}<span data-label>Copiar endereço</span></button>
        <p class="pix-hint" id="ltc-hint">Envie apenas pela rede Litecoin. O envio não pode ser devolvido. <a href="${uri}">Abrir na carteira</a></p>
        <p class="pix-note" role="status" data-copy-note></p>
      </div>
      ${qr && html`<details class="pix-fold"><summary>Pagar com outro aparelho: QR code</summary>${qr('qr-small')}</details>`}
      <p class="pix-live">${ICONS.refresh}<span data-live hidden>Esta página se atualiza sozinha.</span><noscript><a href="${path}">Já enviei: atualizar a página</a></noscript></p>
      ${back && html`<a class="cancel" href="${back}" rel="noreferrer">${ICONS.back}Voltar para a loja</a>`}
    </div>`;
}

interface Notice {
  icon: Html;
  tone: Tone;
  title: string;
  body: Html;
}

const NOTICES: Record<Exclude<PageState, 'pending' | 'part'>, (order: Order) => Notice> = {
  waiting: () => ({
    icon: ICONS.clock,
    tone: 'busy',
    title: 'Gerando o endereço',
    body: html`<p>A rede ainda não deu o endereço. Esta página se atualiza sozinha.</p>`,
  }),
  confirming: ({ payment: { ltc } }) => ({
    icon: ICONS.clock,
    tone: 'busy',
    title: 'Aguardando confirmações',
    body: html`
      <p>Recebemos o valor. A rede já confirmou <strong>${ltc.confirmations} de ${ltc.requiredConfirmations ?? 2}</strong> vezes, o que leva alguns minutos.</p>
      <p class="aside">Você pode fechar esta página: a loja é avisada.</p>`,
  }),
  expired: ({ payment }) => ({
    icon: ICONS.clock,
    tone: 'neutral',
    title: 'O tempo para pagar acabou',
    body: html`
      <p>Não envie mais para o endereço deste pagamento.</p>
      <p><strong>Acabou de enviar?</strong> O pagamento ainda é reconhecido, e esta página se atualiza sozinha.</p>
      ${backLink(cancelUrlOf(payment))}`,
  }),
  paid_elsewhere: ({ payment }) => ({
    icon: ICONS.check,
    tone: 'neutral',
    title: 'Esta compra já foi paga',
    body: html`
      <p>Outro pagamento da mesma compra já foi aprovado. Não envie LTC: o envio não pode ser devolvido.</p>
      ${backLink(cancelUrlOf(payment))}`,
  }),
  paid: (order) => {
    const { payment, merchantName, delivered } = order;
    return {
      icon: ICONS.check,
      tone: 'success',
      title: 'Pagamento confirmado',
      body: html`
        <p>${payment.paidLate ? 'O envio chegou depois do prazo e foi aceito.' : 'Tudo certo!'} <span class="name">${merchantName}</span> já pode ver o seu pagamento.</p>
        ${receipt(order, [
          ['Recebido', `${ltcAmount({ litoshi: payment.ltc.receivedLitoshi ?? payment.ltc.litoshi })} LTC`],
          ['Pago em', payment.paidAt && instant(payment.paidAt)],
          ['Pagamento', payment.id],
        ])}
        ${deliveredContent(delivered)}
        ${nextStep(returnUrl(payment.successUrl, { psa_payment_id: payment.id }), { isRead: delivered.length > 0 })}`,
    };
  },
  failed: ({ payment, merchantName }) => ({
    icon: ICONS.cross,
    tone: 'danger',
    title: 'Pagamento não concluído',
    body: html`
      ${
        (payment.ltc.receivedLitoshi ?? 0) > 0
          ? html`<p>Recebemos <strong>${ltcAmount({ litoshi: payment.ltc.receivedLitoshi! })} LTC</strong>, que não pagam esta compra. Fale com <span class="name">${merchantName}</span> e informe o pagamento <code>${payment.id}</code>.</p>`
          : html`<p>Nada foi recebido.</p>`
      }
      ${backLink(cancelUrlOf(payment))}`,
  }),
};

function cancelUrlOf({ cancelUrl, id }: HostedLtc): string | null {
  return returnUrl(cancelUrl, { psa_payment_id: id });
}
