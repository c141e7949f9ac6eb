/** The kinds of resources that are looked at some hundred at a time. */
export const FAMILIES = [
  'card_payment',
  'payment',
  'charge',
  'pix_subscription',
  'dispute',
  'payout',
  'subaccount_payout',
  'subaccount',
  'transfer',
  'test_payment',
  'webhook_delivery',
  'observed',
  'upstream_intent',
] as const;

export type Family = (typeof FAMILIES)[number];

/**
 * The rows of a tenant that one statement sees. A family: some hundred of its resources, each with all that belongs to it.
 * `journal`, `names`: ledger transactions by their numbers, with their postings. `log`: events by their versions.
 * `sightings`: the rows of the statement of what a facade has seen, by their numbers.
 * `balances`: sums over all postings. `account`: what a tenant has once. `hours`, `totals`: the totals of lists, by days
 * and in all.
 */
export type Slice =
  | Family
  | 'journal'
  | 'names'
  | 'log'
  | 'sightings'
  | 'balances'
  | 'account'
  | 'hours'
  | 'totals';

/** A law of the books. */
export interface Law {
  readonly name: string;
  /** The slices in which it can be decided; without any it is decided on whole tables, by the tests alone. */
  readonly scope: readonly Slice[];
  /** The law in words. */
  readonly explain: string;
  /** The query for rows that break it. A table stands for the rows of the slice, or for all rows of the database. */
  readonly sql: string;
  /** Whether it takes too long to be decided unless it is asked for by its name. */
  readonly onRequest?: boolean;
}

/** The resources that are sold: what a payer pays once. */
export const SOLD = ['card_payment', 'payment', 'charge'] as const satisfies readonly Family[];

/** The families with a version for each event. */
export const FAMILIES_OF_EVENTS = [
  ...SOLD,
  'pix_subscription',
  'dispute',
  'payout',
  'subaccount_payout',
] as const satisfies readonly Family[];
