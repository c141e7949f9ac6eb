import type { Script } from './fake-server.ts';

/** The tag names of the elements, with their names on the page. */
export const ELEMENTS = {
  'psa-wallet': 'Carteira',
  'psa-sales': 'Vendas',
  'psa-payouts': 'Saques',
  'psa-statement': 'Extrato',
  'psa-disputes': 'Disputas',
} as const;

export type BoardTag = keyof typeof ELEMENTS;

export interface BoardState {
  name: string;
  title: string;
  script?: Script;
  /** The phase that the element reaches; `ready` by default. */
  phase?: 'loading' | 'error';
  /** Further properties that the page sets. */
  properties?: Partial<Record<BoardTag, object>>;
  /** The element that has no such state. */
  without?: BoardTag;
}

/** The properties of each element on the page of a merchant who uses all of it. */
export const PROPERTIES: Record<BoardTag, object> = {
  'psa-wallet': {},
  'psa-sales': { details: true, export: true, actions: 'refund' },
  'psa-payouts': { details: true, export: true },
  'psa-statement': { details: true, export: true },
  'psa-disputes': { details: true, export: true, actions: 'defence accept' },
};

/** A filter of each list that no row passes. */
const FILTERED: NonNullable<BoardState['properties']> = {
  'psa-sales': { search: 'ninguem@psa.example' },
  'psa-payouts': { reference: 'SAQ-NENHUM' },
  'psa-statement': { kinds: 'TEST_PAYMENT' },
  'psa-disputes': { reference: 'dp_nenhuma' },
};

/** The balances at both ends stand above the statement of a period. */
const IN_MARCH = { 'psa-statement': { createdAfter: '2026-03-01T00:00:00-03:00' } };

/** The states of an account's elements that a merchant can see. */
const STATES: readonly BoardState[] = [
  { name: 'full', title: 'Com movimento', properties: IN_MARCH },
  { name: 'filtered', title: 'Nada com este filtro', properties: FILTERED, without: 'psa-wallet' },
  { name: 'empty', title: 'Conta nova', script: { isEmpty: true } },
  { name: 'loading', title: 'Carregando', script: { answer: 'hang' }, phase: 'loading' },
  { name: 'stale', title: 'Sem notícia do serviço', script: { staleSeconds: 120 } },
  {
    name: 'key-refused',
    title: 'Chave recusada pelo serviço',
    script: { staleSeconds: 7_200, keyRefused: true },
  },
  { name: 'reconnecting', title: 'Reconectando', script: { stream: 'drop' } },
  { name: 'server-error', title: 'Erro: servidor', script: { answer: 502 }, phase: 'error' },
  {
    name: 'rate-limited',
    title: 'Erro: consultas demais',
    script: { answer: 'RATE_LIMITED' },
    phase: 'error',
  },
  { name: 'ended', title: 'Erro: o acesso terminou', script: { answer: 'UNAUTHENTICATED' }, phase: 'error' },
  { name: 'forbidden', title: 'Erro: sem esta permissão', script: { answer: 'FORBIDDEN' }, phase: 'error' },
];

export function statesOf(tag: BoardTag): readonly BoardState[] {
  return STATES.filter(({ without }) => without !== tag);
}
