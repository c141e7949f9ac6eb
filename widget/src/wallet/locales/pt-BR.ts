import { shared } from '../../board/locales/pt-BR.ts';
import type { Texts } from './texts.ts';

export const texts: Texts = {
  ...shared,
  wallet: 'Carteira',
  available: 'Disponível para saque',
  balance: 'Saldo',
  pending: 'A liberar',
  blocked: 'Em disputa',
  subaccounts: 'Em subcontas',
  ltc: 'Litecoin',
  receivable: 'A descontar',
  sandbox: 'Ambiente de testes: nenhum valor é real.',
  history: 'Saldo dos últimos {days} dias: de {first} a {last}, entre {least} e {most}.',
  historyHours: 'Saldo das últimas {hours} horas: de {first} a {last}, entre {least} e {most}.',
  announce: 'Disponível para saque: {amount}.',
  unauthorized: 'O acesso a esta carteira terminou. Entre de novo para continuar.',
  forbidden: 'Este acesso não mostra a carteira.',
  rate_limited: 'Muitas consultas. A carteira continua em {seconds} s.',
  contact: 'Esta carteira não pôde ser aberta.',
};
