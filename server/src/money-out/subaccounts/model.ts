import { z } from 'zod';
import {
  among,
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
import { externalIdText, idempotencyKeyText, longExternalIdText, nameText } from '../../kernel/text.ts';
import type { Totals, TotalsGrouping } from '../../kernel/totals.ts';
import { anySubaccountId, type NamesOfPayout, normalizeReference } from './names.ts';

// ── Subaccounts and their statements ────────────────────────────────────────────────────────────

/**
 * A balance that an integrator keeps for one of its customers. Fields are null where they are unknown, for the document
 * shows nothing but the id.
 */
export interface Subaccount {
  /** An id: `sacc_` and 32 hex. */
  id: string;
  name: string | null;
  /** The integrator's own name for it, which no other subaccount has. */
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
   * A reference: `rep_…` of a transfer, `saq_…` of a payout, which its reversal repeats unless the payout got a `SUB-…`;
   * `psplit_…` of a split charge, `ref_…` of a refund of it.
   */
  refId: string;
  /** The signed change of the balance. */
  amountCents: number;
  balanceAfterCents: Cents | null;
  createdAt: Date;
}

/** The name of an entry among all of an account. Several subaccounts have an entry of one split charge. */
export function entryIdOf({ kind, refId, subaccountId, amountCents, createdAt }: StatementEntry): string {
  // Behind a kind that is not known may be several: an entry and its fee have one reference and one instant.
  const form = kind === 'unknown' ? `${kind}@${createdAt.getTime()}:${amountCents}` : kind;
  return `${form} ${refId} ${subaccountId.toLowerCase()}`;
}

export interface StoredStatementEntry extends StatementEntry {
  kind: StatementEntryKind;
  balanceAfterCents: Cents;
}

/** A filter of a statement. Dates are half-open: from one, before the other. */
export interface StatementFilter extends Pick<DetailFilter, 'reference' | 'amountCents'> {
  kind?: readonly StatementEntryKind[] | undefined;
  createdAfter?: Date | undefined;
  createdBefore?: Date | undefined;
}

/** The comparison that each member of the filter is. The amount is without its sign. */
const STATEMENT_CONDITIONS = {
  kind: among('kind'),
  reference: named(['refId']),
  amountCents: equal('amountCents', ({ amountCents }: StatementEntry) => Math.abs(amountCents)),
  createdAfter: from('createdAt'),
  createdBefore: before('createdAt'),
} satisfies Conditions<StatementFilter, StatementEntry>;

/** Whether an entry is one that a filter selects. */
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
  /** The program's own id, the same whichever reference led here; the bank knows the transfer by it. */
  id: string;
  /** A version that grows by one with each change: of two answers the larger is the newer. */
  version: number;
  /** The `refId` of the payout's `payout` entry: `saq_idem_<idempotencyKey>`, or `saq_` and 32 hex. */
  payoutId: string | null;
  /** An id of 24 hex; null until the payout was assembled for sending. */
  withdrawalId: string | null;
  /**
   * A code: `TURBO-…` from when the payout was assembled, `SUB-…` once it was refused before any bank; null before
   * either.
   */
  code: string | null;
  /** The code that `code` has replaced, which still leads to the payout; absent where there is none. */
  formerCode?: string | undefined;
  subaccountId: string;
  /** The status; unknown is one that the document does not name. */
  status: SubaccountPayoutStatus | 'unknown';
  /** Whether the amount went back to the subaccount. */
  reversed: boolean;
  /** The gross amount, which the subaccount was debited. */
  amountCents: Cents;
  /** The integrator's part of the amount; null where it is unknown. */
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
  /** The merchant's own number for it; several payouts may have one number. */
  externalId: string | null;
  /** The kind of the PIX key, as it was taken; null where the service does not show it. */
  destinationKind: PixKeyKind | null;
  /** The id that it had from an event, before it was known which request has made it. It leads here as well. */
  formerId?: string | undefined;
  /** Whether the outcome of the payout's request is unknown: the service may not have made the payout. */
  inDoubt?: boolean | undefined;
  /** Whether this server concludes that the service never made the payout; any state that the service shows prevails. */
  neverMade?: boolean | undefined;
  /** The instant since which only a webhook says this end; absent where the service itself has said it. */
  claimedAt?: Date | undefined;
}

export interface StoredSubaccountPayout extends SubaccountPayout {
  feeCents: Cents;
  payoutId: string;
  status: SubaccountPayoutStatus;
  pixKey: string;
}

/** A payout with the fields that callers do not see. */
export interface PayoutRecord {
  payout: StoredSubaccountPayout;
  /** The whole PIX key in its normal form. */
  destination: string;
  /** The platform's fee as it was when the payout was requested. */
  agreedFeeCents: Cents;
  /** Whether the bank holds the payout for verification: the document's `202`. */
  underVerification: boolean;
  /** The `TURBO-…` code, which still leads to the payout where a `SUB-…` has replaced it. */
  turboCode: string | null;
}

/** The conditions by which the payouts of all subaccounts are added up: by whole hours. */
export type SubaccountPayoutPeriods = Pick<
  SubaccountPayoutFilter,
  'status' | `${'created' | 'completed'}${'After' | 'Before'}`
>;

/** A filter of a subaccount's payouts. Dates are half-open: from one, before the other. */
export interface SubaccountPayoutFilter
  extends Pick<DetailFilter, 'externalId' | 'reference' | 'amountCents'> {
  status?: readonly SubaccountPayoutStatus[] | undefined;
  createdAfter?: Date | undefined;
  createdBefore?: Date | undefined;
  completedAfter?: Date | undefined;
  completedBefore?: Date | undefined;
  reversedAfter?: Date | undefined;
  reversedBefore?: Date | undefined;
}

/** The comparison that each member of the filter is, in lists and updates. */
export const subaccountPayoutConditions = {
  status: among('status'),
  externalId: equal('externalId'),
  reference: named(['payoutId', 'withdrawalId', 'code', 'formerCode', 'endToEndId'], normalizeReference),
  amountCents: equal('amountCents'),
  createdAfter: from('createdAt'),
  createdBefore: before('createdAt'),
  completedAfter: from('completedAt'),
  completedBefore: before('completedAt'),
  reversedAfter: from('reversedAt'),
  reversedBefore: before('reversedAt'),
} satisfies Conditions<SubaccountPayoutFilter, SubaccountPayout>;

/** Whether a payout is one that a filter selects. */
export function matchesPayoutFilter(payout: SubaccountPayout, filter: SubaccountPayoutFilter): boolean {
  return matches(subaccountPayoutConditions, payout, filter);
}

/** Whether a filter has a condition besides the status, by which each list is divided. */
export function hasMoreThanStatus({ status: _, ...details }: SubaccountPayoutFilter): boolean {
  return Object.values(details).some((condition) => condition !== undefined);
}

/** Whether no later state follows: COMPLETED, unless the money comes back, or reversed. */
export function isFinal({ status, reversed }: Pick<SubaccountPayout, 'status' | 'reversed'>): boolean {
  return status === 'completed' || reversed;
}

/** Whether a payout is final and the service itself has said so. */
export function isSettled(payout: SubaccountPayout): boolean {
  return isFinal(payout) && payout.claimedAt === undefined;
}

/** The caller's next step: the document's prose on the states (3.1), as data. */
export type PayoutGuidance = 'NONE' | 'WAIT' | 'RETRY_WITH_NEW_KEY' | 'CONTACT_SUPPORT';

/** The guidance for a payout. A caller that acts on an end which a webhook alone says could pay twice: it may be wrong. */
export function guidanceOf({ status, reversed, claimedAt }: SubaccountPayout): PayoutGuidance {
  if (claimedAt !== undefined || status === 'processing' || status === 'unknown') return 'WAIT';
  if (status === 'completed' && !reversed) return 'NONE';
  return reversed ? 'RETRY_WITH_NEW_KEY' : 'CONTACT_SUPPORT';
}

// ── Input ───────────────────────────────────────────────────────────────────────────────────────

const positiveCents = cents.refine((amount) => amount >= 1, 'must be at least 1').meta({ minimum: 1 });

export const createSubaccountInput = z.object({
  name: nameText({ max: 200 }),
  externalId: longExternalIdText.nullish(),
});
export type CreateSubaccountInput = z.infer<typeof createSubaccountInput>;

export const transferInput = z.object({
  subaccountId: anySubaccountId,
  amountCents: positiveCents,
  idempotencyKey: idempotencyKeyText.nullish(),
});
export type TransferInput = z.infer<typeof transferInput>;

const requestPayoutMembers = z.object({
  subaccountId: anySubaccountId,
  amountCents: positiveCents,
  pixKey: z.string(),
  pixKeyType: pixKeyType.describe(PIX_KEY_TYPE_RULE),
  externalId: externalIdText
    .nullish()
    .describe('Your own number for it; several payouts may have one number'),
  idempotencyKey: idempotencyKeyText.nullish(),
});
/** Brings the PIX key of a request into its normal form, as a key of the type that the request names. */
function withNormalKey<Input extends { pixKey: string; pixKeyType?: PixKeyKind | null | undefined }>(
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

/** A range of a list, newest first, each item with its place in the list. */
export type PlacedRange<Item> = ListedRange<{ place: number; item: Item }>;

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
   * Opens a subaccount. The same externalId and name again give the same one, `replayed`.
   * @throws ValidationError where the externalId is another subaccount's, by its name
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
  /** Finds a subaccount; null where it does not exist or is another tenant's. */
  find(tenant: Tenant, subaccountId: string): Promise<S | null>;
  /** Finds a subaccount with the version of the tenant's log at which its state holds. @throws UnavailableError (NOT_OFFERED) */
  findWithVersion(tenant: Tenant, subaccountId: string): Promise<{ version: number; subaccount: S } | null>;
  /** Refuses a subscription where no change of a balance would ever be announced. @throws UnavailableError (NOT_OFFERED) */
  assertAnnounced(): void;
  /** Finds subaccounts in the order of the ids, null where not found. */
  findMany(tenant: Tenant, subaccountIds: readonly string[]): Promise<(S | null)[]>;
  /** @throws UnavailableError NOT_OFFERED, as the next two */
  list(tenant: Tenant, range: ListRange): Promise<PlacedRange<S>>;
  listPage(tenant: Tenant, page: OffsetPageQuery): Promise<OffsetPage<S>>;
  count(tenant: Tenant): Promise<number>;
  statement(
    tenant: Tenant,
    subaccountId: string,
    range: ListRange,
    filter?: StatementFilter,
  ): Promise<PlacedRange<E>>;
  statementPage(tenant: Tenant, subaccountId: string, page: OffsetPageQuery): Promise<OffsetPage<E>>;
  countStatement(tenant: Tenant, subaccountId: string, filter?: StatementFilter): Promise<number>;
  /**
   * Finds a payout of a subaccount by any of the five forms of 2.2; null where there is none, or the form is another. A
   * payout whose outcome is unknown is processing.
   */
  findPayout(tenant: Tenant, subaccountId: string, reference: string): Promise<P | null>;
  /** Finds a payout with the version of the tenant's log that the state holds for, and the `resourceId` of its events. */
  findPayoutWithVersion(
    tenant: Tenant,
    subaccountId: string,
    reference: string,
  ): Promise<{ version: number; id: string; payout: P } | null>;
  /** Finds payouts by our own ids, in the order of the ids, null where not found. */
  findPayouts(tenant: Tenant, ids: readonly string[]): Promise<(P | null)[]>;
  payouts(
    tenant: Tenant,
    subaccountId: string,
    range: ListRange & SubaccountPayoutFilter,
  ): Promise<PlacedRange<P>>;
  payoutsPage(tenant: Tenant, subaccountId: string, page: OffsetPageQuery): Promise<OffsetPage<P>>;
  countPayouts(tenant: Tenant, subaccountId: string, filter: SubaccountPayoutFilter): Promise<number>;
  /**
   * Adds up the payouts of all subaccounts that a filter selects, whole and by groups. In front of another service: of those that
   * were seen here, and never exact.
   */
  payoutTotals(
    tenant: Tenant,
    filter: SubaccountPayoutPeriods,
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
   * Debits a subaccount for a payout and has it sent. With an idempotency key, the same key and input give the same
   * payout, `replayed`. An answer of the bank that is late is not waited for: the payout is then `processing`.
   * @throws ValidationError (an amount that the fees eat up), NotFoundError, UnavailableError (sandbox),
   * InsufficientFundsError (the subaccount's figures), IdempotencyError
   */
  requestPayout(tenant: Tenant, input: RequestPayoutInput): Promise<RequestedPayout<P>>;
  /**
   * Asks the bank now for the state of a payout, by our own id or any reference. In front of another service a payoutId
   * leads to none, for several subaccounts may have it.
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

/** A subaccount as it was after a change, and the entry that has moved its balance; null where it was opened. */
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
