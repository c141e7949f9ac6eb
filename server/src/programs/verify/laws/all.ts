import { CARD_LAWS } from './cards.ts';
import { CHARGE_LAWS } from './charges.ts';
import { DELIVERY_LAWS } from './deliveries.ts';
import { DISPUTE_LAWS } from './disputes.ts';
import type { Law } from './law.ts';
import { LEDGER_LAWS } from './ledger.ts';
import { LOG_LAWS } from './log.ts';
import { LTC_LAWS } from './ltc.ts';
import { MIRROR_LAWS } from './mirror.ts';
import { PAYOUT_LAWS } from './payouts.ts';
import { PIX_LAWS } from './pix.ts';
import { REFUND_LAWS } from './refunds.ts';
import { SUBACCOUNT_LAWS } from './subaccounts.ts';
import { SUBSCRIPTION_LAWS } from './subscriptions.ts';
import { TOTAL_LAWS } from './totals.ts';

/** The laws of the books of the embedded service. */
export const LAWS: readonly Law[] = [
  ...LEDGER_LAWS,
  ...LOG_LAWS,
  ...CARD_LAWS,
  ...REFUND_LAWS,
  ...PIX_LAWS,
  ...CHARGE_LAWS,
  ...LTC_LAWS,
  ...SUBSCRIPTION_LAWS,
  ...PAYOUT_LAWS,
  ...SUBACCOUNT_LAWS,
  ...DELIVERY_LAWS,
  ...DISPUTE_LAWS,
  ...TOTAL_LAWS,
];

/** The laws that `psa verify` decides, with those of a facade. */
export const DECIDED_LAWS: readonly Law[] = [...LAWS.filter(({ scope }) => scope.length > 0), ...MIRROR_LAWS];
