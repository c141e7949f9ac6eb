import { ValidationError } from '../../kernel/errors.ts';
import { ltcText, reaisText } from '../../kernel/money.ts';
import { methodOf } from '../../kernel/payout-methods/registry.ts';
import type { Environment } from '../../kernel/tenant.ts';
import { assertLtcWithdrawable, assertUnderCeiling, assertWithdrawable } from '../../state/ledger/funds.ts';
import type { JournalEntry } from '../../state/ledger/journal.ts';
import {
  type Balances,
  creditWithRecovery,
  type LedgerTransaction,
  ledgerTransaction,
  type Move,
} from '../../state/ledger/postings.ts';
import { assertWithinHourlyLimits, type RecentPayouts } from './limits.ts';
import {
  type AccountSettings,
  leavesUnconfirmed,
  netCents,
  netLitoshi,
  nextStatuses,
  type OwnPayout,
  type PayoutStatus,
  type RequestPayoutInput,
  variantOf,
} from './model.ts';

// Rules without I/O: from a payout's state and an event to its next state.

/**
 * The steps of one payout, each with an event; the ledger transactions; and when to ask the bank next (null:
 * never).
 */
export interface PayoutChange {
  readonly payout: OwnPayout;
  readonly steps: readonly { previous: PayoutStatus | null; payout: OwnPayout }[];
  readonly transactions: readonly LedgerTransaction[];
  readonly sendAt: Date | null;
}

/**
 * Decides a request for a payout.
 * @throws ValidationError (the amount does not exceed the fee, or exceeds a ceiling; or less is left than the
 * network carries), RateLimitError, InsufficientFundsError
 */
export function decideRequest(
  input: Omit<RequestPayoutInput, 'idempotencyKey'>,
  {
    withdrawalId,
    code,
    litoshi,
    account,
    recent,
    balances,
    now,
  }: {
    withdrawalId: string;
    code: string;
    /** The quote for the amount; null if reais are debited. */
    litoshi: number | null;
    account: AccountSettings;
    recent: RecentPayouts;
    balances: Balances;
    now: Date;
  },
): PayoutChange {
  const { method, amountCents, destination, externalId = null } = input;
  const feeCents = account.payoutFeesCents[method];
  assertAmount(input, account);
  const payout: OwnPayout = {
    withdrawalId,
    code,
    version: 1,
    method,
    status: 'pending',
    amountCents,
    feeCents,
    litoshi,
    destination,
    requestedAt: now,
    processedAt: null,
    returnedAt: null,
    deniedReason: null,
    endToEndId: null,
    externalId,
    destinationKind: variantOf(method, destination),
  };
  assertCarried(payout);
  assertWithinHourlyLimits(method, recent, now);
  if (litoshi === null) assertWithdrawable(balances, amountCents);
  else assertLtcWithdrawable(balances, { amountCents, litoshi });

  return {
    payout,
    steps: [{ previous: null, payout }],
    transactions: [
      ledgerTransaction(
        `payout.requested:${withdrawalId}`,
        [debitOf(payout)],
        entryOfPayout(payout, { feeCents: payout.feeCents }),
      ),
    ],
    sendAt: now,
  };
}

/** Refuses an amount that does not exceed the fee, or exceeds a ceiling. @throws ValidationError */
export function assertAmount(
  { method, amountCents }: Pick<RequestPayoutInput, 'method' | 'amountCents'>,
  account: AccountSettings,
): void {
  const feeCents = account.payoutFeesCents[method];
  if (amountCents <= feeCents)
    throw new ValidationError([
      {
        path: 'input.amountCents',
        message: `must be more than the fee of ${feeCents} (${reaisText(feeCents)})`,
      },
    ]);
  const { ceiling } = methodOf(method);
  assertUnderCeiling(amountCents, ceiling && account[ceiling]);
}

/** Refuses a payout that leaves less after the fee than its network carries. @throws ValidationError */
function assertCarried(payout: Pick<OwnPayout, 'method' | 'amountCents' | 'feeCents' | 'litoshi'>): void {
  const { dustLitoshi } = methodOf(payout.method);
  const leftLitoshi = netLitoshi(payout);
  if (dustLitoshi === null || leftLitoshi === null || leftLitoshi >= dustLitoshi) return;
  throw new ValidationError([
    {
      path: 'input.amountCents',
      message: `must leave at least ${ltcText(dustLitoshi)} LTC after the fee, the least that the network carries; it leaves ${ltcText(leftLitoshi)} LTC`,
    },
  ]);
}

/**
 * The state of a transfer at the bank; in the first two the money has not left. `until`: the time at which it
 * may change.
 */
export type TransferOutcome =
  | { status: 'in_verification' | 'queued' | 'sent'; until: Date | null }
  | { status: 'completed' | 'returned'; receipt: { endToEndId: string | null } }
  | { status: 'denied' | 'refused'; reason: string };

/** The pause before the next call of the bank, if it named no instant. */
export const SEND_RETRY_MS = 5_000;

/** Decides the change that follows from the bank's answer; null if the payout's outcome is known already. */
export function decideOutcome(
  payout: OwnPayout,
  {
    outcome,
    environment,
    balances,
    now,
  }: { outcome: TransferOutcome; environment: Environment; balances: Balances; now: Date },
): PayoutChange | null {
  if (nextStatuses(payout).length === 0 || (payout.status === 'completed' && outcome.status !== 'returned'))
    return null;
  switch (outcome.status) {
    case 'in_verification':
    case 'queued':
      return changeOf(payout, [], { sendAt: nextSendAt(outcome.until, now) });
    case 'sent':
      return changeOf(payout, asSent(payout), { sendAt: nextSendAt(outcome.until, now) });
    case 'completed':
      return changeOf(payout, asArrived(payout, outcome.receipt, now), {
        transactions: arrivalsOf(payout),
      });
    case 'returned': {
      if (!methodOf(payout.method).rail.comesBack)
        throw new RangeError(`a ${payout.method} payout never comes back`);
      if (environment === 'sandbox') throw new RangeError('a sandbox payout never comes back');
      const before = payout.status === 'completed' ? [] : asArrived(payout, outcome.receipt, now);
      return changeOf(payout, [...before, { status: 'returned', returnedAt: now }], {
        transactions: [
          ...(before.length > 0 ? arrivalsOf(payout) : []),
          ledgerTransaction(
            `payout.returned:${payout.withdrawalId}`,
            comebackOf(payout, balances),
            entryOfReturn(payout),
          ),
        ],
      });
    }
    case 'denied':
    case 'refused': {
      if (environment === 'sandbox') throw new RangeError('a sandbox payout is never denied');
      return changeOf(payout, [{ status: 'denied', processedAt: now, deniedReason: outcome.reason }], {
        transactions: [
          ledgerTransaction(
            `payout.denied:${payout.withdrawalId}`,
            returnOf(payout, balances),
            entryOfReturn(payout),
          ),
        ],
      });
    }
  }
}

/**
 * The step to `processing` of a payout whose money left unconfirmed; it is taken even if the first answer of
 * the bank is the arrival.
 */
function asSent({ method, status }: OwnPayout): Step[] {
  return leavesUnconfirmed(method) && status === 'pending' ? [{ status: 'processing' }] : [];
}

/** The steps to `completed`. */
function asArrived(payout: OwnPayout, { endToEndId }: { endToEndId: string | null }, now: Date): Step[] {
  return [...asSent(payout), { status: 'completed', processedAt: now, endToEndId }];
}

type Step = Pick<OwnPayout, 'status'> & Partial<OwnPayout>;

function changeOf(
  payout: OwnPayout,
  steps: readonly Step[],
  { transactions = [], sendAt = null }: { transactions?: LedgerTransaction[]; sendAt?: Date | null },
): PayoutChange {
  let current = payout;
  const taken = steps.map((step) => {
    if (!nextStatuses(current).includes(step.status))
      throw new RangeError(`a ${current.method} payout never goes from ${current.status} to ${step.status}`);
    const previous = current.status;
    current = { ...current, ...step, version: current.version + 1 };
    return { previous, payout: current };
  });
  return { payout: current, steps: taken, transactions, sendAt };
}

/** The next instant at which the bank is called: the one that it named, unless it has passed. */
function nextSendAt(until: Date | null, now: Date): Date {
  return until && until > now ? until : new Date(now.getTime() + SEND_RETRY_MS);
}

/** The debit of the whole amount, fee included. */
function debitOf({ amountCents, litoshi }: OwnPayout): Move {
  return litoshi === null
    ? { from: 'merchant_balance', to: 'payouts_in_transit', amount: amountCents }
    : { from: 'merchant_ltc', to: 'ltc_in_transit', amount: litoshi };
}

/**
 * The moves that return the whole amount of a denied payout. They first pay a debt that the merchant has run
 * up since.
 */
function returnOf({ amountCents, litoshi }: OwnPayout, balances: Balances): Move[] {
  return litoshi === null
    ? creditWithRecovery('payouts_in_transit', amountCents, balances)
    : [{ from: 'ltc_in_transit', to: 'merchant_ltc', amount: litoshi }];
}

/**
 * The moves for a completed payout whose money has come back: the whole amount, as for a denied one. They
 * first pay a debt that the merchant has run up since.
 */
function comebackOf(payout: OwnPayout, balances: Balances): Move[] {
  const { amountCents, feeCents } = payout;
  return [
    { from: 'paid_out', to: 'payouts_in_transit', amount: netCents(payout) },
    { from: 'platform_fees', to: 'payouts_in_transit', amount: feeCents },
    ...creditWithRecovery('payouts_in_transit', amountCents, balances),
  ];
}

function arrivalsOf(payout: OwnPayout): LedgerTransaction[] {
  return [
    ledgerTransaction(`payout.completed:${payout.withdrawalId}`, arrivalOf(payout), entryOfPayout(payout)),
  ];
}

function entryOfPayout(
  { code, withdrawalId }: OwnPayout,
  { kind = 'payout', feeCents = 0 }: Partial<Pick<JournalEntry, 'kind' | 'feeCents'>> = {},
): JournalEntry {
  return { kind, ref: code, resource: { type: 'payout', id: withdrawalId }, feeCents };
}

/** The whole amount comes back, so the fee does too. */
function entryOfReturn(payout: OwnPayout): JournalEntry {
  return entryOfPayout(payout, { kind: 'payout_return', feeCents: -payout.feeCents });
}

/**
 * The moves of a payout that arrives. A fee in LTC leaves with the rest, because the ledger has no account
 * for it.
 */
function arrivalOf(payout: OwnPayout): Move[] {
  const { feeCents, litoshi } = payout;
  if (litoshi !== null) return [{ from: 'ltc_in_transit', to: 'ltc_paid_out', amount: litoshi }];
  return [
    { from: 'payouts_in_transit', to: 'paid_out', amount: netCents(payout) },
    { from: 'payouts_in_transit', to: 'platform_fees', amount: feeCents },
  ];
}
