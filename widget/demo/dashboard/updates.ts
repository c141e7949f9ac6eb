// The subscriptions that keep the dashboard's data as it is at the server.
import type { DashboardApi } from './api.ts';
import type { FilteredList } from './filtered-list.ts';
import type { LoadedList } from './loaded-list.ts';
import {
  CARD_PAYMENT_UPDATES,
  type CardPayment,
  CHARGE_UPDATES,
  type Charge,
  DISPUTE_UPDATES,
  type Dispute,
  PAYOUT_UPDATES,
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
import type { SubaccountPayoutList } from './subaccount-payouts.ts';

type Filtered<Item extends { version: number }> = FilteredList<Item, LoadedList<Item>>;

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
  readonly cardPayments: Filtered<CardPayment>;
  readonly pixPayments: Filtered<PixPayment>;
  readonly charges: Filtered<Charge>;
  readonly disputes: Filtered<Dispute>;
  readonly subscriptions: Filtered<Subscription>;
  readonly subaccountPayouts: FilteredList<SubaccountPayout, SubaccountPayoutList>;
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
  subscribe(PAYOUT_UPDATES, () => undefined);
  subscribe<{ subaccountPayout: SubaccountPayout }>(SUBACCOUNT_PAYOUT_UPDATES, ({ subaccountPayout }) => {
    data.subaccountPayouts.each((list) => list.update(subaccountPayout));
    if (!data.subaccountNames.has(subaccountPayout.subaccountId)) onNewSubaccount();
  });
  subscribe<{ cardPayment: CardPayment }>(CARD_PAYMENT_UPDATES, ({ cardPayment }) =>
    data.cardPayments.each((list) => list.update(cardPayment)),
  );
  if (data.offersPix)
    subscribe<{ payment: PixPayment }>(PIX_PAYMENT_UPDATES, ({ payment }) =>
      data.pixPayments.each((list) => list.update(payment)),
    );
  if (data.offersCharges)
    subscribe<{ charge: Charge }>(CHARGE_UPDATES, ({ charge }) =>
      data.charges.each((list) => list.update(charge)),
    );
  if (data.offersDisputes)
    subscribe<{ dispute: Dispute }>(DISPUTE_UPDATES, ({ dispute }) => {
      data.disputes.each((list) => list.update(dispute));
      // Read when the update arrived, and not as the payment was at its change.
      const { of: disputed } = dispute;
      if (disputed?.__typename === 'CardPayment') data.cardPayments.each((list) => list.refresh([disputed]));
    });
  if (data.offersSubscriptions)
    subscribe<{ subscription: Subscription }>(
      SUBSCRIPTION_UPDATES,
      ({ subscription }) => data.subscriptions.each((list) => list.update(subscription)),
      { hasWebhooks: false },
    );
  if (data.offersRefunds)
    subscribe<{ refund: Refund }>(REFUND_UPDATES, ({ refund: { status, failureReason, of: payment } }) => {
      // Read when the update arrived, and not as the payment was at its change.
      if (payment?.__typename !== 'CardPayment') return;
      data.cardPayments.each((list) => list.refresh([payment]));
      if (status === 'FAILED') data.failedRefunds.set(payment.orderCode, failureReason ?? 'sem motivo');
      else data.failedRefunds.delete(payment.orderCode);
    });
}
