import type { Cents } from '../kernel/money.ts';
import type { EntryKind } from '../state/ledger/journal.ts';

/** Money that a resource of the service has moved for certain, by its state. */
export interface SeenMove {
  readonly kind: EntryKind;
  /** The change of the gross balance. */
  readonly amountCents?: Cents;
  readonly subaccountsDeltaCents?: Cents;
  readonly pendingReleaseDeltaCents?: Cents;
  readonly disputeBlockedDeltaCents?: Cents;
  readonly litoshiDelta?: number;
  /** The fee inside the amount; null if the service does not show it. */
  readonly feeCents: Cents | null;
  readonly subaccountId?: string;
  /** The service's instant of the movement; null if it does not show one. */
  readonly at: Date | null;
}

/** The money that a resource has moved by a state. */
export interface SeenMoney {
  /** The ids of the resource; the first is that of its entries. */
  readonly ids: readonly [string, ...string[]];
  /** The name by which the merchant knows it; of a refund or a dispute that of its payment. */
  readonly reference: string;
  /** All that the resource has moved up to this state, each kind and subaccount once. */
  readonly moves: readonly SeenMove[];
}

/** Reads the money in the snapshot of an event; null if it moves none for certain. */
export type ReadMoney = (snapshot: unknown) => SeenMoney | null;
