import { PreconditionError, ValidationError } from '../../kernel/errors.ts';
import { type Cents, LITOSHI_PER_LTC } from '../../kernel/money.ts';
import type { Environment, Tenant } from '../../kernel/tenant.ts';
import type { JournalEntry } from '../../state/ledger/journal.ts';
import {
  type Balances,
  creditWithRecovery,
  type LedgerAccountName,
  type LedgerTransaction,
  ledgerTransaction,
  NO_BALANCES,
} from '../../state/ledger/postings.ts';

/** A wallet (the document's section 2.4), in cents throughout. */
export interface OwnWallet {
  environment: Tenant['environment'];
  /** The gross balance, with the subaccounts' share. */
  balanceCents: Cents;
  disputeBlockedCents: Cents;
  /** The most that a payout may take: balance − disputeBlocked − subaccounts, but not below 0. */
  withdrawableCents: Cents;
  pendingReleaseCents: Cents;
  /** The debt of the merchant: refunds of money that it had withdrawn. Incoming money pays it first. */
  receivableCents: Cents;
  /** The subaccounts' sum. Null if it could not be computed; then withdrawable does not subtract it. */
  subaccountsBalanceCents: Cents | null;
  /** The most that a transfer to a subaccount may take: withdrawable, or null if `subaccountsBalanceCents` is. */
  assignableCents: Cents | null;
  cryptoBalanceLitoshi: number;
}

/** A wallet as a service shows it: a figure is null if the response lacks it, or it cannot be read. */
export type Wallet = Pick<OwnWallet, 'environment'> & {
  [Figure in Exclude<keyof OwnWallet, 'environment'>]: OwnWallet[Figure] | null;
};

/** Distinguishes a wallet that another service showed from the balances of the ledger. */
export function isWallet(snapshot: Wallet | Partial<Balances>): snapshot is Wallet {
  return 'withdrawableCents' in snapshot;
}

export interface WalletService<W extends Wallet = Wallet> {
  read(tenant: Tenant): Promise<W>;
  /** Reads the wallet with the version of the tenant's log for which it holds. */
  readWithVersion(tenant: Tenant): Promise<{ version: number; wallet: W }>;
}

/**
 * Changes to a wallet that the simulator makes, not clients. They apply to live tenants alone, because the
 * balance of the sandbox consists of its test payments. Each is made once under its `name` (1 to 128 of the
 * characters of an idempotency key).
 */
export interface WalletControls {
  /**
   * Credits incoming money: it pays the merchant's debt first, the rest is added to the balance. Returns the
   * credit's id.
   * @throws ValidationError, PreconditionError (sandbox; more than can be counted), IdempotencyError
   */
  credit(tenant: Tenant, amountCents: Cents, options?: { name?: string }): Promise<string>;
  /** Credits incoming LTC, in litoshi. @throws as `credit` */
  creditLtc(tenant: Tenant, amountLitoshi: number, options?: { name?: string }): Promise<string>;
}

// ── Rules ───────────────────────────────────────────────────────────────────────────────────────

/** Computes the wallet from the ledger by the document's formula. */
export function walletOf(
  environment: Tenant['environment'],
  balances: Balances,
  subaccountsBalanceCents: Cents | null,
): OwnWallet {
  const balanceCents = balances.merchant_balance + balances.merchant_subaccounts;
  const disputeBlockedCents = balances.dispute_hold;
  const withdrawableCents = Math.max(0, balanceCents - disputeBlockedCents - (subaccountsBalanceCents ?? 0));
  return {
    environment,
    balanceCents,
    disputeBlockedCents,
    withdrawableCents,
    pendingReleaseCents: balances.merchant_pending,
    // `0 -` avoids −0.
    receivableCents: 0 - balances.merchant_receivable,
    subaccountsBalanceCents,
    assignableCents: subaccountsBalanceCents === null ? null : withdrawableCents,
    cryptoBalanceLitoshi: balances.merchant_ltc,
  };
}

/** The figures of the journal after a transaction. */
export interface WalletFigures {
  balance: Cents;
  subaccounts: Cents;
  pending: Cents;
  dispute_hold: Cents;
  ltc: number;
  receivable: Cents;
}

/** Computes the wallet from the journal; null stands for the time before the first transaction. */
export function walletOfFigures(
  environment: Tenant['environment'],
  figures: WalletFigures | null,
): OwnWallet {
  if (!figures) return walletOf(environment, NO_BALANCES, 0);
  const balances = {
    ...NO_BALANCES,
    merchant_balance: figures.balance,
    merchant_subaccounts: figures.subaccounts,
    merchant_pending: figures.pending,
    dispute_hold: figures.dispute_hold,
    merchant_ltc: figures.ltc,
    merchant_receivable: figures.receivable,
  };
  return walletOf(environment, balances, figures.subaccounts);
}

/** Whether two wallets show the same figures. */
export function isSameWallet(left: Wallet, right: Wallet): boolean {
  const fields = Object.keys(left) as (keyof Wallet)[];
  return fields.every((field) => left[field] === right[field]);
}

/** @throws PreconditionError */
export function assertLive(environment: Environment): void {
  if (environment === 'sandbox')
    throw new PreconditionError('NOT_IN_SANDBOX', 'The sandbox balance is made of test payments alone');
}

/** The upper limits of an amount: R$ 100 million, as for a card payment; a million LTC. */
export const LARGEST_CENTS = 10_000_000_000;
const LARGEST_LITOSHI = 1_000_000 * LITOSHI_PER_LTC;

/**
 * Refuses an amount that the account cannot count: half of the largest possible balance is reserved for money
 * that arrives in other ways.
 * @throws ValidationError, PreconditionError
 */
export function assertCountable(
  path: string,
  amount: number,
  { largest, account, balances }: { largest: number; account: LedgerAccountName; balances: Balances },
): void {
  if (!Number.isSafeInteger(amount) || amount < 1 || amount > largest)
    throw new ValidationError([{ path, message: `must be a whole number from 1 to ${largest}` }]);
  if (Math.abs(balances[account]) + amount > Number.MAX_SAFE_INTEGER / 2)
    throw new PreconditionError('LIMIT_REACHED', 'The account holds as much as it can count');
}

/** Credits an amount, which pays the merchant's debt first. */
export function decideCredit(
  amountCents: Cents,
  { id, balances }: { id: string; balances: Balances },
): LedgerTransaction {
  assertCountable('amountCents', amountCents, { largest: LARGEST_CENTS, account: 'received', balances });
  return ledgerTransaction(
    `credit:${id}`,
    creditWithRecovery('received', amountCents, balances),
    creditEntry(id),
  );
}

export function decideCreditLtc(
  amountLitoshi: number,
  { id, balances }: { id: string; balances: Balances },
): LedgerTransaction {
  assertCountable('amountLitoshi', amountLitoshi, {
    largest: LARGEST_LITOSHI,
    account: 'ltc_received',
    balances,
  });
  return ledgerTransaction(
    `credit_ltc:${id}`,
    [{ from: 'ltc_received', to: 'merchant_ltc', amount: amountLitoshi }],
    creditEntry(id),
  );
}

function creditEntry(id: string): JournalEntry {
  return { kind: 'credit', ref: id, resource: null, feeCents: 0 };
}
