import type { CardPayment } from '../card-payments/model.ts';
import { cardPaymentFromJson } from '../card-payments/model.ts';
import { type TokenSnapshot, tokenFromJson } from '../card-payments/tokens/model.ts';
import { type Balances, NO_BALANCES } from '../ledger/postings.ts';
import { type Payout, payoutFromJson } from '../payouts/model.ts';
import { type SubaccountPayout, subaccountPayoutFromJson } from '../subaccounts/model.ts';
import { isWallet, type Wallet } from '../wallet/model.ts';

/** An event as a slice writes it. The snapshot is the resource as it was then. */
export type NewEvent =
  | {
      kind: `card_payment.${CardPayment['status']}`;
      resource: 'card_payment';
      resourceId: string;
      previousStatus: CardPayment['status'] | null;
      snapshot: CardPayment;
    }
  | {
      kind: `payout.${Payout['status']}`;
      resource: 'payout';
      resourceId: string;
      previousStatus: Payout['status'] | null;
      snapshot: Payout;
    }
  | {
      kind: `subaccount_payout.${SubaccountPayout['status'] | 'reversed'}`;
      resource: 'subaccount_payout';
      resourceId: string;
      previousStatus: SubaccountPayout['status'] | null;
      snapshot: SubaccountPayout;
    }
  | {
      /**
       * Something was posted: the balances after it, one for all that were posted at once. In front of another service,
       * the wallet as that one shows it now.
       */
      kind: 'wallet.changed';
      resource: 'wallet';
      resourceId: 'wallet';
      previousStatus: null;
      snapshot: Balances | Wallet;
    }
  | {
      /** A token or key was revoked: what it opened is closed, on every instance. */
      kind: 'credential.revoked';
      resource: 'credential';
      resourceId: string;
      previousStatus: null;
      snapshot: Record<string, never>;
    }
  | {
      /** A checkout token was paused or resumed, by the merchant or for its declined cards. */
      kind: 'checkout_token.paused' | 'checkout_token.resumed';
      resource: 'checkout_token';
      resourceId: string;
      previousStatus: null;
      snapshot: TokenSnapshot;
    };

/**
 * An event in its place: `version` counts the tenant's events without a gap. A log that was set back uses versions
 * again, with other events: these have another `mark`. An event of a release before marks has 0.
 */
export type StoredEvent = NewEvent & { version: number; mark: number; occurredAt: Date };

export type Resource = NewEvent['resource'];

/** Parses the log's JSON into the slice's own type. */
const SNAPSHOT: { [R in Resource]: (json: unknown) => Extract<NewEvent, { resource: R }>['snapshot'] } = {
  card_payment: cardPaymentFromJson,
  payout: payoutFromJson,
  subaccount_payout: subaccountPayoutFromJson,
  wallet: walletSnapshot,
  credential: () => ({}),
  checkout_token: tokenFromJson,
};

function walletSnapshot(json: unknown): Balances | Wallet {
  const snapshot = json as Partial<Balances> | Wallet;
  // One from before an account was thought of has nothing in it.
  return isWallet(snapshot) ? snapshot : { ...NO_BALANCES, ...snapshot };
}

export interface EventRow {
  version: number;
  mark: number;
  kind: string;
  resource: string;
  resource_id: string;
  previous_status: string | null;
  occurred_at: Date;
  snapshot: unknown;
}

/**
 * A row of the log as the union above. A newer version, which works on the same database during an upgrade, may have added
 * a resource: its events are passed over, since nobody here follows them.
 */
export function eventFromRow(row: EventRow): StoredEvent {
  const resource = row.resource as Resource;
  return {
    version: row.version,
    mark: row.mark,
    kind: row.kind,
    resource,
    resourceId: row.resource_id,
    previousStatus: row.previous_status,
    occurredAt: row.occurred_at,
    snapshot: SNAPSHOT[resource]?.(row.snapshot) ?? {},
  } as StoredEvent;
}
