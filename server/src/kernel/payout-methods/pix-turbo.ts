import type { MethodRecord } from './method.ts';
import { pixKey } from './pix.ts';

export const pixTurbo: MethodRecord = {
  graphql: { name: 'PIX_TURBO', description: 'A payout in reais to a PIX key, sent at once.' },
  label: 'PIX turbo',
  cli: { inWords: 'by PIX turbo', column: 'turbo' },
  destination: pixKey,
  defaultFeeCents: 200,
  debits: 'brl',
  ceiling: 'pixMaxCents',
  dustLitoshi: null,
  leavesUnconfirmed: true,
  hourly: { most: 5, inWords: 'turbo withdrawals' },
  rail: { simulatedMs: 3_000, comesBack: true, namesRecipient: true },
};
