import { DEFAULT_SETTINGS } from '../../server/src/access/model.ts';
import type { PayoutMethod } from '../../server/src/payouts/model.ts';

/** A destination of each method, in its normal form, that the simulated bank pays to. */
export const DESTINATIONS: Record<PayoutMethod, string> = {
  pix: 'ana@padaria.example',
  pix_turbo: 'ana@padaria.example',
  ltc: 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9',
  usd: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
};

/** The fees of an account that has not been given others. */
export const FEES = DEFAULT_SETTINGS.payoutFeesCents;
