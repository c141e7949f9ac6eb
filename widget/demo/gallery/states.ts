import type { PsaCheckout } from '../../src/psa-checkout.ts';
import type { Script } from './fake-server.ts';

export interface GalleryState {
  name: string;
  title: string;
  script?: Script;
  /** The way to the state: a click, or finding the payment again. Without one the element stays at its button. */
  via?: 'click' | 'return';
  /** Further properties that the page sets. */
  properties?: Partial<PsaCheckout>;
}

const PAID_AT = '2026-03-14T17:42:00.000Z';
const DESCRIPTION = 'Rede de algodão Mantiqueira';

const refusal = (code: string, __typename = 'UserError', retryAfterSeconds?: number): Script => ({
  start: { __typename, code, ...(retryAfterSeconds ? { retryAfterSeconds } : {}) },
});

/** All states that a payer can see, in the order of a payment's life. */
export const STATES: readonly GalleryState[] = [
  { name: 'button', title: 'O botão' },
  { name: 'disabled', title: 'Desligado', properties: { disabled: true } },
  { name: 'creating', title: 'Preparando', via: 'click', script: { start: 'hang' } },
  { name: 'looking-up', title: 'Procurando o pagamento', via: 'return', script: { stream: 'hang' } },
  { name: 'pending', title: 'À espera', via: 'return', script: { payment: { description: DESCRIPTION } } },
  {
    name: 'last-minute',
    title: 'No último minuto',
    via: 'return',
    script: { payment: { expiresInSeconds: 45 } },
  },
  {
    name: 'checking',
    title: 'No fim do prazo',
    via: 'return',
    script: { payment: { expiresInSeconds: 0 } },
  },
  { name: 'blocked', title: 'Janela bloqueada', via: 'click', properties: { mode: 'popup' } },
  { name: 'cancelled', title: 'De volta sem pagar', via: 'return' },
  { name: 'offline', title: 'Sem conexão', via: 'return', script: { stream: 'silent' } },
  { name: 'reconnecting', title: 'Reconectando', via: 'return', script: { stream: 'drop' } },
  {
    name: 'paid',
    title: 'Pago: o recibo',
    via: 'return',
    script: { payment: { status: 'PAID', paidAt: PAID_AT, description: DESCRIPTION } },
  },
  {
    name: 'paid-late',
    title: 'Pago depois do prazo',
    via: 'return',
    script: { payment: { status: 'PAID', paidAt: PAID_AT, paidLate: true } },
  },
  {
    name: 'expired',
    title: 'Prazo terminado',
    via: 'return',
    script: { payment: { status: 'EXPIRED' } },
  },
  { name: 'failed', title: 'Não aprovado', via: 'return', script: { payment: { status: 'FAILED' } } },
  {
    name: 'refunded',
    title: 'Estornado',
    via: 'return',
    script: { payment: { status: 'REFUNDED', paidAt: PAID_AT, refundedAt: '2026-03-15T10:05:00.000Z' } },
  },
  { name: 'network-error', title: 'Erro: rede', via: 'click', script: { start: 'network-error' } },
  { name: 'server-error', title: 'Erro: servidor', via: 'click', script: refusal('UPSTREAM_UNAVAILABLE') },
  {
    name: 'rate-limited',
    title: 'Erro: tentativas demais',
    via: 'click',
    script: refusal('RATE_LIMITED', 'RateLimitError', 30),
  },
  { name: 'conflict', title: 'Erro: outro pagamento', via: 'click', script: refusal('CHECKOUT_TOKEN_USED') },
  { name: 'unauthorized', title: 'Erro: sem acesso', via: 'click', script: refusal('PERMISSION_DENIED') },
  {
    name: 'unsafe-url',
    title: 'Erro: endereço inseguro',
    via: 'click',
    script: { payment: { checkoutUrl: 'http://pagamento.example/' } },
  },
  { name: 'not-configured', title: 'Erro: só a loja resolve', via: 'click', script: refusal('NOT_FOUND') },
];
