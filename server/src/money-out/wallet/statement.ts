import { type CalendarInterval, calendarBounds } from '../../kernel/calendar.ts';
import { DAY_MS } from '../../kernel/clock.ts';
import { ValidationError } from '../../kernel/errors.ts';
import type { AmountFilter } from '../../kernel/list-filter.ts';
import type { ListedRange, ListRange } from '../../kernel/list-range.ts';
import type { Cents } from '../../kernel/money.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import { ENTRY_KINDS } from '../../state/ledger/journal.ts';
import type { Wallet } from './model.ts';

/** The kinds of entries. `observed`: another service's wallet has changed, and nothing else that was seen explains it. */
export const WALLET_ENTRY_KINDS = [...ENTRY_KINDS, 'observed'] as const;
export type WalletEntryKind = (typeof WALLET_ENTRY_KINDS)[number];

/** The signed changes of the figures of a wallet. */
export interface WalletChanges {
  /** The change of the gross balance, with the part of subaccounts. */
  amountCents: Cents;
  subaccountsDeltaCents: Cents;
  pendingReleaseDeltaCents: Cents;
  disputeBlockedDeltaCents: Cents;
  /** The change of the debt: above 0 for a new debt, below 0 for one that is paid. */
  receivableDeltaCents: Cents;
  litoshiDelta: number;
  /** The fees that the service has taken; below 0 for those that it gave back. Null if another service does not show one. */
  feeCents: Cents | null;
}

/** An entry of the statement: a movement of the account's money, with the wallet after it. */
export interface WalletEntry extends WalletChanges {
  /** The place of the entry in the statement. The number only grows, and has no other meaning. */
  number: number;
  kind: WalletEntryKind | 'unknown';
  /** The name by which the merchant knows what has moved the money. */
  reference: string | null;
  resource: { type: string; id: string } | null;
  subaccountId: string | null;
  /** The instant of the entry, never before that of the previous entry. */
  createdAt: Date;
  after: Wallet;
  /** In front of another service: the part of the balance, as of this entry, that nothing seen explains. Otherwise 0. */
  unexplainedCents: Cents;
  /** In front of another service: the instant at which the movement was seen, at most `createdAt`. Otherwise null. */
  seenAt: Date | null;
}

/** A filter of the statement. A period includes its `from` and excludes its `before`. */
export interface WalletEntryFilter extends AmountFilter {
  kind?: readonly WalletEntryKind[] | undefined;
  createdAfter?: Date | undefined;
  createdBefore?: Date | undefined;
  /** Any name of a payment, refund, dispute, payout or transfer: its entries, and those of what belongs to it. */
  reference?: string | undefined;
  subaccountId?: string | undefined;
}

/** The wallet at an instant. */
export interface WalletAt {
  instant: Date;
  figures: Wallet;
  /** The last entry at this instant or before it; null for the first sighting of another service's wallet. */
  entry: WalletEntry | null;
  unexplainedCents: Cents;
  /** In front of another service: the instant of the sighting with these figures. Otherwise null. */
  seenAt: Date | null;
}

export interface WalletBucket {
  startsAt: Date;
  endsAt: Date;
  /** The wallet at the end of the bucket. */
  closing: Wallet;
  /** The sum of what was added to the gross balance, and the sum of what was taken of it. */
  inCents: Cents;
  outCents: Cents;
}

/** The sum of the entries of one kind. */
export interface ClosingLine extends WalletChanges {
  kind: WalletEntryKind | 'unknown';
  count: number;
}

/** A period of the statement: each figure of `opening` and its changes in `lines` add up to that of `closing`. */
export interface ClosingReport {
  startsAt: Date;
  endsAt: Date;
  opening: Wallet;
  /** In front of another service: the instant at which `opening` was seen; null if nothing was. Otherwise null. */
  openingSeenAt: Date | null;
  closing: Wallet;
  closingSeenAt: Date | null;
  lines: ClosingLine[];
  unexplainedCents: Cents;
}

/** A commit that has written entries, as the log shows it. */
export interface StatementCommit {
  /** The version of its event of the wallet. */
  version: number;
  occurredAt: Date;
  /** The ids of its transactions that are entries; in front of another service, the numbers of its entries. */
  transactionIds: readonly string[];
}

/** A period with its start and without its end. */
export interface Period {
  startsAt: Date;
  endsAt: Date;
}

export interface HistoryRequest extends Period {
  interval: CalendarInterval;
  timeZone: string;
}

export interface StatementService {
  list(
    tenant: Tenant,
    request: WalletEntryFilter & ListRange,
  ): Promise<ListedRange<{ position: number; entry: WalletEntry }>>;
  /** Reads a page by offset, newest first, and the total count (the document's 2.1.6). */
  listPage(
    tenant: Tenant,
    request: WalletEntryFilter & { limit: number; offset: number },
  ): Promise<{ items: WalletEntry[]; total: number }>;
  count(tenant: Tenant, filter: WalletEntryFilter): Promise<number>;
  /** Finds an entry by its number; null if there is none. */
  find(tenant: Tenant, number: number): Promise<WalletEntry | null>;
  /** Finds the entries that a commit has written, oldest first. */
  ofCommit(tenant: Tenant, commit: StatementCommit): Promise<WalletEntry[]>;
  /** Reads the wallet after every entry up to an instant; null before the first one. */
  at(tenant: Tenant, instant: Date): Promise<WalletAt | null>;
  /** @throws ValidationError naming the argument */
  history(tenant: Tenant, request: HistoryRequest): Promise<WalletBucket[]>;
  /** @throws ValidationError naming the argument */
  closing(tenant: Tenant, period: Period): Promise<ClosingReport>;
}

/** The commit of an event of the wallet; null if no figure has moved, or a version without a statement wrote it. */
export function commitOf({
  version,
  occurredAt,
  snapshot,
}: {
  version: number;
  occurredAt: Date;
  snapshot: unknown;
}): StatementCommit | null {
  const { entries = [] } = snapshot as { entries?: readonly string[] };
  return entries.length === 0 ? null : { version, occurredAt, transactionIds: entries };
}

// ── Rules ───────────────────────────────────────────────────────────────────────────────────────

const MAX_DAYS = 366;
const MAX_BUCKETS = 400;

/** Refuses a period that is empty, or longer than a year. @throws ValidationError naming the argument */
export function assertPeriod({ startsAt, endsAt }: Period): void {
  if (endsAt <= startsAt)
    throw new ValidationError([{ path: 'endsAt', message: 'must be later than startsAt' }]);
  if (endsAt.getTime() - startsAt.getTime() > MAX_DAYS * DAY_MS)
    throw new ValidationError([
      { path: 'endsAt', message: `must be at most ${MAX_DAYS} days after startsAt` },
    ]);
}

/**
 * The instants at which the buckets of a history begin and end: `startsAt`, each hour, day or month that begins
 * inside the period by the clocks of the time zone, and `endsAt`.
 * @throws ValidationError naming the argument
 */
export function bucketsOf({ startsAt, endsAt, interval, timeZone }: HistoryRequest): Date[] {
  assertPeriod({ startsAt, endsAt });
  const bounds = calendarBounds({ from: startsAt, before: endsAt }, interval, timeZone, MAX_BUCKETS);
  if (bounds) return bounds;
  throw new ValidationError([
    { path: 'interval', message: `must give at most ${MAX_BUCKETS} buckets between startsAt and endsAt` },
  ]);
}
