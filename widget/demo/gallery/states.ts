import type { Payment, PsaCheckout } from '../../src/psa-checkout.ts';
import type { Refusal, Script } from './fake-server.ts';

export interface GalleryState {
  name: string;
  title: string;
  script?: Script;
  /**
   * The way to the state: a click, finding the payment again, or an address that names a payment while this
   * browser has stored nothing of it. Without one the element stays at its button.
   */
  via?: 'click' | 'return' | 'address';
  /** A phone, one after the other: the element asks for its device once. */
  isPhone?: boolean;
  /** The payer has pressed the button that copies the code; `denied` where there is no clipboard. */
  copies?: 'granted' | 'denied';
  /** Further properties that the page sets. */
  properties?: Partial<PsaCheckout>;
}

const PAID_AT = '2026-03-14T17:42:00.000Z';
const DESCRIPTION = 'Rede de algodão Mantiqueira';

const DELIVERED: NonNullable<Script['delivered']> = [
  { kind: 'CODES', status: 'DELIVERED', content: 'MANTIQUEIRA-7F3K-Q2ZD' },
  {
    kind: 'TEXT',
    status: 'DELIVERED',
    content: 'Acesso: loja.example\nUsuário: ana\nSenha: enviada por e-mail',
  },
  { kind: 'LINK', status: 'DELIVERED', content: 'https://loja.example/manual/rede-de-algodao.pdf' },
  { kind: 'CODES', status: 'PENDING', content: null },
];

const refusal = (code: string, more: Partial<Refusal> = {}): Script => ({
  start: { __typename: 'UserError', code, ...more },
});

const BOTH = { methods: 'pix card' };

/** A state of a payment by PIX that was found again. */
const pix = (name: string, title: string, payment: Partial<Payment>): GalleryState => ({
  name: `pix-${name}`,
  title,
  via: 'return',
  script: { pix: payment },
  properties: BOTH,
});

/** All states that a payer can see, in the order of a payment's life. */
export const STATES: readonly GalleryState[] = [
  { name: 'button', title: 'O botão' },
  { name: 'methods', title: 'Dois métodos', properties: BOTH },
  { name: 'card-first', title: 'O cartão primeiro', properties: { methods: 'card pix' } },
  { name: 'disabled', title: 'Desligado', properties: { disabled: true } },
  { name: 'creating', title: 'Preparando', via: 'click', script: { start: 'hang' } },
  {
    name: 'pix-creating',
    title: 'Preparando o PIX',
    via: 'click',
    script: { start: 'hang', pix: {} },
    properties: BOTH,
  },
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
  { name: 'stale', title: 'Sem notícia do serviço', via: 'return', script: { staleSeconds: 120 } },
  pix('pending', 'PIX: à espera', { description: DESCRIPTION }),
  { ...pix('phone', 'PIX: no celular', { expiresInSeconds: 240 }), isPhone: true },
  { ...pix('copied', 'PIX: código copiado', { expiresInSeconds: 240 }), copies: 'granted' },
  { ...pix('selected', 'PIX: sem área de transferência', { expiresInSeconds: 45 }), copies: 'denied' },
  pix('preparing', 'PIX: o banco gera o código', { pix: null }),
  pix('checking', 'PIX: no fim do prazo', { expiresInSeconds: 0 }),
  pix('returned', 'PIX: outro valor', {
    returnedCredits: [
      { amountCents: 18_000, returnedAt: PAID_AT },
      { amountCents: 18_901, returnedAt: null },
    ],
  }),
  {
    name: 'paid',
    title: 'Pago: o recibo',
    via: 'return',
    script: { payment: { status: 'PAID', paidAt: PAID_AT, description: DESCRIPTION } },
  },
  {
    name: 'delivered',
    title: 'Pago: o conteúdo',
    via: 'return',
    script: { payment: { status: 'PAID', paidAt: PAID_AT }, delivered: DELIVERED },
    copies: 'granted',
  },
  {
    name: 'pix-delivered',
    title: 'PIX: o conteúdo, sem área de transferência',
    via: 'return',
    script: { pix: { status: 'PAID', paidAt: PAID_AT, pix: null }, delivered: DELIVERED.slice(1, 2) },
    properties: BOTH,
    copies: 'denied',
  },
  { name: 'shop-confirms', title: 'De volta em outro navegador', via: 'address' },
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
  {
    name: 'canceled',
    title: 'Cancelado pela loja',
    via: 'return',
    script: { payment: { status: 'EXPIRED', canceledAt: PAID_AT } },
  },
  pix('paid', 'PIX: pago, e outra vez', {
    status: 'PAID',
    paidAt: PAID_AT,
    pix: null,
    returnedCredits: [{ amountCents: 18_900, returnedAt: PAID_AT }],
  }),
  pix('expired', 'PIX: prazo terminado', { status: 'EXPIRED', pix: null }),
  pix('failed', 'PIX: sem código', { status: 'FAILED', pix: null }),
  pix('refunded', 'PIX: estornado', {
    status: 'REFUNDED',
    paidAt: PAID_AT,
    refundedAt: '2026-03-15T10:05:00.000Z',
    pix: null,
  }),
  { name: 'failed', title: 'Não aprovado', via: 'return', script: { payment: { status: 'FAILED' } } },
  {
    name: 'refunded',
    title: 'Estornado',
    via: 'return',
    script: { payment: { status: 'REFUNDED', paidAt: PAID_AT, refundedAt: '2026-03-15T10:05:00.000Z' } },
  },
  {
    name: 'order-paid',
    title: 'Pago em outro aparelho',
    via: 'return',
    script: { payment: { orderPaid: true, description: DESCRIPTION } },
  },
  {
    name: 'order-refunded',
    title: 'Pago em outro aparelho, e estornado',
    via: 'return',
    script: { payment: { orderPaid: true, orderRefunded: true } },
  },
  {
    name: 'paid-twice',
    title: 'Pago outra vez, e devolvido',
    via: 'return',
    script: { payment: { status: 'FAILED', orderPaid: true, returned: true } },
  },
  pix('paid-twice', 'PIX: pago outra vez, e devolvido', {
    status: 'FAILED',
    orderPaid: true,
    returned: true,
    pix: null,
    returnedCredits: [{ amountCents: 18_900, returnedAt: PAID_AT }],
  }),
  {
    name: 'given-back',
    title: 'Pago depois de cancelado, e devolvido',
    via: 'return',
    script: { payment: { status: 'FAILED', returned: true } },
  },
  { name: 'network-error', title: 'Erro: rede', via: 'click', script: { start: 'network-error' } },
  { name: 'server-error', title: 'Erro: servidor', via: 'click', script: refusal('UPSTREAM_UNAVAILABLE') },
  {
    name: 'rate-limited',
    title: 'Erro: tentativas demais',
    via: 'click',
    script: refusal('RATE_LIMITED', { __typename: 'RateLimitError', retryAfterSeconds: 30 }),
  },
  { name: 'conflict', title: 'Erro: outro pagamento', via: 'click', script: refusal('CHECKOUT_TOKEN_USED') },
  {
    name: 'ended',
    title: 'Erro: página aberta por tempo demais',
    via: 'click',
    script: refusal('UNAUTHENTICATED', { message: 'The token has expired' }),
  },
  { name: 'unauthorized', title: 'Erro: sem acesso', via: 'click', script: refusal('FORBIDDEN') },
  {
    name: 'unsafe-url',
    title: 'Erro: endereço inseguro',
    via: 'click',
    script: { payment: { checkoutUrl: 'http://pagamento.example/' } },
  },
  { name: 'not-configured', title: 'Erro: só a loja resolve', via: 'click', script: refusal('NOT_FOUND') },
];
