import type { Cents } from '../../kernel/money.ts';
import type { Resource } from '../events/event.ts';

/** The kinds of what moves the figures of a wallet. */
export const ENTRY_KINDS = [
  'card_payment',
  /** A card sale that goes from the pending amount to the balance. */
  'card_release',
  'charge',
  /** Money that arrived in any other way. */
  'credit',
  'dispute_hold',
  /** A hold that ends, because the dispute was won or forgiven. */
  'dispute_release',
  /** LTC of an ended payment, which the operator credits. */
  'ltc_credit',
  'payment',
  'payout',
  /** The amount of a payout that was denied, or came back. */
  'payout_return',
  'refund',
  /** The amount of a refund that has failed. */
  'refund_failure',
  /** The share of a subaccount in a charge. */
  'split',
  /** The merchant's own fee of a payout of a subaccount, once that has arrived. */
  'subaccount_markup',
  'subaccount_payout',
  'subaccount_payout_return',
  'subaccount_transfer',
  'test_payment',
] as const;

/** The types of resources that the log and the journal name. */
export type ResourceType = Resource;

export type EntryKind = (typeof ENTRY_KINDS)[number];

/** The purpose of a ledger transaction, as the statement of the wallet shows it. */
export interface JournalEntry {
  /** `return` is money that goes back to its payer and never was the merchant's; it moves no figure. */
  readonly kind: EntryKind | Resource | 'return';
  /** The name by which the merchant knows it: the code of the payment or payout that it belongs to. */
  readonly ref: string;
  /** Null for money that arrives by itself. */
  readonly resource: { readonly type: Resource | 'test_payment'; readonly id: string } | null;
  /** The fee that the service takes; negative if it gives one back. */
  readonly feeCents: Cents;
}

/** An entry without a fee about a resource that is known by its own id. */
export function entryOf(
  kind: JournalEntry['kind'],
  type: Resource,
  id: string,
  feeCents: Cents = 0,
): JournalEntry {
  return { kind, ref: id, resource: { type, id }, feeCents };
}
