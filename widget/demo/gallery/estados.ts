import type { PsaCheckout } from '../../src/psa-checkout.ts';
import type { Papel } from './ensaio.ts';

export interface Estado {
  nome: string;
  titulo: string;
  papel?: Papel;
  /** How the element comes there: by a click on its button, or by finding its payment. Else it stays at its button. */
  via?: 'clique' | 'retorno';
  /** What the page gives the element besides. */
  com?: Partial<PsaCheckout>;
}

const PAGO_EM = '2026-03-14T17:42:00.000Z';
const DESCRICAO = 'Rede de algodão Mantiqueira';

const recusa = (code: string, __typename = 'UserError', retryAfterSeconds?: number): Papel => ({
  clique: { __typename, code, ...(retryAfterSeconds ? { retryAfterSeconds } : {}) },
});

/** Every state that a payer can see, in the order in which one would meet them. */
export const ESTADOS: readonly Estado[] = [
  { nome: 'inicio', titulo: 'O botão' },
  { nome: 'desligado', titulo: 'Desligado', com: { disabled: true } },
  { nome: 'criando', titulo: 'Preparando', via: 'clique', papel: { clique: 'espera' } },
  { nome: 'buscando', titulo: 'Procurando o pagamento', via: 'retorno', papel: { linha: 'espera' } },
  { nome: 'pendente', titulo: 'À espera', via: 'retorno', papel: { pagamento: { description: DESCRICAO } } },
  {
    nome: 'ultimo-minuto',
    titulo: 'No último minuto',
    via: 'retorno',
    papel: { pagamento: { expiresInSeconds: 45 } },
  },
  {
    nome: 'conferindo',
    titulo: 'No fim do prazo',
    via: 'retorno',
    papel: { pagamento: { expiresInSeconds: 0 } },
  },
  { nome: 'bloqueado', titulo: 'Janela bloqueada', via: 'clique', com: { mode: 'popup' } },
  { nome: 'cancelado', titulo: 'De volta sem pagar', via: 'retorno' },
  { nome: 'sem-conexao', titulo: 'Sem conexão', via: 'retorno', papel: { linha: 'cala' } },
  { nome: 'reconectando', titulo: 'Reconectando', via: 'retorno', papel: { linha: 'cai' } },
  {
    nome: 'pago',
    titulo: 'Pago: o recibo',
    via: 'retorno',
    papel: { pagamento: { status: 'PAID', paidAt: PAGO_EM, description: DESCRICAO } },
  },
  {
    nome: 'pago-tarde',
    titulo: 'Pago depois do prazo',
    via: 'retorno',
    papel: { pagamento: { status: 'PAID', paidAt: PAGO_EM, paidLate: true } },
  },
  {
    nome: 'expirado',
    titulo: 'Prazo terminado',
    via: 'retorno',
    papel: { pagamento: { status: 'EXPIRED' } },
  },
  { nome: 'recusado', titulo: 'Não aprovado', via: 'retorno', papel: { pagamento: { status: 'FAILED' } } },
  {
    nome: 'estornado',
    titulo: 'Estornado',
    via: 'retorno',
    papel: { pagamento: { status: 'REFUNDED', paidAt: PAGO_EM, refundedAt: '2026-03-15T10:05:00.000Z' } },
  },
  { nome: 'sem-rede', titulo: 'Erro: rede', via: 'clique', papel: { clique: 'sem-rede' } },
  { nome: 'servidor', titulo: 'Erro: servidor', via: 'clique', papel: recusa('UPSTREAM_UNAVAILABLE') },
  {
    nome: 'muitas-tentativas',
    titulo: 'Erro: tentativas demais',
    via: 'clique',
    papel: recusa('RATE_LIMITED', 'RateLimitError', 30),
  },
  { nome: 'conflito', titulo: 'Erro: outro pagamento', via: 'clique', papel: recusa('CHECKOUT_TOKEN_USED') },
  { nome: 'sem-acesso', titulo: 'Erro: sem acesso', via: 'clique', papel: recusa('PERMISSION_DENIED') },
  {
    nome: 'endereco-inseguro',
    titulo: 'Erro: endereço inseguro',
    via: 'clique',
    papel: { pagamento: { checkoutUrl: 'http://pagamento.example/' } },
  },
  { nome: 'sem-configuracao', titulo: 'Erro: só a loja resolve', via: 'clique', papel: recusa('NOT_FOUND') },
];
