// The rows of the dashboard's tables.
import { html, nothing, type TemplateResult } from 'lit';
import { CONTENT_LABELS, STOCK_LABELS } from '../shared/content.ts';
import { formatBrl, formatConfirmations, formatFull, formatLtc, formatRelative } from '../shared/format.ts';
import { returnTexts } from '../shared/pix.ts';
import { INTERVALS } from '../shared/subscription.ts';
import { codeCell, type OpenPayment, saleCell, statusCell, timeCell } from './cells.ts';
import { takesEvidence } from './dispute-dialog.ts';
import type { Disputed } from './disputed.ts';
import {
  AVAILABLE,
  CANCELED_LABEL,
  CYCLE_LABELS,
  DELIVERY_LABELS,
  DISPUTE_LABELS,
  DISPUTE_REASONS,
  PAYMENT_LABELS,
  SUBACCOUNT_PAYOUT_LABELS,
  SUBSCRIPTION_LABELS,
  UNAVAILABLE,
} from './labels.ts';
import type { TableRow } from './live-table.ts';
import type {
  CardPayment,
  Charge,
  Dispute,
  PaidByPix,
  PixPayment,
  ProductContent,
  StoreProduct,
  SubaccountPayout,
  Subscription,
  WebhookDelivery,
} from './operations.ts';
import type { Operable } from './payment-dialog.ts';
import { attemptText, failureText } from './reasons.ts';

export function cardPaymentRow(
  payment: CardPayment,
  {
    now,
    failedRefund,
    disputed,
    open,
  }: { now: Date; failedRefund: string | null; disputed: Disputed; open: OpenPayment },
): TableRow {
  const { orderCode, status, version, amountCents, description, refundedCents, refundableCents } = payment;
  const operable = {
    method: 'card',
    id: orderCode,
    status,
    amountCents,
    description,
    payer: payment.customer?.name ?? null,
    refundableCents,
  } as const;
  return {
    key: orderCode,
    version: `${version} ${refundedCents} ${refundableCents} ${failedRefund} ${disputed.openCents} ${disputed.lostCents}`,
    cells: [
      statusCell(
        payment.canceledAt && status === 'EXPIRED' ? CANCELED_LABEL : PAYMENT_LABELS[status],
        failureText(payment.failureReason) ??
          refundSummary(payment, disputed, failedRefund && `estorno recusado: ${failedRefund}`),
      ),
      html`${formatBrl(amountCents)}`,
      saleCell(description, payment.customer?.name ?? ''),
      codeCell(operable, open),
      timeCell(payment.createdAt, now),
    ],
  };
}

export function pixPaymentRow(
  payment: PixPayment,
  options: { now: Date; disputed: Disputed; open: OpenPayment },
): TableRow {
  const { paymentId, method, ltc, customer, status } = payment;
  const name = customer?.name ?? customer?.email ?? null;
  const byLtc = ltc && [
    formatLtc(ltc.amountLtc),
    status === 'PENDING' && ltc.confirmations > 0 ? formatConfirmations(ltc.confirmations) : '',
  ];
  const detail = [method === 'LTC' ? (byLtc ?? ['LTC']) : ['PIX'], name].flat().filter(Boolean).join(', ');
  return rowOfPix(payment, {
    ...{ ...options, method: 'pix', id: paymentId, detail, payer: name },
    // LTC is never given back: nothing of it can be refunded, and nothing is on its way.
    isRefundable: method !== 'LTC',
  });
}

export function chargeRow(
  charge: Charge,
  options: { now: Date; disputed: Disputed; open: OpenPayment; nameOf: (subaccountId: string) => string },
): TableRow {
  const { chargeId, splits } = charge;
  const parts = splits.map(
    ({ subaccountId, amountCents, refundedCents }) =>
      `${options.nameOf(subaccountId)}: ${formatBrl(amountCents)}${refundedCents > 0 ? `, ${formatBrl(refundedCents)} estornados` : ''}`,
  );
  return rowOfPix(charge, {
    ...{ ...options, method: 'charge', id: chargeId, detail: parts.join(' · '), payer: null },
    isRefundable: true,
  });
}

function rowOfPix(
  payment: PaidByPix,
  {
    method,
    id,
    detail,
    payer,
    isRefundable,
    now,
    disputed,
    open,
  }: {
    method: 'pix' | 'charge';
    id: string;
    detail: string;
    payer: string | null;
    isRefundable: boolean;
    disputed: Disputed;
    now: Date;
    open: OpenPayment;
  },
): TableRow {
  const { status, version, amountCents, description, refundableCents } = payment;
  const operable = { method, id, status, amountCents, description, payer, refundableCents };
  const lastRefund = payment.refunds?.at(-1);
  const failedRefund =
    lastRefund?.status === 'FAILED'
      ? `estorno de ${formatBrl(lastRefund.amountCents)} recusado: ${lastRefund.failureReason ?? 'sem motivo'}`
      : null;
  return {
    key: id,
    version,
    cells: [
      statusCell(
        PAYMENT_LABELS[status],
        payment.paidLate ? 'depois do prazo' : null,
        failureText(payment.failureReason) ??
          (isRefundable ? refundSummary(payment, disputed, failedRefund) : null),
        ...returnTexts(payment.returnedCredits),
      ),
      html`${formatBrl(amountCents)}`,
      saleCell(description, detail),
      codeCell(operable, open),
      timeCell(payment.createdAt, now),
    ],
  };
}

export function subscriptionRow(
  subscription: Subscription,
  { now, open }: { now: Date; open: OpenPayment },
): TableRow {
  const { subscriptionId, status, version, amountCents, description, customer, cycles } = subscription;
  const payer = customer?.name ?? customer?.email ?? null;
  const operable: Operable = {
    method: 'subscription',
    id: subscriptionId,
    status: subscription.isFinal ? 'EXPIRED' : 'PENDING',
    ...{ amountCents, description, payer, refundableCents: null },
  };
  const shown = cycles.nodes.map(
    ({ number, status: cycle, attempts }) =>
      `ciclo ${number}: ${CYCLE_LABELS[cycle] ?? cycle}${attempts > 1 ? `, ${attempts} tentativas` : ''}`,
  );
  return {
    key: subscriptionId,
    version,
    cells: [
      statusCell(
        SUBSCRIPTION_LABELS[status],
        subscription.nextDueAt ? nextDue(subscription.nextDueAt) : null,
        ...shown,
      ),
      html`${formatBrl(amountCents)} ${INTERVALS[subscription.interval.toLowerCase()] ?? ''}`,
      saleCell(description, payer ?? ''),
      codeCell(operable, open),
      timeCell(subscription.createdAt, now),
    ],
  };
}

function nextDue(nextDueAt: string): string {
  const day = new Date(nextDueAt).toLocaleDateString('pt-BR', { timeZone: 'America/Sao_Paulo' });
  return `vence em ${day}`;
}

export function subaccountPayoutRow(
  payout: SubaccountPayout,
  { now, name }: { now: Date; name: string },
): TableRow {
  return {
    key: payout.id,
    version: payout.version,
    cells: [
      statusCell(
        SUBACCOUNT_PAYOUT_LABELS[payout.status],
        payout.reversed ? 'valor devolvido' : payout.failureReason,
      ),
      html`${formatBrl(payout.amountCents)}`,
      saleCell(name, payout.recipientName ?? payout.pixKey ?? ''),
      timeCell(payout.createdAt, now),
    ],
  };
}

export function disputeRow(
  dispute: Dispute,
  { now, open }: { now: Date; open: ((dispute: Dispute) => void) | null },
): TableRow {
  const { disputeId, status, amountCents, blockedCents, reason, evidence } = dispute;
  const takes = takesEvidence(dispute, now);
  const label = takes ? 'Enviar defesa' : 'Ver provas';
  const { of } = dispute;
  const sold = of ? of.description : 'Pagamento não informado';
  const payer = of && 'customer' in of ? of.customer?.name : null;
  return {
    key: disputeId,
    version: dispute.version,
    cells: [
      statusCell(DISPUTE_LABELS[status], status === 'LOST' && blockedCents > 0 ? 'valor ainda retido' : null),
      html`${formatBrl(amountCents)}`,
      saleCell(sold, DISPUTE_REASONS[reason]),
      html`<code>${disputeId}</code>
        ${
          open && (takes || evidence.length > 0)
            ? html`<button
                type="button"
                class="secondary operation"
                aria-label=${`${label}: disputa de ${[formatBrl(amountCents), payer, sold].filter(Boolean).join(', ')}`}
                @click=${() => open(dispute)}
              >
                ${label}
              </button>`
            : nothing
        }`,
      deadlineCell(dispute, now),
    ],
  };
}

/** The days that are left for evidence, or when the dispute was decided. */
function deadlineCell({ status, evidence, evidenceDueAt, closedAt }: Dispute, now: Date): TemplateResult {
  if (status === 'WON' || status === 'LOST' || status === 'FORGIVEN') return timeCell(closedAt, now);
  if (evidenceDueAt === null) return html`—`;
  const due = new Date(evidenceDueAt);
  const sent =
    evidence.length === 0 ? 'nenhuma prova' : evidence.length === 1 ? '1 prova' : `${evidence.length} provas`;
  return html`<time datetime=${evidenceDueAt} title=${formatFull(due)}>
    <span>${daysLeft(due, now)}</span><small>${sent}</small>
  </time>`;
}

/** Formats the time that is left: in days, and on the last day in hours. */
function daysLeft(due: Date, now: Date): string {
  const hours = Math.ceil((due.getTime() - now.getTime()) / 3_600_000);
  if (hours <= 0) return 'prazo encerrado';
  if (hours <= 24) return hours === 1 ? 'falta 1 hora' : `faltam ${hours} horas`;
  const days = Math.ceil(hours / 24);
  return `faltam ${days} dias`;
}

export function deliveryRow(delivery: WebhookDelivery, now: Date): TableRow {
  const last = delivery.attempts.at(-1);
  const next = delivery.nextAttemptAt;
  return {
    key: delivery.webhookId,
    version: `${delivery.status} ${delivery.attempts.length}`,
    cells: [
      statusCell(
        DELIVERY_LABELS[delivery.status],
        delivery.status === 'PENDING' && next
          ? `${last ? 'de novo ' : ''}${formatRelative(new Date(next), now)}`
          : null,
      ),
      html`<span class="strong">${delivery.event}</span>
        <small class="target-url" title=${delivery.url}>${delivery.url}</small>`,
      html`${delivery.attempts.length}<span class="narrow-only"> ${delivery.attempts.length === 1 ? 'tentativa' : 'tentativas'}</span>
        <small>${last ? attemptText(last) : 'nenhuma ainda'}</small>`,
      timeCell(delivery.createdAt, now),
    ],
  };
}

export function contentRow(content: ProductContent, now: Date): TableRow {
  const { deliveryId, kind, product, productId, deliveredCount, remainingCount, stock } = content;
  return {
    key: deliveryId,
    version: `${deliveredCount} ${remainingCount}`,
    cells: [
      statusCell(STOCK_LABELS[stock]),
      saleCell(product?.name ?? 'Produto excluído', CONTENT_LABELS[kind]),
      html`${deliveredCount ?? '—'}<span class="narrow-only"> ${deliveredCount === 1 ? 'entrega' : 'entregas'}</span>
        <small>${
          remainingCount === null
            ? (productId ?? '')
            : `${remainingCount} ${remainingCount === 1 ? 'código' : 'códigos'} em estoque`
        }</small>`,
      timeCell(content.createdAt, now),
    ],
  };
}

export function storeProductRow({
  storeProductId,
  name,
  price,
  priceCents,
  available,
}: StoreProduct): TableRow {
  return {
    key: storeProductId,
    version: `${name} ${price} ${available}`,
    cells: [
      statusCell(available === false ? UNAVAILABLE : AVAILABLE),
      saleCell(name ?? 'Sem nome', storeProductId),
      html`${priceCents === null ? (price ?? '—') : formatBrl(priceCents)}`,
    ],
  };
}

/** Says how much of a paid payment was given back or is on its way, and why its last refund failed; null: nothing. */
function refundSummary(
  {
    status,
    amountCents,
    refundedCents,
    refundableCents,
    refunds,
  }: Pick<CardPayment, 'status' | 'amountCents' | 'refundedCents' | 'refundableCents' | 'refunds'>,
  disputed: Disputed,
  failedRefund: string | null,
): string | null {
  if (status !== 'PAID' || refundedCents === null || refundableCents === null) return null;
  const { openCents, lostCents, areAllKnown } = disputed;
  // What cannot be refunded is on its way, or in a dispute that may not be loaded.
  const rest = areAllKnown ? amountCents - refundedCents - refundableCents - openCents - lostCents : 0;
  const onTheWay =
    refunds
      ?.filter(({ status }) => status === 'PROCESSING')
      .reduce((sum, refund) => sum + refund.amountCents, 0) ?? rest;
  const parts = [
    refundedCents > 0 ? `${formatBrl(refundedCents)} estornados` : '',
    onTheWay > 0 ? `${formatBrl(onTheWay)} a caminho de volta` : '',
    openCents > 0 ? `${formatBrl(openCents)} em disputa` : '',
    lostCents > 0 ? `${formatBrl(lostCents)} perdidos em disputa` : '',
    failedRefund ?? '',
  ].filter(Boolean);
  return parts.length > 0 ? parts.join(', ') : null;
}
