import { InsufficientFundsError, PreconditionError, ValidationError } from '../../kernel/errors.ts';
import { type Cents, reaisText } from '../../kernel/money.ts';
import { kindOfPixKey, maskPixKey } from '../../kernel/pix-key.ts';
import type { Environment } from '../../kernel/tenant.ts';
import { assertUnderCeiling } from '../../state/ledger/funds.ts';
import type { JournalEntry } from '../../state/ledger/journal.ts';
import {
  type Balances,
  creditWithRecovery,
  type LedgerTransaction,
  ledgerTransaction,
  takeOrOwe,
} from '../../state/ledger/postings.ts';
import type {
  PayoutRecord,
  RequestPayoutInput,
  StoredSubaccount,
  StoredSubaccountPayout,
  SubaccountPayoutStatus,
} from './model.ts';
import type { PayoutNames } from './names.ts';
import { type SubaccountMove, withEntry } from './transfers.ts';

/** The scheduled tasks of a payout: to send it or ask the bank about it, and to reverse it. */
export type SubaccountPayoutTask = 'subaccount_payout.send' | 'subaccount_payout.reverse';

/** A step of a payout, with the movement of money, the tasks and the event that belong to it. */
export interface SubaccountPayoutChange {
  readonly previous: StoredSubaccountPayout | null;
  readonly record: PayoutRecord;
  readonly move: SubaccountMove | null;
  /** A movement of money that does not change the subaccount. */
  readonly transaction: LedgerTransaction | null;
  readonly due: readonly { kind: SubaccountPayoutTask; at: Date }[];
  /** The event for subscribers; null if nothing has changed for them. */
  readonly event: SubaccountPayoutStatus | 'reversed' | null;
}

/** The pause before the next call of the bank about a payout with an unknown outcome. */
export const SEND_RETRY_MS = 10_000;
/** The time from a payout's failure to its reversal. */
export const REVERSES_AFTER_MS = 2_000;

/** The fees of an account that apply to its subaccounts' payouts. */
export interface PayoutTerms {
  subaccountMarkupCents: Cents;
  payoutFeesCents: { pix: Cents };
  /** The largest payout by PIX; null for no ceiling. */
  pixMaxCents: Cents | null;
}

/** Asserts that the key is a live one: test keys have no subaccount payouts (4.1.3). @throws PreconditionError */
export function assertPayoutsAvailable(environment: Environment): void {
  if (environment === 'sandbox')
    throw new PreconditionError('NOT_IN_SANDBOX', 'Subaccount payouts are not available in sandbox');
}

/**
 * Decides a request for a payout.
 * @throws ValidationError if nothing would be left after the fees, or above the account's ceiling;
 * InsufficientFundsError
 */
export function decideRequest(
  {
    amountCents,
    pixKey,
    externalId = null,
  }: Pick<RequestPayoutInput, 'amountCents' | 'pixKey' | 'externalId'>,
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
  assertUnderCeiling(amountCents, terms.pixMaxCents);
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
    externalId,
    destinationKind: kindOfPixKey(pixKey),
  };
  return {
    previous: null,
    record: { payout, destination: pixKey, agreedFeeCents, underVerification: false, turboCode: null },
    move: {
      ...withEntry(subaccount, { kind: 'payout', refId: payoutId, amountCents: -amountCents, now }),
      transaction: ledgerTransaction(
        `subaccount_payout.requested:${id}`,
        [{ from: 'merchant_subaccounts', to: 'payouts_in_transit', amount: amountCents }],
        entryOfPayout(payout, 'subaccount_payout', agreedFeeCents),
        subaccount.id,
      ),
    },
    transaction: null,
    due: [{ kind: 'subaccount_payout.send', at: new Date(now.getTime() + SEND_RETRY_MS) }],
    event: 'processing',
  };
}

/** The amount that the bank transfers and the PIX key receives: the gross amount without both fees. */
export function netOf({ payout, agreedFeeCents }: PayoutRecord): Cents {
  return payout.amountCents - payout.feeCents - agreedFeeCents;
}

/** The state of a payout's transfer at the bank. */
export type TransferOutcome =
  | { status: 'in_verification' | 'queued' | 'sent'; until: Date | null }
  | { status: 'refused'; reason: string }
  | { status: 'denied'; reason: string }
  | { status: 'completed'; receipt: Receipt }
  /** The transfer was completed, and has been returned since. */
  | { status: 'returned'; receipt: Receipt };

type Receipt = Pick<StoredSubaccountPayout, 'endToEndId' | 'recipientName' | 'recipientBankName'>;

/**
 * Decides the step of a payout that follows from the bank's answer; null if the payout has ended already. The
 * first answer that is no refusal assembles the payout: it gets its withdrawal id, code and net amount.
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
    return fail(record, record, { code: names.subCode, reason: outcome.reason, now });

  const assembled = previous.withdrawalId === null ? assemble(record, names) : record;
  if (outcome.status === 'denied')
    return fail(record, assembled, { code: assembled.payout.code, reason: outcome.reason, now });
  if (outcome.status === 'completed')
    return complete(record, assembled, { ...outcome.receipt, balances, now });
  if (outcome.status === 'returned') {
    const completed = complete(record, assembled, { ...outcome.receipt, balances, now });
    // The payout was returned before it was known to have arrived: the next lookup reverses it.
    return { ...completed, due: [{ kind: 'subaccount_payout.send', at: now }] };
  }

  const { until } = outcome;
  // An instant that has passed without a decision is ignored.
  const at = until && until > now ? until : new Date(now.getTime() + SEND_RETRY_MS);
  return {
    previous,
    record: { ...assembled, underVerification: outcome.status === 'in_verification' },
    move: null,
    transaction: null,
    due: [{ kind: 'subaccount_payout.send', at }],
    event: assembled === record ? null : 'processing',
  };
}

/**
 * Decides the reversal of a failed payout, which returns the debited amount; null if there is nothing to
 * reverse.
 */
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
    record: reversedOf(record, now),
    move: {
      ...withEntry(subaccount, { kind: 'payout_reversal', refId, amountCents, now }),
      transaction: ledgerTransaction(
        `subaccount_payout.reversed:${id}`,
        [{ from: 'payouts_in_transit', to: 'merchant_subaccounts', amount: amountCents }],
        entryOfPayout(previous, 'subaccount_payout_return', -record.agreedFeeCents),
        subaccount.id,
      ),
    },
    transaction: null,
    due: [],
    event: 'reversed',
  };
}

/**
 * Decides the reversal of a completed payout that was returned; null if there is nothing to reverse. The
 * subaccount gets the whole amount, the platform loses its fee, and the integrator returns its markup, for
 * which it may incur a debt.
 */
export function decideReturn(
  record: PayoutRecord,
  subaccount: StoredSubaccount,
  { balances, now }: { balances: Balances; now: Date },
): SubaccountPayoutChange | null {
  const { payout: previous, agreedFeeCents } = record;
  if (previous.status !== 'completed' || previous.reversed) return null;
  const { id, payoutId, amountCents, feeCents } = previous;
  const to = 'merchant_subaccounts';
  return {
    previous,
    record: reversedOf(record, now),
    move: {
      ...withEntry(subaccount, { kind: 'payout_reversal', refId: payoutId, amountCents, now }),
      transaction: ledgerTransaction(
        `subaccount_payout.returned:${id}`,
        [
          { from: 'paid_out', to, amount: netOf(record) },
          { from: 'platform_fees', to, amount: agreedFeeCents },
          ...takeOrOwe(to, feeCents, balances),
        ],
        entryOfPayout(previous, 'subaccount_payout_return', -agreedFeeCents),
        subaccount.id,
      ),
    },
    transaction: null,
    due: [],
    event: 'reversed',
  };
}

function entryOfPayout(
  { id, payoutId }: StoredSubaccountPayout,
  kind: JournalEntry['kind'],
  feeCents: Cents,
): JournalEntry {
  return { kind, ref: payoutId, resource: { type: 'subaccount_payout', id }, feeCents };
}

function reversedOf(record: PayoutRecord, now: Date): PayoutRecord {
  const { payout } = record;
  return {
    ...record,
    payout: { ...payout, version: payout.version + 1, reversed: true, reversedAt: now },
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

function complete(
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
    transaction: ledgerTransaction(
      `subaccount_payout.completed:${previous.id}`,
      [
        { from: 'payouts_in_transit', to: 'paid_out', amount: netOf(assembled) },
        { from: 'payouts_in_transit', to: 'platform_fees', amount: assembled.agreedFeeCents },
        ...creditWithRecovery('payouts_in_transit', previous.feeCents, balances),
      ],
      entryOfPayout(previous, 'subaccount_markup', 0),
    ),
    due: [],
    event: 'completed',
  };
}

function fail(
  { payout: previous }: PayoutRecord,
  assembled: PayoutRecord,
  { code, reason, now }: { code: string | null; reason: string; now: Date },
): SubaccountPayoutChange {
  const { turboCode } = assembled;
  return {
    previous,
    record: {
      ...assembled,
      underVerification: false,
      payout: {
        ...assembled.payout,
        code,
        ...(turboCode !== null && turboCode !== code && { formerCode: turboCode }),
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
