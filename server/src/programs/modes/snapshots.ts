import { accessSnapshots } from '../../access/events.ts';
import { deliverySnapshots } from '../../catalogue/deliveries/events.ts';
import { cardPaymentSnapshots } from '../../money-in/card-payments/events.ts';
import { tokenSnapshots } from '../../money-in/card-payments/tokens/events.ts';
import { chargeSnapshots } from '../../money-in/charges/events.ts';
import { disputeSnapshots } from '../../money-in/disputes/events.ts';
import { paymentSnapshots } from '../../money-in/payments/events.ts';
import { refundSnapshots } from '../../money-in/refunds/events.ts';
import { returnSnapshots } from '../../money-in/returns/events.ts';
import { subscriptionSnapshots } from '../../money-in/subscriptions/events.ts';
import { payoutSnapshots } from '../../money-out/payouts/events.ts';
import { subaccountSnapshots } from '../../money-out/subaccounts/events.ts';
import { walletSnapshots } from '../../money-out/wallet/events.ts';
import type { Snapshots } from '../../state/events/event.ts';
import { webhookSnapshots } from '../../webhooks/events.ts';

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
