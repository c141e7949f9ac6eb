import { z } from 'zod';
import { type Cents, cents } from '../kernel/money.ts';
import { pixKeyText } from '../kernel/pix-key.ts';
import type { Tenant } from '../kernel/tenant.ts';
import { idempotencyKeyText, plainText } from '../kernel/text.ts';
import { anySubaccountId, type NamesOfPayout } from './names.ts';

// ── Subaccounts and their statements ────────────────────────────────────────────────────────────

/** What an integrator keeps for one of its customers, as far as it is known: the document shows nothing but the id. */
export interface Subaccount {
  /** `sacc_` and 32 hex. */
  id: string;
  name: string | null;
  /** The integrator's own name for it, at most one subaccount of each. */
  externalId: string | null;
  balanceCents: Cents | null;
  createdAt: Date | null;
}

export interface StoredSubaccount extends Subaccount {
  name: string;
  balanceCents: Cents;
  createdAt: Date;
}

export type StatementEntryKind = 'transfer_in' | 'payout' | 'payout_reversal';

/** A line of a statement, which is only ever appended to. */
export interface StatementEntry {
  subaccountId: string;
  kind: StatementEntryKind | 'unknown';
  /** `rep_…` of a transfer, `saq_…` of a payout, which its reversal repeats unless the payout got a `SUB-…`. */
  refId: string;
  /** Signed: what it did to the balance. */
  amountCents: number;
  balanceAfterCents: Cents | null;
  createdAt: Date;
}

export interface StoredStatementEntry extends StatementEntry {
  kind: StatementEntryKind;
  balanceAfterCents: Cents;
}

/** One of which nothing but the id could be had. */
export function unknownSubaccount(id: string): Subaccount {
  return { id, name: null, externalId: null, balanceCents: null, createdAt: null };
}

// ── Payouts (the document's 2.2 and 3.1) ────────────────────────────────────────────────────────

export type SubaccountPayoutStatus = 'processing' | 'completed' | 'failed';

/** What a payout is to whoever may see it. */
export interface SubaccountPayout {
  /** Ours, and the same whichever reference led here; the bank knows the transfer by it. */
  id: string;
  /** Grows by one with each change: of two answers the larger is the newer. */
  version: number;
  /** The `refId` of its `payout` entry: `saq_idem_<idempotencyKey>`, or `saq_` and 32 hex. */
  payoutId: string | null;
  /** 24 hex; null until it was assembled for sending. */
  withdrawalId: string | null;
  /** `TURBO-…` from when it was assembled, `SUB-…` once it was refused before any bank; null before either. */
  code: string | null;
  subaccountId: string;
  /** unknown: one that the document does not name. */
  status: SubaccountPayoutStatus | 'unknown';
  /** The amount went back to the subaccount. */
  reversed: boolean;
  /** Gross: what the subaccount was debited. */
  amountCents: Cents;
  /** Of it, what the integrator keeps; null where it is unknown. */
  feeCents: Cents | null;
  /** Of it, what the service keeps; this and the next are null until it was assembled. */
  platformFeeCents: Cents | null;
  /** What the PIX key receives. */
  netAmountCents: Cents | null;
  /** Masked. */
  pixKey: string | null;
  endToEndId: string | null;
  recipientName: string | null;
  recipientBankName: string | null;
  failureReason: string | null;
  createdAt: Date;
  completedAt: Date | null;
  reversedAt: Date | null;
  /** The outcome of its request is unknown: the service may not have made it. */
  inDoubt?: boolean | undefined;
  /** We conclude that the service has not made it; whatever the service says of it holds instead. */
  neverMade?: boolean | undefined;
  /** Since when a webhook alone says this end; absent where the service itself has said it. */
  claimedAt?: Date | undefined;
}

export interface StoredSubaccountPayout extends SubaccountPayout {
  feeCents: Cents;
  payoutId: string;
  status: SubaccountPayoutStatus;
  pixKey: string;
}

/** A payout with what the service keeps to itself. */
export interface PayoutRecord {
  payout: StoredSubaccountPayout;
  /** The whole PIX key in its normal form. */
  destination: string;
  /** The platform's fee as it was when the payout was requested. */
  agreedFeeCents: Cents;
  /** Held by the service for a look at it: the `202`. */
  underVerification: boolean;
  /** It still leads to a payout that got a `SUB-…` after it. */
  turboCode: string | null;
}

/** COMPLETED, or FAILED and reversed: nothing can come after it. */
export function isFinal({ status, reversed }: SubaccountPayout): boolean {
  return status === 'completed' || reversed;
}

/** Nothing can come after it, and the service itself has said so. */
export function isSettled(payout: SubaccountPayout): boolean {
  return isFinal(payout) && payout.claimedAt === undefined;
}

/** What the caller should do now: the document's prose on the states (3.1), as data. */
export type PayoutGuidance = 'NONE' | 'WAIT' | 'RETRY_WITH_NEW_KEY' | 'CONTACT_SUPPORT';

/** An end that only a webhook says may be corrected: a caller that acts on it could pay twice. */
export function guidanceOf({ status, reversed, claimedAt }: SubaccountPayout): PayoutGuidance {
  if (claimedAt !== undefined) return 'WAIT';
  if (status === 'processing' || status === 'unknown') return 'WAIT';
  if (status === 'completed') return 'NONE';
  return reversed ? 'RETRY_WITH_NEW_KEY' : 'CONTACT_SUPPORT';
}

// ── What a caller may ask for ───────────────────────────────────────────────────────────────────

const positiveCents = cents.refine((amount) => amount >= 1, 'must be at least 1').meta({ minimum: 1 });

export const createSubaccountInput = z.object({
  name: plainText({ max: 200 }),
  externalId: plainText({ max: 200 }).nullish(),
});
export type CreateSubaccountInput = z.infer<typeof createSubaccountInput>;

export const transferInput = z.object({
  subaccountId: anySubaccountId,
  amountCents: positiveCents,
  idempotencyKey: idempotencyKeyText.nullish(),
});
export type TransferInput = z.infer<typeof transferInput>;

export const requestPayoutInput = z.object({
  subaccountId: anySubaccountId,
  amountCents: positiveCents,
  pixKey: pixKeyText,
  idempotencyKey: idempotencyKeyText.nullish(),
});
/** The PIX key is in its normal form. */
export type RequestPayoutInput = z.infer<typeof requestPayoutInput>;

// ── The port ────────────────────────────────────────────────────────────────────────────────────

/** A page by place: `after` is the place of the last item seen. */
export interface CursorPageQuery {
  first: number;
  after?: number | undefined;
}

/** Newest first, each with its place in the list. */
export interface CursorPage<Item> {
  items: { place: number; item: Item }[];
  hasNextPage: boolean;
}

/** A page by number (the document's 2.1.6). */
export interface OffsetPageQuery {
  limit: number;
  offset: number;
}

export interface OffsetPage<Item> {
  items: Item[];
  /** How many there are in all. */
  total: number;
}

type StatusFilter = readonly SubaccountPayoutStatus[] | undefined;

/** The service itself knows all of what it shows; in front of it, less may be known. */
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
   * That a name can be one at all; in front of another service, that one is asked. `path` stands before the field's name.
   * @throws ValidationError
   */
  assertNames(names: NamesOfPayout, path?: string): void;
  /** Null where it does not exist or is another tenant's. */
  find(tenant: Tenant, subaccountId: string): Promise<S | null>;
  /** In the order asked, null where not found. */
  findMany(tenant: Tenant, subaccountIds: readonly string[]): Promise<(S | null)[]>;
  list(tenant: Tenant, page: CursorPageQuery): Promise<CursorPage<S>>;
  listPage(tenant: Tenant, page: OffsetPageQuery): Promise<OffsetPage<S>>;
  count(tenant: Tenant): Promise<number>;
  statement(tenant: Tenant, subaccountId: string, page: CursorPageQuery): Promise<CursorPage<E>>;
  statementPage(tenant: Tenant, subaccountId: string, page: OffsetPageQuery): Promise<OffsetPage<E>>;
  countStatement(tenant: Tenant, subaccountId: string): Promise<number>;
  /**
   * By any of the five forms of 2.2; null where there is none of this subaccount, or the form is none of them. One that was
   * requested, and of which nobody knows yet what became of it, is processing.
   */
  findPayout(tenant: Tenant, subaccountId: string, reference: string): Promise<P | null>;
  /** With the version of the tenant's log that the state holds for, and the id that its events have. */
  findPayoutWithVersion(
    tenant: Tenant,
    subaccountId: string,
    reference: string,
  ): Promise<{ version: number; id: string; payout: P } | null>;
  /** By our own id, in the order asked, null where not found. */
  findPayouts(tenant: Tenant, ids: readonly string[]): Promise<(P | null)[]>;
  payouts(
    tenant: Tenant,
    subaccountId: string,
    page: CursorPageQuery & { status?: StatusFilter },
  ): Promise<CursorPage<P>>;
  payoutsPage(tenant: Tenant, subaccountId: string, page: OffsetPageQuery): Promise<OffsetPage<P>>;
  countPayouts(tenant: Tenant, subaccountId: string, filter: { status?: StatusFilter }): Promise<number>;
}

export interface RequestedPayout<P extends SubaccountPayout = SubaccountPayout> {
  payout: P;
  /** Held for a look at it, or the bank has not answered yet: the document's `202`. */
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
   * Has the bank asked again, now, where a payout stands; takes our own id or any reference. In front of another service a
   * payoutId may be of several subaccounts' payouts, and leads to none. @throws NotFoundError
   */
  recheck(tenant: Tenant, reference: string): Promise<void>;
}

/** What the service itself offers. */
export type OwnSubaccounts = SubaccountService<
  StoredSubaccountPayout,
  StoredSubaccount,
  StoredStatementEntry
> &
  SubaccountPayoutService<StoredSubaccountPayout>;

// ── As an event's snapshot ──────────────────────────────────────────────────────────────────────

const INSTANTS = ['createdAt', 'completedAt', 'reversedAt', 'claimedAt'] as const;

/** A snapshot read back from JSON, where instants are text. */
export function subaccountPayoutFromJson(json: unknown): SubaccountPayout {
  const payout = { ...(json as SubaccountPayout) };
  const raw = json as Record<(typeof INSTANTS)[number], string | null | undefined>;
  for (const field of INSTANTS) {
    const text = raw[field];
    if (text !== undefined) (payout[field] as Date | null) = text === null ? null : new Date(text);
  }
  return payout;
}
