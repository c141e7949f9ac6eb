import { DEFAULT_SETTINGS } from '../../server/src/access/model.ts';
import type { PayoutMethod } from '../../server/src/money-out/payouts/model.ts';

/** A normalized destination of each method that the simulated bank accepts. */
export const DESTINATIONS: Record<PayoutMethod, string> = {
  pix: 'ana@padaria.example',
  pix_turbo: 'ana@padaria.example',
  ltc: 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9',
  usd: 'TSKvj5dE2xfkpwQU1z3A1PoNC69QmRVhxK',
};

/** The fees of an account with default settings. */
export const FEES = DEFAULT_SETTINGS.payoutFeesCents;
