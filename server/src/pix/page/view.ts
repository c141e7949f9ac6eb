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
  type Site,
  summary,
} from '../../checkout-page/layout.ts';
import type { HostedPix, ReturnedCredit } from '../model.ts';
import { pixCode } from './code.ts';
import { cancelUrlOf, type Order, successUrlOf } from './order.ts';
import { RECURRENCE_STATUS } from './recurrence.ts';
import type { PageState } from './state.ts';
import type { Status } from './status.ts';

/** The page of a payment in its state. */
export function paymentPage(site: Site, order: Order, state: PageState): string {
  const { payment, path } = order;
  const returned = returnedNote(payment.returnedCredits);
  const followed = {
    state,
    version: payment.version,
    followUrl: FOLLOWED.has(state) ? followPath(path) : undefined,
    reloads: state === 'waiting',
  };
  if (state === 'pending')
    return page(site, {
      ...followed,
      title: payment.recurrence
        ? `Autorizar ${money(payment.amountCents)} com PIX`
        : `Pagar ${money(payment.amountCents)} com PIX`,
      summary: summary(site, order, { withCountdown: true }),
      main: pixCode(site, order, payment.brCode!, returned),
      aside: html`<aside class="promise" aria-label="Segurança">${ICONS.shield}<p>O pagamento é feito no app do seu banco. Esta página não pede senha nem dados da conta.</p></aside>`,
    });
  const describe = (payment.recurrence && RECURRENCE_STATUS[state]) || STATUS[state];
  const { icon, tone, title, body } = describe(order, returned);
  return page(site, {
    ...followed,
    title,
    summary: summary(site, order, { withCountdown: false }),
    main: notice({ icon, tone, title, body }),
  });
}

/** The states that can change while the payer looks: a late PIX is recognised after the expiry too. */
const FOLLOWED: ReadonlySet<PageState> = new Set(['waiting', 'pending', 'expired']);

const STATUS: Record<Exclude<PageState, 'pending'>, Status> = {
  waiting: ({ path }) => ({
    icon: ICONS.clock,
    tone: 'busy',
    title: 'Gerando o código PIX',
    body: html`
      <p>O banco ainda não enviou o código. Esta página se atualiza sozinha.</p>
      <noscript><p class="actions"><a class="button button-quiet" href="${path}">Atualizar agora</a></p></noscript>`,
  }),
  expired: ({ payment, path }, returned) => ({
    icon: ICONS.clock,
    tone: 'neutral',
    title: 'O tempo para pagar acabou',
    body: html`
      <p>O código PIX expirou em ${instant(payment.expiresAt)}. Não pague com ele.</p>
      <p><strong>Acabou de pagar?</strong> O pagamento ainda é reconhecido, e esta página se atualiza sozinha.</p>
      ${returned}
      <p class="aside">Para tentar de novo, volte à loja e comece outro pagamento.</p>
      <noscript><p class="actions"><a class="button button-quiet" href="${path}">Atualizar agora</a></p></noscript>
      ${backLink(cancelUrlOf(payment))}`,
  }),
  paid_elsewhere: ({ payment }, returned) => ({
    icon: ICONS.check,
    tone: 'neutral',
    title: 'Esta compra já foi paga',
    body: html`
      <p>Outro pagamento da mesma compra já foi aprovado, talvez em outra janela. Não pague de novo: o dinheiro seria devolvido.</p>
      ${returned}
      ${backLink(cancelUrlOf(payment))}`,
  }),
  paid: (order, returned) => {
    const { payment, merchantName, delivered } = order;
    return {
      icon: ICONS.check,
      tone: 'success',
      title: 'Pagamento confirmado',
      body: html`
        <p>${payment.paidLate ? 'O PIX chegou depois do prazo e foi aceito.' : 'Tudo certo!'} <span class="name">${merchantName}</span> já pode ver o seu pagamento.</p>
        ${returned}
        ${receipt(order, [
          ['Pago em', payment.paidAt && instant(payment.paidAt)],
          ['Devolvido', payment.refundedCents > 0 ? money(payment.refundedCents) : null],
          ['Pagamento', payment.id],
        ])}
        ${deliveredContent(delivered)}
        ${nextStep(successUrlOf(payment), { isRead: delivered.length > 0 })}`,
    };
  },
  refunded: (order, returned) => ({
    icon: ICONS.refund,
    tone: 'neutral',
    title: 'Pagamento devolvido',
    body: html`
      <p>O valor voltou para a conta de onde saiu o PIX.</p>
      ${returned}
      ${receipt(order, [
        ['Pago em', order.payment.paidAt && instant(order.payment.paidAt)],
        ['Devolvido em', order.payment.refundedAt && instant(order.payment.refundedAt)],
        ['Pagamento', order.payment.id],
      ])}
      ${backLink(cancelUrlOf(order.payment))}`,
  }),
  failed: ({ payment }, returned) => ({
    icon: ICONS.cross,
    tone: 'danger',
    title: 'Pagamento não concluído',
    body: html`
      <p>O banco não gerou o código PIX. Nada foi cobrado.</p>
      ${returned}
      <p class="aside">Para tentar de novo, volte à loja e comece outro pagamento.</p>
      ${backLink(cancelUrlOf(payment))}`,
  }),
};

// ── Money that was sent back ────────────────────────────────────────────────────────────────────

const REASONS: Record<ReturnedCredit['cause'], string> = {
  already_paid: 'o pagamento já tinha sido feito',
  amount_mismatch: 'o valor é diferente do pedido',
  not_payable: 'este pagamento não pode mais ser feito',
  paid_elsewhere: 'a compra já tinha sido paga de outra forma',
  unknown: 'não foi possível aceitar',
};

/** The number of returned credits that the page lists, the newest first. */
const LISTED = 3;

function returnedNote(credits: HostedPix['returnedCredits']): Html | null {
  if (credits.length === 0) return null;
  const more = credits.length - LISTED;
  return html`
    <div class="returned">${ICONS.refund}<ul>
      ${[...credits]
        .reverse()
        .slice(0, LISTED)
        .map(
          ({ amountCents, cause, returnedAt }) =>
            html`<li>Recebemos <strong>${money(amountCents)}</strong> e ${returnedAt ? 'devolvemos' : 'estamos devolvendo'}: ${REASONS[cause]}.</li>`,
        )}
      ${more > 0 && html`<li>${more === 1 ? 'Outra devolução foi feita' : `Outras ${more} devoluções foram feitas`} antes.</li>`}
    </ul></div>`;
}
