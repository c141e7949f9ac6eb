import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { CLAIM_HOLDS_MS, type Source } from '../kernel/authority.ts';
import { InsufficientFundsError, UnavailableError, ValidationError } from '../kernel/errors.ts';
import { objectId, readableCode } from '../kernel/ids.ts';
import { type Cents, cents, reaisText } from '../kernel/money.ts';
import { maskPixKey, pixKeyText } from '../kernel/pix-key.ts';
import type { Environment, Tenant } from '../kernel/tenant.ts';
import { idempotencyKeyText, plainText } from '../kernel/text.ts';
import {
  type Balances,
  creditWithRecovery,
  type LedgerTransaction,
  ledgerTransaction,
} from '../ledger/postings.ts';
import { assertWithdrawable } from '../wallet/model.ts';

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

const SUBACCOUNT_ID = /^sacc_[0-9a-f]{32}$/;

export function newSubaccountId(): string {
  return `sacc_${randomBytes(16).toString('hex')}`;
}

export function newTransferReference(): string {
  return `rep_${randomBytes(16).toString('hex')}`;
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

/** The five forms of 2.2, of which the two that begin with `saq_` are one column. */
export type ReferenceKind = 'withdrawalId' | 'turboCode' | 'payoutId' | 'subCode';

const REFERENCES: readonly [RegExp, ReferenceKind][] = [
  [/^[0-9a-f]{24}$/, 'withdrawalId'],
  [/^TURBO-[0-9A-Z]{1,64}$/, 'turboCode'],
  [/^SUB-[0-9A-Z]{1,64}$/, 'subCode'],
  [/^saq_(?:[0-9a-f]{32}|idem_[A-Za-z0-9_\-.:]{1,128})$/, 'payoutId'],
];

/** Which of the forms a reference has; null where it has none. */
export function referenceKind(reference: string): ReferenceKind | null {
  return REFERENCES.find(([form]) => form.test(reference))?.[1] ?? null;
}

/** Of a tenant there is one payout a key, so nobody's key can lead to a payout that was made without it. */
export function payoutReference(idempotencyKey: string | null | undefined): string {
  return idempotencyKey == null ? `saq_${randomBytes(16).toString('hex')}` : `saq_idem_${idempotencyKey}`;
}

/** Fresh names for a payout, of which it takes what it needs. */
export interface PayoutNames {
  withdrawalId: string;
  turboCode: string;
  subCode: string;
}

export function newPayoutNames(): PayoutNames {
  return {
    withdrawalId: objectId(),
    turboCode: `TURBO-${readableCode(12)}`,
    subCode: `SUB-${readableCode(12)}`,
  };
}

export function newPayoutKey(): string {
  return `sqp_${randomBytes(16).toString('hex')}`;
}

// ── What a caller may ask for ───────────────────────────────────────────────────────────────────

/** One that we issue. */
export const subaccountIdText = z
  .string()
  .regex(SUBACCOUNT_ID, 'must be sacc_ and 32 hex digits, in lower case');

/** One that another service may have issued, in a form of its own. */
export const anySubaccountId = z.string().regex(/^sacc_[\w.-]{1,64}$/, 'must be sacc_ and what follows it');

const NO_REFERENCE =
  'must be a withdrawal id (24 hex digits, in lower case), a TURBO- or SUB- code, or a saq_ reference';

/** One that we issue. */
export const payoutReferenceText = z.string().refine((text) => referenceKind(text) !== null, NO_REFERENCE);

/** One that another service may have issued, in a form of its own. */
export const anyPayoutReference = z
  .string()
  .regex(/^(?!\.{1,2}$)[\x21-\x7e]{1,200}$/, 'must be 1 to 200 printable characters without spaces');

/** @throws ValidationError for what this service would never issue */
export function assertOwnNames({ subaccountId, reference }: NamesOfPayout, path = ''): void {
  if (subaccountId != null && !SUBACCOUNT_ID.test(subaccountId))
    throw new ValidationError([
      { path: `${path}subaccountId`, message: 'must be sacc_ and 32 hex digits, in lower case' },
    ]);
  if (reference != null && referenceKind(reference) === null)
    throw new ValidationError([{ path: `${path}reference`, message: NO_REFERENCE }]);
}

export interface NamesOfPayout {
  subaccountId?: string | null | undefined;
  reference?: string | null | undefined;
}

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

// ── Rules: pure, from what is and what happened to what shall be ────────────────────────────────

/** What a step does to a subaccount, its statement and the ledger, all three the same. */
export interface SubaccountMove {
  readonly subaccount: StoredSubaccount;
  readonly entry: StoredStatementEntry;
  readonly transaction: LedgerTransaction;
}

/** @throws ValidationError where the externalId leads to a subaccount of another name */
export function decideCreate(
  input: CreateSubaccountInput,
  { id, existing, now }: { id: string; existing: StoredSubaccount | null; now: Date },
): { subaccount: StoredSubaccount; replayed: boolean } {
  if (existing && existing.name !== input.name)
    throw new ValidationError([
      { path: 'input.externalId', message: 'is already used by a subaccount of another name' },
    ]);
  if (existing) return { subaccount: existing, replayed: true };
  const { name, externalId = null } = input;
  return { subaccount: { id, name, externalId, balanceCents: 0, createdAt: now }, replayed: false };
}

/** @throws InsufficientFundsError above what the main account can withdraw */
export function decideTransfer(
  subaccount: StoredSubaccount,
  { amountCents, refId, balances, now }: { amountCents: Cents; refId: string; balances: Balances; now: Date },
): SubaccountMove {
  assertWithdrawable(balances, amountCents);
  return {
    ...withEntry(subaccount, { kind: 'transfer_in', refId, amountCents, now }),
    transaction: ledgerTransaction(
      `subaccount.transfer_in:${refId}`,
      [{ from: 'merchant_balance', to: 'merchant_subaccounts', amount: amountCents }],
      subaccount.id,
    ),
  };
}

/** Work that waits for an instant. */
export type SubaccountPayoutTask = 'subaccount_payout.send' | 'subaccount_payout.reverse';

/** One payout's step, with what goes with it. */
export interface SubaccountPayoutChange {
  readonly previous: StoredSubaccountPayout | null;
  readonly record: PayoutRecord;
  readonly move: SubaccountMove | null;
  /** Money that moves without the subaccount. */
  readonly transaction: LedgerTransaction | null;
  readonly due: readonly { kind: SubaccountPayoutTask; at: Date }[];
  /** What subscribers are told; null where nothing has changed for them. */
  readonly event: SubaccountPayoutStatus | 'reversed' | null;
}

/** A payout whose outcome is not known is asked for again after so long. */
export const ASK_AGAIN_AFTER_MS = 10_000;
/** From the failure of a payout to its reversal. */
export const REVERSES_AFTER_MS = 2_000;

/** What an account settles of its subaccounts' payouts. */
export interface PayoutTerms {
  subaccountMarkupCents: Cents;
  payoutFeesCents: { pix: Cents };
}

/** @throws UnavailableError with a test key: subaccount payouts exist only with live keys (4.1.3) */
export function assertPayoutsAvailable(environment: Environment): void {
  if (environment === 'sandbox')
    throw new UnavailableError('NOT_IN_SANDBOX', 'Subaccount payouts are not available in sandbox');
}

/** @throws ValidationError where nothing would be left after the fees, InsufficientFundsError */
export function decideRequest(
  { amountCents, pixKey }: Pick<RequestPayoutInput, 'amountCents' | 'pixKey'>,
  {
    id,
    payoutId,
    subaccount,
    terms,
    now,
  }: { id: string; payoutId: string; subaccount: StoredSubaccount; terms: PayoutTerms; now: Date },
): SubaccountPayoutChange {
  const feeCents = terms.subaccountMarkupCents;
  const agreedFeeCents = terms.payoutFeesCents.pix;
  if (amountCents <= feeCents + agreedFeeCents)
    throw new ValidationError([
      {
        path: 'input.amountCents',
        message: `must be more than the fees, which are ${feeCents + agreedFeeCents}`,
      },
    ]);
  if (amountCents > subaccount.balanceCents)
    throw new InsufficientFundsError(
      `${reaisText(amountCents)} is more than the subaccount's balance, which is ${reaisText(subaccount.balanceCents)}`,
      {
        requestedCents: amountCents,
        withdrawableCents: subaccount.balanceCents,
        balanceCents: subaccount.balanceCents,
        disputeBlockedCents: 0,
        subaccountsBalanceCents: null,
        cryptoBalanceLitoshi: null,
      },
    );
  const payout: StoredSubaccountPayout = {
    id,
    version: 1,
    payoutId,
    withdrawalId: null,
    code: null,
    subaccountId: subaccount.id,
    status: 'processing',
    reversed: false,
    amountCents,
    feeCents,
    platformFeeCents: null,
    netAmountCents: null,
    pixKey: maskPixKey(pixKey),
    endToEndId: null,
    recipientName: null,
    recipientBankName: null,
    failureReason: null,
    createdAt: now,
    completedAt: null,
    reversedAt: null,
  };
  return {
    previous: null,
    record: { payout, destination: pixKey, agreedFeeCents, underVerification: false, turboCode: null },
    move: {
      ...withEntry(subaccount, { kind: 'payout', refId: payoutId, amountCents: -amountCents, now }),
      transaction: ledgerTransaction(
        `subaccount_payout.requested:${id}`,
        [{ from: 'merchant_subaccounts', to: 'payouts_in_transit', amount: amountCents }],
        subaccount.id,
      ),
    },
    transaction: null,
    due: [{ kind: 'subaccount_payout.send', at: new Date(now.getTime() + ASK_AGAIN_AFTER_MS) }],
    event: 'processing',
  };
}

/** What the bank is told of a payout: what the PIX key receives, both fees taken off. */
export function netOf({ payout, agreedFeeCents }: PayoutRecord): Cents {
  return payout.amountCents - payout.feeCents - agreedFeeCents;
}

/** Where the transfer of a payout stands. */
export type TransferOutcome =
  | { status: 'in_verification' | 'queued' | 'sent'; until: Date | null }
  | { status: 'refused'; reason: string }
  | { status: 'denied'; reason: string }
  | {
      status: 'completed';
      receipt: { endToEndId: string | null; recipientName: string | null; recipientBankName: string | null };
    };

/**
 * What the bank's answer makes of a payout; null where it changes nothing. The first answer but a refusal assembles
 * it. A repeated or late answer about a payout that has ended changes nothing.
 */
export function decideOutcome(
  record: PayoutRecord,
  {
    outcome,
    names,
    balances,
    now,
  }: { outcome: TransferOutcome; names: PayoutNames; balances: Balances; now: Date },
): SubaccountPayoutChange | null {
  const { payout: previous } = record;
  if (previous.status !== 'processing') return null;
  if (outcome.status === 'refused')
    return failed(record, record, { code: names.subCode, reason: outcome.reason, now });

  const assembled = previous.withdrawalId === null ? assemble(record, names) : record;
  if (outcome.status === 'denied')
    return failed(record, assembled, { code: assembled.payout.code, reason: outcome.reason, now });
  if (outcome.status === 'completed')
    return completed(record, assembled, { ...outcome.receipt, balances, now });

  const { until } = outcome;
  // An instant that has passed without a decision is as good as none.
  const at = until && until > now ? until : new Date(now.getTime() + ASK_AGAIN_AFTER_MS);
  return {
    previous,
    record: { ...assembled, underVerification: outcome.status === 'in_verification' },
    move: null,
    transaction: null,
    due: [{ kind: 'subaccount_payout.send', at }],
    event: assembled === record ? null : 'processing',
  };
}

/** Once, some time after the failure: what was debited goes back. */
export function decideReverse(
  record: PayoutRecord,
  subaccount: StoredSubaccount,
  now: Date,
): SubaccountPayoutChange | null {
  const { payout: previous } = record;
  if (previous.status !== 'failed' || previous.reversed) return null;
  const { id, payoutId, code, amountCents } = previous;
  const refId = code?.startsWith('SUB-') ? code : payoutId;
  return {
    previous,
    record: {
      ...record,
      payout: { ...previous, version: previous.version + 1, reversed: true, reversedAt: now },
    },
    move: {
      ...withEntry(subaccount, { kind: 'payout_reversal', refId, amountCents, now }),
      transaction: ledgerTransaction(
        `subaccount_payout.reversed:${id}`,
        [{ from: 'payouts_in_transit', to: 'merchant_subaccounts', amount: amountCents }],
        subaccount.id,
      ),
    },
    transaction: null,
    due: [],
    event: 'reversed',
  };
}

function assemble(record: PayoutRecord, { withdrawalId, turboCode }: PayoutNames): PayoutRecord {
  const payout: StoredSubaccountPayout = {
    ...record.payout,
    version: record.payout.version + 1,
    withdrawalId,
    code: turboCode,
    platformFeeCents: record.agreedFeeCents,
    netAmountCents: netOf(record),
  };
  return { ...record, payout, turboCode };
}

function completed(
  { payout: previous }: PayoutRecord,
  assembled: PayoutRecord,
  {
    balances,
    now,
    ...receipt
  }: Pick<StoredSubaccountPayout, 'endToEndId' | 'recipientName' | 'recipientBankName'> & {
    balances: Balances;
    now: Date;
  },
): SubaccountPayoutChange {
  return {
    previous,
    record: {
      ...assembled,
      underVerification: false,
      payout: {
        ...assembled.payout,
        ...receipt,
        version: previous.version + 1,
        status: 'completed',
        completedAt: now,
      },
    },
    move: null,
    transaction: ledgerTransaction(`subaccount_payout.completed:${previous.id}`, [
      { from: 'payouts_in_transit', to: 'paid_out', amount: netOf(assembled) },
      { from: 'payouts_in_transit', to: 'platform_fees', amount: assembled.agreedFeeCents },
      ...creditWithRecovery('payouts_in_transit', previous.feeCents, balances),
    ]),
    due: [],
    event: 'completed',
  };
}

function failed(
  { payout: previous }: PayoutRecord,
  assembled: PayoutRecord,
  { code, reason, now }: { code: string | null; reason: string; now: Date },
): SubaccountPayoutChange {
  return {
    previous,
    record: {
      ...assembled,
      underVerification: false,
      payout: {
        ...assembled.payout,
        code,
        version: previous.version + 1,
        status: 'failed',
        failureReason: reason,
      },
    },
    move: null,
    transaction: null,
    due: [{ kind: 'subaccount_payout.reverse', at: new Date(now.getTime() + REVERSES_AFTER_MS) }],
    event: 'failed',
  };
}

/** A subaccount after one more entry, and the entry. */
function withEntry(
  subaccount: StoredSubaccount,
  {
    kind,
    refId,
    amountCents,
    now,
  }: { kind: StatementEntryKind; refId: string; amountCents: number; now: Date },
): { subaccount: StoredSubaccount; entry: StoredStatementEntry } {
  const balanceAfterCents = subaccount.balanceCents + amountCents;
  return {
    subaccount: { ...subaccount, balanceCents: balanceAfterCents },
    entry: { subaccountId: subaccount.id, kind, refId, amountCents, balanceAfterCents, createdAt: now },
  };
}

// ── What is seen of a payout from outside ───────────────────────────────────────────────────────

/** A payout as the service showed it, in an answer or in an event. */
export type UpstreamPayout = Omit<SubaccountPayout, 'id' | 'version'>;

/** How far it is along (3.1). */
function progressOf({ status, reversed, inDoubt, neverMade }: UpstreamPayout): number {
  if (inDoubt || neverMade) return -1;
  if (status === 'unknown') return 0;
  if (status === 'processing') return 1;
  return reversed ? 3 : 2;
}

/**
 * What a payout is after it was seen once more; null where nothing is new. Answers and events come in any order, twice
 * and late: the status goes forward, and what was once known stays known. An end can be corrected by the service alone,
 * in an answer that is newer than what is known.
 */
export function mergeUpstreamPayout(
  known: SubaccountPayout | null,
  given: UpstreamPayout,
  newId: string,
  source: Source,
): SubaccountPayout | null {
  const seen = normalize(given);
  const claimedAt = source.by === 'event' && isEnd(seen) ? source.at : undefined;
  if (!known) return { id: newId, version: 1, ...seen, ...(claimedAt && { claimedAt }) };
  const says = saysTheSame(known, seen);
  const turns = !says && prevails(known, seen, source);
  // It says that the payout ended otherwise than it did.
  if (!says && !turns && progressOf(seen) >= progressOf(known)) return null;
  // Of one that turns out to have been made after all, these were ours. Where another system has used its key, so was the
  // amount.
  const ours = known.neverMade ? { failureReason: null, reversedAt: null } : {};
  const isRequest = known.inDoubt || known.neverMade;
  const [newer, older] = turns ? [seen, { ...known, ...ours }] : [known, seen];
  const holds = turns ? claimedAt : says && source.by === 'service' ? undefined : known.claimedAt;
  const { inDoubt: _, neverMade: __, claimedAt: ___, ...rest } = known;
  const merged: SubaccountPayout = {
    ...rest,
    ...normalize({
      ...rest,
      status: newer.status,
      reversed: newer.reversed,
      amountCents: isRequest ? newer.amountCents : known.amountCents,
      payoutId: known.payoutId ?? seen.payoutId,
      withdrawalId: newer.withdrawalId ?? older.withdrawalId,
      // A payout refused by the bank after all has its TURBO-… replaced.
      code: newer.code ?? older.code,
      feeCents: known.feeCents ?? seen.feeCents,
      platformFeeCents: newer.platformFeeCents ?? older.platformFeeCents,
      netAmountCents: newer.netAmountCents ?? older.netAmountCents,
      pixKey: known.pixKey ?? seen.pixKey,
      endToEndId: newer.endToEndId ?? older.endToEndId,
      recipientName: newer.recipientName ?? older.recipientName,
      recipientBankName: newer.recipientBankName ?? older.recipientBankName,
      failureReason: newer.failureReason ?? older.failureReason,
      completedAt: newer.completedAt ?? older.completedAt,
      reversedAt: newer.reversedAt ?? older.reversedAt,
    }),
    ...(holds && { claimedAt: holds }),
    ...(!turns && known.neverMade && { neverMade: true }),
    ...(newer.inDoubt && { inDoubt: true }),
  };
  if (isSame(known, merged)) return null;
  return { ...merged, version: known.version + 1 };
}

function isEnd({ status, reversed }: UpstreamPayout): boolean {
  return status === 'completed' || reversed;
}

function saysTheSame(known: UpstreamPayout, seen: UpstreamPayout): boolean {
  return progressOf(known) === progressOf(seen) && known.status === seen.status;
}

/** Whether what was seen takes the place of what is known. */
function prevails(known: SubaccountPayout, seen: UpstreamPayout, { by, at, knownAt }: Source): boolean {
  const isForward = progressOf(seen) > progressOf(known);
  if (!isEnd(known) || known.neverMade) {
    const isOtherEnd = known.status === 'failed' && seen.status === 'completed' && !known.neverMade;
    return isOtherEnd ? by === 'service' && (!knownAt || at > knownAt) : isForward;
  }
  if (by === 'event') return false;
  const { claimedAt } = known;
  // An end that the service itself has said does not become open again: such an answer is an older one.
  if (progressOf(seen) < 2 || (known.reversed && seen.status === 'failed' && !seen.reversed))
    return claimedAt !== undefined && at.getTime() >= claimedAt.getTime() + CLAIM_HOLDS_MS;
  const said = claimedAt ?? knownAt;
  return !said || at > said;
}

/** What has no place beside its status (2.2), whoever says it. */
function normalize<Payout extends UpstreamPayout>(payout: Payout): Payout {
  const failed = payout.status === 'failed';
  const reversed = failed && payout.reversed;
  return {
    ...payout,
    reversed,
    reversedAt: reversed ? payout.reversedAt : null,
    failureReason: failed ? payout.failureReason : null,
    recipientName: failed ? null : payout.recipientName,
    recipientBankName: failed ? null : payout.recipientBankName,
    completedAt: payout.status === 'completed' ? payout.completedAt : null,
  };
}

function isSame(left: SubaccountPayout, right: SubaccountPayout): boolean {
  const shown = (value: unknown) => (value instanceof Date ? value.getTime() : value);
  const fields = Object.keys({ ...left, ...right }) as (keyof SubaccountPayout)[];
  return fields.every((field) => shown(left[field]) === shown(right[field]));
}

/** What subscribers are told of it. */
export function eventOf({ status, reversed }: SubaccountPayout): SubaccountPayout['status'] | 'reversed' {
  return reversed ? 'reversed' : status;
}

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
