import { accessSnapshots } from '../access/events.ts';
import { cardPaymentSnapshots } from '../card-payments/events.ts';
import { tokenSnapshots } from '../card-payments/tokens/events.ts';
import { chargeSnapshots } from '../charges/events.ts';
import { deliverySnapshots } from '../deliveries/events.ts';
import { disputeSnapshots } from '../disputes/events.ts';
import type { Snapshots } from '../events/event.ts';
import { paymentSnapshots } from '../payments/events.ts';
import { payoutSnapshots } from '../payouts/events.ts';
import { refundSnapshots } from '../refunds/events.ts';
import { returnSnapshots } from '../returns/events.ts';
import { subaccountSnapshots } from '../subaccounts/events.ts';
import { subscriptionSnapshots } from '../subscriptions/events.ts';
import { walletSnapshots } from '../wallet/events.ts';
import { webhookSnapshots } from '../webhooks/events.ts';

/** The snapshots of every slice: the log is the same in both modes. */
export const snapshots: Snapshots = {
  ...accessSnapshots,
  ...cardPaymentSnapshots,
  ...chargeSnapshots,
  ...deliverySnapshots,
  ...disputeSnapshots,
  ...paymentSnapshots,
  ...payoutSnapshots,
  ...refundSnapshots,
  ...returnSnapshots,
  ...subaccountSnapshots,
  ...subscriptionSnapshots,
  ...tokenSnapshots,
  ...walletSnapshots,
  ...webhookSnapshots,
};
