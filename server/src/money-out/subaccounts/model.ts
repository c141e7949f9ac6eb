import { z } from 'zod';
import {
  type AmountFilter,
  among,
  amountConditions,
  before,
  type Conditions,
  type DetailFilter,
  equal,
  from,
  matches,
  named,
} from '../../kernel/list-filter.ts';
import type { ListedRange, ListRange } from '../../kernel/list-range.ts';
import { type Cents, cents } from '../../kernel/money.ts';
import {
  kindOfPixKey,
  PIX_KEY_TYPE_RULE,
  type PixKeyKind,
  parseTypedPixKey,
  pixKeyType,
} from '../../kernel/pix-key.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import {
  externalIdText,
  idempotencyKeyText,
  longExternalIdText,
  nameText,
  visibleText,
} from '../../kernel/text.ts';
import type { Totals, TotalsGrouping } from '../../kernel/totals.ts';
import { anySubaccountId, type NamesOfPayout, normalizeReference } from './names.ts';

// ── Subaccounts and their statements ────────────────────────────────────────────────────────────

/**
 * A balance that an integrator keeps for one of its customers. Fields are null if they are unknown: the
 * document shows only the id.
 */
export interface Subaccount {
  /** An id: `sacc_` and 32 hex. */
  id: string;
  name: string | null;
  /** The integrator's own name for the subaccount, which no other subaccount has. */
  externalId: string | null;
  balanceCents: Cents | null;
  createdAt: Date | null;
}

export interface StoredSubaccount extends Subaccount {
  name: string;
  balanceCents: Cents;
  createdAt: Date;
}

export const STATEMENT_ENTRY_KINDS = [
  'transfer_in',
  'payout',
  'payout_reversal',
  'split_in',
  'split_reversal',
] as const;
export type StatementEntryKind = (typeof STATEMENT_ENTRY_KINDS)[number];

/** A line of a statement, which is append-only. */
export interface StatementEntry {
  subaccountId: string;
  kind: StatementEntryKind | 'unknown';
  /**
   * A reference: `rep_…` for a transfer; `saq_…` for a payout, which its reversal repeats unless the payout
   * got a `SUB-…`; `psplit_…` for a split charge, `ref_…` for a refund of it.
   */
  refId: string;
  /** The signed change of the balance. */
  amountCents: number;
  balanceAfterCents: Cents | null;
  createdAt: Date;
}

/**
 * The id of an entry among all entries of an account. A split charge has an entry in each of several
 * subaccounts.
 */
export function entryIdOf({ kind, refId, subaccountId, amountCents, createdAt }: StatementEntry): string {
  // An unknown kind may stand for several: an entry and its fee have one reference and one instant.
  const form = kind === 'unknown' ? `${kind}@${createdAt.getTime()}:${amountCents}` : kind;
  return `${form} ${refId} ${subaccountId.toLowerCase()}`;
}

export interface StoredStatementEntry extends StatementEntry {
  kind: StatementEntryKind;
  balanceAfterCents: Cents;
}

/** A filter of subaccounts. A period includes its `from` and excludes its `before`. */
export interface SubaccountFilter {
  externalId?: string | undefined;
  createdAfter?: Date | undefined;
  createdBefore?: Date | undefined;
}

/** The condition of each member of the filter of subaccounts. */
export const subaccountConditions = {
  externalId: equal('externalId'),
  createdAfter: from('createdAt'),
  createdBefore: before('createdAt'),
} satisfies Conditions<SubaccountFilter, Subaccount>;

/** A filter of a statement. A period includes its `from` and excludes its `before`. */
export interface StatementFilter extends AmountFilter {
  /** The `refId`. */
  reference?: string | undefined;
  kind?: readonly StatementEntryKind[] | undefined;
  createdAfter?: Date | undefined;
  createdBefore?: Date | undefined;
}

/** The condition of each member of the filter. Amounts are compared without their sign. */
const STATEMENT_CONDITIONS = {
  kind: among('kind'),
  reference: named(['refId']),
  ...amountConditions(({ amountCents }: StatementEntry) => Math.abs(amountCents)),
  createdAfter: from('createdAt'),
  createdBefore: before('createdAt'),
} satisfies Conditions<StatementFilter, StatementEntry>;

/** Whether a filter selects an entry. */
export function matchesFilter(entry: StatementEntry, filter: StatementFilter): boolean {
  return matches(STATEMENT_CONDITIONS, entry, filter);
}

/** A subaccount with nothing known but its id. */
export function unknownSubaccount(id: string): Subaccount {
  return { id, name: null, externalId: null, balanceCents: null, createdAt: null };
}

// ── Payouts (the document's 2.2 and 3.1) ────────────────────────────────────────────────────────

export const SUBACCOUNT_PAYOUT_STATUSES = ['completed', 'processing', 'failed'] as const;
export type SubaccountPayoutStatus = (typeof SUBACCOUNT_PAYOUT_STATUSES)[number];

/** A payout as its callers see it. */
export interface SubaccountPayout {
  /** The program's own id, whichever reference finds the payout; the bank knows the transfer by it. */
  id: string;
  /** A version that grows by one with each change: of two answers the larger is the newer. */
  version: number;
  /** The `refId` of the payout's `payout` entry: `saq_idem_<idempotencyKey>`, or `saq_` and 32 hex. */
  payoutId: string | null;
  /** An id of 24 hex; null until the payout was assembled for sending. */
  withdrawalId: string | null;
  /**
   * A code: `TURBO-…` from when the payout was assembled, `SUB-…` once it was refused before any bank saw it;
   * null before either.
   */
  code: string | null;
  /** The code that `code` has replaced, which still finds the payout; absent if there is none. */
  formerCode?: string | undefined;
  subaccountId: string;
  /** The status; unknown means one that the document does not name. */
  status: SubaccountPayoutStatus | 'unknown';
  /** Whether the amount went back to the subaccount. */
  reversed: boolean;
  /** The gross amount, which was debited to the subaccount. */
  amountCents: Cents;
  /** The integrator's part of the amount; null if it is unknown. */
  feeCents: Cents | null;
  /** The service's part of the amount; null until the payout was assembled, like the net amount. */
  platformFeeCents: Cents | null;
  /** The amount that the PIX key receives. */
  netAmountCents: Cents | null;
  /** The masked PIX key. */
  pixKey: string | null;
  endToEndId: string | null;
  recipientName: string | null;
  recipientBankName: string | null;
  failureReason: string | null;
  createdAt: Date;
  completedAt: Date | null;
  reversedAt: Date | null;
  /** The merchant's own number for the payout; several payouts may have the same number. */
  externalId: string | null;
  /** The kind of the PIX key in the request; null if the service does not show it. */
  destinationKind: PixKeyKind | null;
  /** The id of a payout that an event showed before its request was known. It still finds the payout. */
  formerId?: string | undefined;
  /** Whether the outcome of the payout's request is unknown: the service may not have made the payout. */
  inDoubt?: boolean | undefined;
  /**
   * Whether this server concludes that the service never made the payout. Any state that the service shows
   * prevails over that.
   */
  neverMade?: boolean | undefined;
  /** The instant since which only a webhook says this end; absent if the service itself has said it. */
  claimedAt?: Date | undefined;
}

export interface StoredSubaccountPayout extends SubaccountPayout {
  feeCents: Cents;
  payoutId: string;
  status: SubaccountPayoutStatus;
  pixKey: string;
}

/** A payout with the members that callers do not see. */
export interface PayoutRecord {
  payout: StoredSubaccountPayout;
  /** The whole PIX key in its normal form. */
  destination: string;
  /** The platform's fee as it was when the payout was requested. */
  agreedFeeCents: Cents;
  /** Whether the bank holds the payout for verification: the document's `202`. */
  underVerification: boolean;
  /** The `TURBO-…` code, which still finds the payout after a `SUB-…` has replaced it. */
  turboCode: string | null;
}

/** A filter of a subaccount's payouts. A period includes its `from` and excludes its `before`. */
export interface SubaccountPayoutFilter extends AmountFilter, Pick<DetailFilter, 'externalId' | 'reference'> {
  status?: readonly SubaccountPayoutStatus[] | undefined;
  createdAfter?: Date | undefined;
  createdBefore?: Date | undefined;
  completedAfter?: Date | undefined;
  completedBefore?: Date | undefined;
  reversedAfter?: Date | undefined;
  reversedBefore?: Date | undefined;
}

/** The condition of each member of the filter, for lists and updates. */
export const subaccountPayoutConditions = {
  status: among('status'),
  externalId: equal('externalId'),
  reference: named(['payoutId', 'withdrawalId', 'code', 'formerCode', 'endToEndId'], normalizeReference),
  ...amountConditions(),
  createdAfter: from('createdAt'),
  createdBefore: before('createdAt'),
  completedAfter: from('completedAt'),
  completedBefore: before('completedAt'),
  reversedAfter: from('reversedAt'),
  reversedBefore: before('reversedAt'),
} satisfies Conditions<SubaccountPayoutFilter, SubaccountPayout>;

/** Whether a filter selects a payout. */
export function matchesPayoutFilter(payout: SubaccountPayout, filter: SubaccountPayoutFilter): boolean {
  return matches(subaccountPayoutConditions, payout, filter);
}

/** Whether a filter has a condition besides the status, by which the lists are divided. */
export function hasMoreThanStatus({ status: _, ...details }: SubaccountPayoutFilter): boolean {
  return Object.values(details).some((condition) => condition !== undefined);
}

/** Whether no later state can follow: reversed, or COMPLETED unless the money comes back. */
export function isFinal({ status, reversed }: Pick<SubaccountPayout, 'status' | 'reversed'>): boolean {
  return status === 'completed' || reversed;
}

/** Whether a payout is final and the service itself has said so. */
export function isSettled(payout: SubaccountPayout): boolean {
  return isFinal(payout) && payout.claimedAt === undefined;
}

/** The caller's next step: the document's prose on the states (3.1), as data. */
export type PayoutGuidance = 'NONE' | 'WAIT' | 'RETRY_WITH_NEW_KEY' | 'CONTACT_SUPPORT';

/**
 * The guidance for a payout. If only a webhook says its end, that may be wrong, and a caller that acts on it
 * could pay twice.
 */
export function guidanceOf({ status, reversed, claimedAt }: SubaccountPayout): PayoutGuidance {
  if (claimedAt !== undefined || status === 'processing' || status === 'unknown') return 'WAIT';
  if (status === 'completed' && !reversed) return 'NONE';
  return reversed ? 'RETRY_WITH_NEW_KEY' : 'CONTACT_SUPPORT';
}

// ── Input ───────────────────────────────────────────────────────────────────────────────────────

const positiveCents = cents.refine((amount) => amount >= 1, 'must be at least 1').meta({ minimum: 1 });

export const createSubaccountInput = z.object({
  name: visibleText(nameText({ max: 200 })),
  externalId: longExternalIdText.nullish(),
});
export type CreateSubaccountInput = z.infer<typeof createSubaccountInput>;

export const transferInput = z.object({
  subaccountId: anySubaccountId,
  amountCents: positiveCents,
  idempotencyKey: idempotencyKeyText.nullish(),
});
export type TransferInput = z.infer<typeof transferInput>;

/** The members of a request for a payout, with the PIX key as it was given. */
export const requestPayoutMembers = z.object({
  subaccountId: anySubaccountId,
  amountCents: positiveCents,
  pixKey: z.string(),
  pixKeyType: pixKeyType.describe(PIX_KEY_TYPE_RULE),
  externalId: externalIdText
    .nullish()
    .describe('Your own number for it; several payouts may have one number'),
  idempotencyKey: idempotencyKeyText.nullish(),
});
/** Converts the PIX key of a request into its normal form, as a key of the type that the request names. */
export function withNormalKey<Input extends { pixKey: string; pixKeyType?: PixKeyKind | null | undefined }>(
  input: Input,
  context: z.RefinementCtx,
): Input {
  const parsed = parseTypedPixKey(input.pixKey, input.pixKeyType);
  if (parsed.wrong === null) return { ...input, pixKey: parsed.key };
  const path = parsed.wrong === 'key' ? 'pixKey' : 'pixKeyType';
  context.addIssue({ code: 'custom', path: [path], message: parsed.why });
  return z.NEVER;
}

export const requestPayoutInput = requestPayoutMembers.transform(withNormalKey);
/** A request for a payout, with the PIX key in its normal form. */
export type RequestPayoutInput = z.infer<typeof requestPayoutInput>;
/** The body of a request, whose path names the subaccount. */
export const requestPayoutBody = requestPayoutMembers.omit({ subaccountId: true }).transform(withNormalKey);

// ── The port ────────────────────────────────────────────────────────────────────────────────────

/** A range of a list, newest first, each item with its position in the list. */
export type PositionedRange<Item> = ListedRange<{ position: number; item: Item }>;

/** A request for a page by offset (the document's 2.1.6). */
export interface OffsetPageQuery {
  limit: number;
  offset: number;
}

export interface OffsetPage<Item> {
  items: Item[];
  /** The length of the whole list. */
  total: number;
}

/** The port of subaccounts. The service itself knows every field; a server in front of another may know fewer. */
export interface SubaccountService<
  P extends SubaccountPayout = SubaccountPayout,
  S extends Subaccount = Subaccount,
  E extends StatementEntry = StatementEntry,
> {
  /**
   * Opens a subaccount. The same externalId and name return the same one again, `replayed`.
   * @throws ValidationError if the externalId belongs to a subaccount with another name
   */
  create(tenant: Tenant, input: CreateSubaccountInput): Promise<{ subaccount: S; replayed: boolean }>;
  /**
   * Moves cents of the merchant's own, withdrawable money to a subaccount.
   * @throws NotFoundError, InsufficientFundsError, IdempotencyError
   */
  transfer(tenant: Tenant, input: TransferInput): Promise<{ subaccount: S; entry: E; replayed: boolean }>;
  /**
   * Asserts that names have a valid form; a server in front of another service leaves that to it. `path` precedes the
   * field's name in the error.
   * @throws ValidationError
   */
  assertNames(names: NamesOfPayout, path?: string): void;
  /** Finds a subaccount; null if it does not exist or is another tenant's. */
  find(tenant: Tenant, subaccountId: string): Promise<S | null>;
  /**
   * Finds the subaccount that has the integrator's own name; null if none has.
   * @throws UpstreamError (another service does not show all subaccounts)
   */
  findByExternalId(tenant: Tenant, externalId: string): Promise<S | null>;
  /**
   * Finds the entry of the transfer that the request with a key has made; null if there is none in the subaccount.
   * @throws UpstreamError (the outcome of the request is not known), PreconditionError (RECORDS_BEHIND)
   */
  findTransfer(tenant: Tenant, subaccountId: string, idempotencyKey: string): Promise<E | null>;
  /**
   * Finds a subaccount with the version of the tenant's log for which its state holds. @throws
   * PreconditionError (NOT_OFFERED)
   */
  findWithVersion(tenant: Tenant, subaccountId: string): Promise<{ version: number; resource: S } | null>;
  /**
   * Refuses a subscription if no change of a balance would ever be announced. @throws PreconditionError
   * (NOT_OFFERED)
   */
  assertAnnounced(): void;
  /** Finds subaccounts in the order of the ids, null if not found. */
  findMany(tenant: Tenant, subaccountIds: readonly string[]): Promise<(S | null)[]>;
  /** Lists a range of subaccounts. @throws PreconditionError (NOT_OFFERED), as the next two */
  list(tenant: Tenant, range: ListRange & SubaccountFilter): Promise<PositionedRange<S>>;
  listPage(tenant: Tenant, page: OffsetPageQuery & SubaccountFilter): Promise<OffsetPage<S>>;
  count(tenant: Tenant, filter?: SubaccountFilter): Promise<number>;
  statement(
    tenant: Tenant,
    subaccountId: string,
    range: ListRange,
    filter?: StatementFilter,
  ): Promise<PositionedRange<E>>;
  statementPage(
    tenant: Tenant,
    subaccountId: string,
    page: OffsetPageQuery & StatementFilter,
  ): Promise<OffsetPage<E>>;
  countStatement(tenant: Tenant, subaccountId: string, filter?: StatementFilter): Promise<number>;
  /**
   * Finds a payout of a subaccount by any of the five forms of 2.2; null for a reference of another form, or
   * if there is none. A payout whose outcome is unknown is processing.
   */
  findPayout(tenant: Tenant, subaccountId: string, reference: string): Promise<P | null>;
  /** Finds the payout that the request with a key has made, of any subaccount; otherwise as `findPayout`. */
  findPayoutByKey(tenant: Tenant, idempotencyKey: string): Promise<P | null>;
  /**
   * Finds a payout with the version of the tenant's log for which its state holds, and the `resourceId` of
   * its events.
   */
  findPayoutWithVersion(
    tenant: Tenant,
    subaccountId: string,
    reference: string,
  ): Promise<{ version: number; id: string; payout: P } | null>;
  /** Finds payouts by our own ids, in the order of the ids, null if not found. */
  findPayouts(tenant: Tenant, ids: readonly string[]): Promise<(P | null)[]>;
  payouts(
    tenant: Tenant,
    subaccountId: string,
    range: ListRange & SubaccountPayoutFilter,
  ): Promise<PositionedRange<P>>;
  payoutsPage(
    tenant: Tenant,
    subaccountId: string,
    page: OffsetPageQuery & SubaccountPayoutFilter,
  ): Promise<OffsetPage<P>>;
  countPayouts(tenant: Tenant, subaccountId: string, filter: SubaccountPayoutFilter): Promise<number>;
  /**
   * Adds up the payouts of all subaccounts that a filter selects, in all and by groups. In front of another
   * service it adds up what this server has seen, and is never exact.
   */
  payoutTotals(
    tenant: Tenant,
    filter: SubaccountPayoutFilter,
    groupBy: readonly TotalsGrouping[],
  ): Promise<Totals>;
}

export interface RequestedPayout<P extends SubaccountPayout = SubaccountPayout> {
  payout: P;
  /** Whether the payout is held for verification, or the bank has not answered yet: the document's `202`. */
  underVerification: boolean;
  replayed: boolean;
}

export interface SubaccountPayoutService<P extends SubaccountPayout = SubaccountPayout> {
  /**
   * Debits a subaccount for a payout and sends it. The same idempotency key and input give the same payout
   * again, `replayed`. If the bank's answer is late, this does not wait for it: the payout is then
   * `processing`.
   * @throws ValidationError (the fees exceed the amount), NotFoundError, PreconditionError (sandbox),
   * InsufficientFundsError (the subaccount's figures), IdempotencyError
   */
  requestPayout(tenant: Tenant, input: RequestPayoutInput): Promise<RequestedPayout<P>>;
  /**
   * Asks the bank now for the state of a payout, by our own id or any reference. In front of another service
   * a payoutId finds no payout, because several subaccounts may have it.
   * @throws NotFoundError
   */
  recheck(tenant: Tenant, reference: string): Promise<void>;
}

/** The port of the service itself. */
export type OwnSubaccounts = SubaccountService<
  StoredSubaccountPayout,
  StoredSubaccount,
  StoredStatementEntry
> &
  SubaccountPayoutService<StoredSubaccountPayout>;

// ── Snapshots of events ─────────────────────────────────────────────────────────────────────────

/** A subaccount after a change, and the entry that has moved its balance; null if it was opened. */
export interface SubaccountSnapshot {
  subaccount: Subaccount;
  entry: StatementEntry | null;
}

/** Reads a snapshot back from JSON, where instants are text. */
export function subaccountFromJson(json: unknown): SubaccountSnapshot {
  const { subaccount, entry } = json as SubaccountSnapshot;
  const { createdAt } = subaccount;
  return {
    subaccount: { ...subaccount, createdAt: createdAt && new Date(createdAt) },
    entry: entry && { ...entry, createdAt: new Date(entry.createdAt) },
  };
}

const INSTANTS = ['createdAt', 'completedAt', 'reversedAt', 'claimedAt'] as const;

/** Reads a payout back from an event's snapshot in JSON, where instants are text. */
export function subaccountPayoutFromJson(json: unknown): SubaccountPayout {
  const payout = { ...(json as SubaccountPayout) };
  payout.externalId ??= null;
  payout.destinationKind ??= payout.pixKey === null ? null : kindOfPixKey(payout.pixKey);
  const raw = json as Record<(typeof INSTANTS)[number], string | null | undefined>;
  for (const field of INSTANTS) {
    const text = raw[field];
    if (text !== undefined) (payout[field] as Date | null) = text === null ? null : new Date(text);
  }
  return payout;
}
