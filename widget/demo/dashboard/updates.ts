// The subscriptions that keep the dashboard's data as it is at the server.
import type { DashboardApi } from './api.ts';
import { type LoadedList, mergeUpdated } from './loaded-list.ts';
import {
  CARD_PAYMENT_UPDATES,
  type CardPayment,
  CHARGE_UPDATES,
  type Charge,
  DISPUTE_UPDATES,
  type Dispute,
  PAYOUT_UPDATES,
  type Payout,
  PIX_PAYMENT_UPDATES,
  type PixPayment,
  REFUND_UPDATES,
  type Refund,
  SUBACCOUNT_PAYOUT_UPDATES,
  SUBSCRIPTION_UPDATES,
  type SubaccountPayout,
  type Subscription,
  WALLET_UPDATES,
  type Wallet,
} from './operations.ts';

interface Listener {
  /** The data has changed. */
  onUpdate(): void;
  /** A stream has ended that cannot be resumed. */
  onLost(): void;
  /** Webhooks of this update are under way. */
  onWebhooks(): void;
  /** A subaccount was named that the data has no name of. */
  onNewSubaccount(): void;
}

interface Update {
  cursor: string;
  occurredAt: string;
}

/** The data that updates are written into. */
interface FollowedData {
  wallet: Wallet | null;
  /** The parts that could not be read. */
  readonly missing: { delete(part: 'wallet'): boolean };
  readonly payouts: LoadedList<Payout>;
  readonly cardPayments: LoadedList<CardPayment>;
  readonly pixPayments: LoadedList<PixPayment>;
  readonly charges: LoadedList<Charge>;
  readonly disputes: LoadedList<Dispute>;
  readonly subscriptions: LoadedList<Subscription>;
  readonly subaccountPayouts: Map<string, SubaccountPayout>;
  readonly subaccountNames: ReadonlyMap<string, string>;
  readonly failedRefunds: Map<string, string>;
  readonly offersPix: boolean;
  readonly offersCharges: boolean;
  readonly offersDisputes: boolean;
  readonly offersSubscriptions: boolean;
  readonly offersRefunds: boolean;
}

/** Follows all that the service offers from `cursor` on, and writes each update into `data`. */
export function followUpdates(
  data: FollowedData,
  api: DashboardApi,
  cursor: string,
  { onUpdate, onLost, onWebhooks, onNewSubaccount }: Listener,
): void {
  function subscribe<Of>(
    query: string,
    apply: (update: Update & Of) => void,
    { after = cursor, hasWebhooks = true }: { after?: string | null; hasWebhooks?: boolean } = {},
  ): void {
    api.subscribe<Update & Of>(
      query,
      after,
      (update) => {
        api.observeServerTime(update.occurredAt);
        apply(update);
        if (hasWebhooks) onWebhooks();
        onUpdate();
      },
      onLost,
    );
  }

  // The wallet's stream begins with its current state, so it needs no cursor.
  subscribe<{ wallet: Wallet }>(
    WALLET_UPDATES,
    ({ wallet }) => {
      data.wallet = wallet;
      data.missing.delete('wallet');
    },
    { after: null, hasWebhooks: false },
  );
  subscribe<{ payout: Payout }>(PAYOUT_UPDATES, ({ payout }) => data.payouts.update(payout));
  subscribe<{ subaccountPayout: SubaccountPayout }>(SUBACCOUNT_PAYOUT_UPDATES, ({ subaccountPayout }) => {
    mergeUpdated(data.subaccountPayouts, [subaccountPayout], (each) => each.id);
    if (!data.subaccountNames.has(subaccountPayout.subaccountId)) onNewSubaccount();
  });
  subscribe<{ cardPayment: CardPayment }>(CARD_PAYMENT_UPDATES, ({ cardPayment }) =>
    data.cardPayments.update(cardPayment),
  );
  if (data.offersPix)
    subscribe<{ payment: PixPayment }>(PIX_PAYMENT_UPDATES, ({ payment }) =>
      data.pixPayments.update(payment),
    );
  if (data.offersCharges)
    subscribe<{ charge: Charge }>(CHARGE_UPDATES, ({ charge }) => data.charges.update(charge));
  if (data.offersDisputes)
    subscribe<{ dispute: Dispute }>(DISPUTE_UPDATES, ({ dispute }) => {
      data.disputes.update(dispute);
      // Read when the update arrived, and not as the payment was at its change.
      if (dispute.of?.__typename === 'CardPayment') data.cardPayments.refresh([dispute.of]);
    });
  if (data.offersSubscriptions)
    subscribe<{ subscription: Subscription }>(
      SUBSCRIPTION_UPDATES,
      ({ subscription }) => data.subscriptions.update(subscription),
      { hasWebhooks: false },
    );
  if (data.offersRefunds)
    subscribe<{ refund: Refund }>(REFUND_UPDATES, ({ refund: { status, failureReason, of: payment } }) => {
      // Read when the update arrived, and not as the payment was at its change.
      if (payment?.__typename !== 'CardPayment') return;
      data.cardPayments.refresh([payment]);
      if (status === 'FAILED') data.failedRefunds.set(payment.orderCode, failureReason ?? 'sem motivo');
      else data.failedRefunds.delete(payment.orderCode);
    });
}
