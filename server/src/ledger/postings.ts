import type { Cents } from '../kernel/money.ts';

/**
 * A tenant's accounts. `merchant_*` is the merchant's money: in the balance, sold and awaiting release,
 * owed by the merchant (zero or less). `acquirer` is the other side, minus what the acquirer holds.
 */
export type LedgerAccountName = 'merchant_balance' | 'merchant_pending' | 'merchant_receivable' | 'acquirer';

/** Balances in cents; an account that nothing was ever posted to stands at 0. */
export type Balances = Record<LedgerAccountName, number>;

export const NO_BALANCES: Balances = {
  merchant_balance: 0,
  merchant_pending: 0,
  merchant_receivable: 0,
  acquirer: 0,
};

/** Lines that sum to zero, done once: the id is unique within the tenant, for good. */
export interface LedgerTransaction {
  readonly id: string;
  readonly lines: readonly { account: LedgerAccountName; amountCents: number }[];
}

/** Each from one account to another, so that it balances by construction. Equal accounts are netted. */
export function ledgerTransaction(
  id: string,
  moves: readonly { from: LedgerAccountName; to: LedgerAccountName; amountCents: Cents }[],
): LedgerTransaction {
  const net = new Map<LedgerAccountName, number>();
  const add = (account: LedgerAccountName, cents: number) =>
    net.set(account, (net.get(account) ?? 0) + cents);
  for (const { from, to, amountCents } of moves) {
    if (!Number.isSafeInteger(amountCents) || amountCents < 0)
      throw new RangeError(`not an amount: ${amountCents}`);
    add(from, -amountCents);
    add(to, amountCents);
  }
  const lines = [...net]
    .filter(([, cents]) => cents !== 0)
    .map(([account, amountCents]) => ({ account, amountCents }));
  if (lines.length === 0) throw new RangeError(`ledger transaction ${id} moves nothing`);
  if (!lines.every(({ amountCents }) => Number.isSafeInteger(amountCents)))
    throw new RangeError(`ledger transaction ${id} moves more than a number can hold`);
  return { id, lines };
}

/**
 * The balances after a transaction. Throws where an account would get the wrong sign (a rule upstream has failed)
 * or a sum that a number cannot hold: once stored, nothing of the tenant could be read or changed any more.
 */
export function applyToBalances(balances: Balances, transaction: LedgerTransaction): Balances {
  const after = { ...balances };
  for (const { account, amountCents } of transaction.lines) after[account] += amountCents;
  for (const account of Object.keys(after) as LedgerAccountName[]) {
    const owed = account === 'merchant_receivable' || account === 'acquirer';
    if (!Number.isSafeInteger(after[account]) || (owed ? after[account] > 0 : after[account] < 0))
      throw new RangeError(`${transaction.id} would bring ${account} to ${after[account]}`);
  }
  return after;
}
