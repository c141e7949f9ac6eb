import { shared } from '../../board/locales/en.ts';
import { arrive } from '../../import-again.ts';
import type { Texts } from './texts.ts';

export const texts: Texts = {
  ...shared,
  wallet: 'Wallet',
  available: 'Available for payouts',
  balance: 'Balance',
  pending: 'Awaiting release',
  blocked: 'In dispute',
  subaccounts: 'In subaccounts',
  ltc: 'Litecoin',
  receivable: 'To be deducted',
  sandbox: 'Test environment: no amount is real.',
  history: 'Balance of the last {days} days: from {first} to {last}, between {least} and {most}.',
  historyHours: 'Balance of the last {hours} hours: from {first} to {last}, between {least} and {most}.',
  announce: 'Available for payouts: {amount}.',
  unauthorized: 'Your access to this wallet has ended. Sign in again to go on.',
  forbidden: 'This access does not show the wallet.',
  rate_limited: 'Too many requests in a short time. The wallet goes on by itself in {seconds} s.',
  contact: 'This wallet could not be opened.',
};

arrive('wallet.en', { texts });
