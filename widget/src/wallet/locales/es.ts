import { shared } from '../../board/locales/es.ts';
import { arrive } from '../../import-again.ts';
import type { Texts } from './texts.ts';

export const texts: Texts = {
  ...shared,
  wallet: 'Billetera',
  available: 'Disponible para retiros',
  balance: 'Saldo',
  pending: 'Por liberar',
  blocked: 'En disputa',
  subaccounts: 'En subcuentas',
  ltc: 'Litecoin',
  receivable: 'Por descontar',
  sandbox: 'Ambiente de pruebas: ningún importe es real.',
  history: 'Saldo de los últimos {days} días: de {first} a {last}, entre {least} y {most}.',
  historyHours: 'Saldo de las últimas {hours} horas: de {first} a {last}, entre {least} y {most}.',
  announce: 'Disponible para retiros: {amount}.',
  unauthorized: 'Tu acceso a esta billetera terminó. Vuelve a entrar para continuar.',
  forbidden: 'Este acceso no muestra la billetera.',
  rate_limited: 'Demasiadas consultas en poco tiempo. La billetera sigue sola en {seconds} s.',
  contact: 'Esta billetera no pudo abrirse.',
};

arrive('wallet.es', { texts });
