import { ValidationError } from '../../kernel/errors.ts';
import type { Cents } from '../../kernel/money.ts';
import { assertWithdrawable } from '../../state/ledger/funds.ts';
import { entryOf } from '../../state/ledger/journal.ts';
import { type Balances, type LedgerTransaction, ledgerTransaction } from '../../state/ledger/postings.ts';
import type {
  CreateSubaccountInput,
  StatementEntryKind,
  StoredStatementEntry,
  StoredSubaccount,
} from './model.ts';

/** A movement on a subaccount: its balance, its statement and the ledger change by the same amount. */
export interface SubaccountMove {
  readonly subaccount: StoredSubaccount;
  readonly entry: StoredStatementEntry;
  readonly transaction: LedgerTransaction;
}

/**
 * Decides the creation of a subaccount.
 * @throws ValidationError if the externalId belongs to a subaccount with another name
 */
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

/** Decides a transfer. @throws InsufficientFundsError above what the main account can withdraw */
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
      { ...entryOf('subaccount_transfer', 'subaccount', subaccount.id), ref: refId },
      subaccount.id,
    ),
  };
}

/** A subaccount after another entry, and the entry. */
export function withEntry(
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
