import type { Cents } from '../../kernel/money.ts';
import type { JournalEntry } from './journal.ts';

/**
 * The unit of an account. A transaction sums to zero in each unit separately, so one unit never makes up for
 * the other.
 */
type Unit = 'cents' | 'litoshi';

/** The accounts of a tenant, each with its unit and the sign that its balance must have. */
const ACCOUNTS = {
  /** The merchant's own money, without that of its subaccounts. */
  merchant_balance: { unit: 'cents', sign: 1 },
  /**
   * The sum of all subaccounts; each line names its subaccount. A debit of the main account reads
   * `merchant_balance` alone: it needs no sum over thousands of subaccounts, and cannot take their money.
   */
  merchant_subaccounts: { unit: 'cents', sign: 1 },
  /** Card sales that await their release. In sandbox: test payments that are still pending. */
  merchant_pending: { unit: 'cents', sign: 1 },
  /** The debt of the merchant after a refund of money that it had withdrawn. */
  merchant_receivable: { unit: 'cents', sign: -1 },
  /** Money that was debited for a refund whose outcome is not known yet. */
  refunds_in_transit: { unit: 'cents', sign: 1 },
  /** Money that was debited for a payout whose outcome is not known yet. */
  payouts_in_transit: { unit: 'cents', sign: 1 },
  /** Money that was paid out through the bank. */
  paid_out: { unit: 'cents', sign: 1 },
  /** Fees that the service earns on payouts. */
  platform_fees: { unit: 'cents', sign: 1 },
  /** The contra account of card sales: minus what the acquirer holds. */
  acquirer: { unit: 'cents', sign: -1 },
  /**
   * The contra account of PIX payments: minus the money that payers have sent and refunds have not returned.
   */
  pix_received: { unit: 'cents', sign: -1 },
  /** The contra account of money that arrived in any other way. */
  received: { unit: 'cents', sign: -1 },
  /**
   * The part of the balance that disputes hold: a pair of memo accounts, because the money stays where it is.
   * A dispute may exceed the balance.
   */
  dispute_hold: { unit: 'cents', sign: 1 },
  dispute_claims: { unit: 'cents', sign: -1 },
  merchant_ltc: { unit: 'litoshi', sign: 1 },
  /**
   * LTC that were confirmed but pay nothing: they are less than the payment's amount, or their order is
   * already paid.
   */
  ltc_unmatched: { unit: 'litoshi', sign: 1 },
  ltc_in_transit: { unit: 'litoshi', sign: 1 },
  ltc_paid_out: { unit: 'litoshi', sign: 1 },
  ltc_received: { unit: 'litoshi', sign: -1 },
} as const satisfies Record<string, { unit: Unit; sign: 1 | -1 }>;

export type LedgerAccountName = keyof typeof ACCOUNTS;

/** The balance of each account, in its unit; 0 for an account without postings. */
export type Balances = Record<LedgerAccountName, number>;

export const NO_BALANCES = Object.fromEntries(Object.keys(ACCOUNTS).map((name) => [name, 0])) as Balances;

/** An amount that moves from one account to another of the same unit. */
export interface Move {
  from: LedgerAccountName;
  to: LedgerAccountName;
  amount: number;
}

/** Lines that sum to zero, posted once: the id is unique within the tenant, for good. */
export interface LedgerTransaction {
  readonly id: string;
  readonly lines: readonly { account: LedgerAccountName; amount: number }[];
  /** The subaccount of a line of `merchant_subaccounts`; null on any other line. */
  readonly subaccountId: string | null;
  /** The purpose, which the statement of the wallet shows. */
  readonly entry: JournalEntry;
}

/**
 * Builds a transaction from moves between accounts of the same unit, so that it balances by construction. Lines of equal
 * accounts are netted. A transaction that touches `merchant_subaccounts` names one subaccount.
 */
export function ledgerTransaction(
  id: string,
  moves: readonly Move[],
  entry: JournalEntry,
  subaccountId: string | null = null,
): LedgerTransaction {
  const net = new Map<LedgerAccountName, number>();
  const add = (account: LedgerAccountName, amount: number) =>
    net.set(account, (net.get(account) ?? 0) + amount);
  for (const { from, to, amount } of moves) {
    if (!Number.isSafeInteger(amount) || amount < 0) throw new RangeError(`not an amount: ${amount}`);
    if (ACCOUNTS[from].unit !== ACCOUNTS[to].unit)
      throw new RangeError(`${from} and ${to} do not count in the same unit`);
    add(from, -amount);
    add(to, amount);
  }
  const lines = [...net]
    .filter(([, amount]) => amount !== 0)
    .map(([account, amount]) => ({ account, amount }));
  if (lines.length === 0) throw new RangeError(`ledger transaction ${id} moves nothing`);
  if (!lines.every(({ amount }) => Number.isSafeInteger(amount)))
    throw new RangeError(`ledger transaction ${id} moves more than a number can hold`);
  if (lines.some(({ account }) => account === 'merchant_subaccounts') !== (subaccountId !== null))
    throw new RangeError(`ledger transaction ${id} names a subaccount that it does not touch, or none`);
  return { id, lines, subaccountId, entry };
}

/**
 * Credits cents to the merchant's own balance, from any source: its debt is paid first. Otherwise the
 * merchant could spend them while it owes, since a debit reads the balance alone.
 */
export function creditWithRecovery(from: LedgerAccountName, amount: Cents, balances: Balances): Move[] {
  const owed = Math.min(amount, -balances.merchant_receivable);
  return [
    { from, to: 'merchant_receivable', amount: owed },
    { from, to: 'merchant_balance', amount: amount - owed },
  ];
}

/** Takes cents from the merchant's own balance. Cents beyond the balance become a debt of the merchant. */
export function takeOrOwe(to: LedgerAccountName, amount: Cents, balances: Balances): Move[] {
  const fromBalance = Math.min(amount, balances.merchant_balance);
  return [
    { from: 'merchant_balance', to, amount: fromBalance },
    { from: 'merchant_receivable', to, amount: amount - fromBalance },
  ];
}

/**
 * The balances after a transaction. Throws if an account would have the wrong sign (an earlier rule has
 * failed) or a sum beyond the safe integers: once stored, nothing of the tenant could be read or changed any
 * more.
 */
export function applyToBalances(balances: Balances, transaction: LedgerTransaction): Balances {
  const after = { ...balances };
  for (const { account, amount } of transaction.lines) after[account] += amount;
  for (const { account } of transaction.lines)
    if (!Number.isSafeInteger(after[account]) || after[account] * ACCOUNTS[account].sign < 0)
      throw new RangeError(`${transaction.id} would bring ${account} to ${after[account]}`);
  return after;
}

/** The accounts whose balances the wallet shows, in the order of the journal's columns. */
export const FIGURES = [
  'merchant_balance',
  'merchant_subaccounts',
  'merchant_pending',
  'dispute_hold',
  'merchant_ltc',
  'merchant_receivable',
] as const satisfies readonly LedgerAccountName[];

const SHOWN: ReadonlySet<LedgerAccountName> = new Set(FIGURES);

/** Whether a transaction moves a figure of the wallet, and is an entry of its statement by that. */
export function movesFigure({ lines }: Pick<LedgerTransaction, 'lines'>): boolean {
  return lines.some(({ account }) => SHOWN.has(account));
}
