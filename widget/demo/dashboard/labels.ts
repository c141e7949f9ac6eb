// The words of the dashboard for statuses, kinds and parts.
import type { ConnectionState } from './dashboard-data.ts';
import type { CardPayment, Dispute, SubaccountPayout, Subscription, WebhookDelivery } from './operations.ts';
import type { Part } from './parts.ts';

export type Tone = 'waiting' | 'good' | 'bad' | 'neutral' | 'warning';
export type StatusLabels<Status extends string> = Record<Status, { label: string; tone: Tone }>;

export const SUBACCOUNT_PAYOUT_LABELS: StatusLabels<SubaccountPayout['status']> = {
  PROCESSING: { label: 'Em processamento', tone: 'warning' },
  COMPLETED: { label: 'Concluído', tone: 'good' },
  FAILED: { label: 'Falhou', tone: 'bad' },
  UNKNOWN: { label: 'Desconhecido', tone: 'neutral' },
};
/** The labels of a payment by card or PIX. */
export const PAYMENT_LABELS: StatusLabels<CardPayment['status']> = {
  PENDING: { label: 'Aguardando', tone: 'waiting' },
  PAID: { label: 'Pago', tone: 'good' },
  EXPIRED: { label: 'Expirado', tone: 'neutral' },
  REFUNDED: { label: 'Estornado', tone: 'warning' },
  FAILED: { label: 'Recusado', tone: 'bad' },
  UNKNOWN: { label: 'Desconhecido', tone: 'neutral' },
};
export const CANCELED_LABEL = { label: 'Cancelado', tone: 'neutral' } as const;
export const OPERATION_LABELS = { refund: 'Estornar', cancel: 'Cancelar' } as const;
export const DISPUTE_LABELS: StatusLabels<Dispute['status']> = {
  OPEN: { label: 'Aberta', tone: 'warning' },
  UNDER_REVIEW: { label: 'Em análise', tone: 'waiting' },
  WON: { label: 'Ganha', tone: 'good' },
  LOST: { label: 'Perdida', tone: 'bad' },
  FORGIVEN: { label: 'Perdoada', tone: 'neutral' },
  UNKNOWN: { label: 'Desconhecido', tone: 'neutral' },
};
export const DISPUTE_REASONS: Record<Dispute['reason'], string> = {
  FRAUD: 'Fraude',
  OPERATIONAL_ERROR: 'Erro operacional',
  UNKNOWN: 'Sem motivo conhecido',
};
export const DELIVERY_LABELS: StatusLabels<WebhookDelivery['status']> = {
  PENDING: { label: 'Tentando', tone: 'waiting' },
  DELIVERED: { label: 'Entregue', tone: 'good' },
  EXHAUSTED: { label: 'Sem sucesso', tone: 'bad' },
  HELD: { label: 'Em espera', tone: 'bad' },
  CANCELED: CANCELED_LABEL,
};

export const AVAILABLE = { label: 'À venda', tone: 'good' } as const;
export const UNAVAILABLE = { label: 'Indisponível', tone: 'neutral' } as const;

/** The labels of a subscription. */
export const SUBSCRIPTION_LABELS: StatusLabels<Subscription['status']> = {
  PENDING: { label: 'Aguardando', tone: 'waiting' },
  ACTIVE: { label: 'Ativa', tone: 'good' },
  PAST_DUE: { label: 'Em atraso', tone: 'warning' },
  CANCELED: { label: 'Cancelada', tone: 'neutral' },
  COMPLETED: { label: 'Concluída', tone: 'good' },
  EXPIRED: { label: 'Expirada', tone: 'neutral' },
  UNKNOWN: { label: 'Desconhecido', tone: 'neutral' },
};
export const CYCLE_LABELS: Record<string, string> = {
  SCHEDULED: 'agendado',
  RETRYING: 'nova tentativa',
  PAID: 'pago',
  FAILED: 'não pago',
  CANCELED: 'cancelado',
};

export const CONNECTION_LABELS: Record<ConnectionState, string> = {
  connecting: 'Conectando…',
  live: 'Ao vivo',
  reconnecting: 'Reconectando…',
  offline: 'Sem rede',
};
export const PART_LABELS: Record<Part, string> = {
  wallet: 'a carteira',
  cardPayments: 'os pagamentos no cartão',
  subaccounts: 'os saques de subcontas',
  webhookDeliveries: 'os webhooks',
  payments: 'os pagamentos por PIX',
  charges: 'as cobranças',
  disputes: 'as disputas',
  refunds: 'os estornos',
  subscriptions: 'as assinaturas',
  deliveries: 'as entregas de produtos',
  storeProducts: 'os produtos da loja',
};

/** The choices of a table's filter. UNKNOWN, the status of a newer server, is none of them. */
export function filterOptions(labels: StatusLabels<string>): { status: string; label: string }[] {
  return Object.entries(labels)
    .filter(([status]) => status !== 'UNKNOWN')
    .map(([status, { label }]) => ({ status, label }));
}
