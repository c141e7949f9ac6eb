import { dayOfYear, instant, money } from '../../checkout-page/format.ts';
import { type Html, html } from '../../checkout-page/html.ts';
import { ICONS } from '../../checkout-page/icons.ts';
import { backLink, nextStep, receipt } from '../../checkout-page/layout.ts';
import type { HostedPix } from '../model.ts';
import { cancelUrlOf, type Order, successUrlOf } from './order.ts';
import type { PageState } from './state.ts';
import type { Status } from './status.ts';

// The page of a code that authorises debits: what the payer agrees to, and how it stands.

type Recurrence = NonNullable<HostedPix['recurrence']>;

const EVERY: Record<Recurrence['interval'], string> = {
  weekly: 'por semana',
  monthly: 'por mês',
  quarterly: 'a cada 3 meses',
  semiannual: 'a cada 6 meses',
  yearly: 'por ano',
};

/** The terms that the payer authorises, above the code. */
export function recurrenceNote({ payment, merchantName }: Order): Html {
  const { interval, endsAfterCycles } = payment.recurrence!;
  const until =
    endsAfterCycles === null
      ? 'até você ou a loja cancelar'
      : endsAfterCycles === 1
        ? 'uma única vez'
        : `por ${endsAfterCycles} vezes, esta incluída`;
  return html`<p class="pix-hint"><strong>${money(payment.amountCents)} ${EVERY[interval]}</strong>, ${until}. Ao pagar este código você autoriza <span class="name">${merchantName}</span> a cobrar as próximas parcelas pelo Pix Automático. Você pode cancelar no app do seu banco.</p>`;
}

/** The states of a recurrence whose words are not those of a payment. */
export const RECURRENCE_STATUS: Partial<Record<PageState, Status>> = {
  expired: ({ payment }, returned) => ({
    icon: ICONS.clock,
    tone: 'neutral',
    title: 'O tempo para autorizar acabou',
    body: html`
      <p>O código PIX expirou em ${instant(payment.expiresAt)}. Não pague com ele: o dinheiro seria devolvido.</p>
      ${returned}
      <p class="aside">Para assinar, volte à loja e comece de novo.</p>
      ${backLink(cancelUrlOf(payment))}`,
  }),
  paid: (order, returned) => {
    const { payment, merchantName } = order;
    const { interval, nextDueAt, isOver } = payment.recurrence!;
    return {
      icon: ICONS.check,
      tone: isOver ? 'neutral' : 'success',
      title: isOver ? 'Assinatura encerrada' : 'Assinatura autorizada',
      body: html`
        <p>${isOver ? 'Nenhuma outra parcela será cobrada.' : 'A primeira parcela está paga. As próximas são cobradas pelo seu banco, sem você fazer nada.'} <span class="name">${merchantName}</span> já pode ver a sua assinatura.</p>
        ${returned}
        ${receipt(order, [
          ['Cobrança', EVERY[interval]],
          ['Autorizada em', payment.paidAt && instant(payment.paidAt)],
          ['Próxima cobrança', nextDueAt && dayOfYear(nextDueAt)],
          ['Assinatura', payment.id],
        ])}
        ${nextStep(successUrlOf(payment))}`,
    };
  },
  failed: ({ payment }, returned) => ({
    icon: ICONS.cross,
    tone: 'neutral',
    title: 'Assinatura cancelada',
    body: html`
      <p>Ela foi cancelada antes da autorização. Nada foi cobrado.</p>
      ${returned}
      <p class="aside">Para assinar, volte à loja e comece de novo.</p>
      ${backLink(cancelUrlOf(payment))}`,
  }),
};
