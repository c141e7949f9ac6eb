import type { Tenant } from '../../server/src/kernel/tenant.ts';
import type { Sql } from '../../server/src/state/db/database.ts';
import type { JournalEntry } from '../../server/src/state/ledger/journal.ts';
import {
  type Balances,
  ledgerTransaction as build,
  type LedgerAccountName,
  type LedgerTransaction,
  type Move,
  NO_BALANCES,
} from '../../server/src/state/ledger/postings.ts';
import { readBalances } from '../../server/src/state/ledger/store.ts';

/** The accounts that stay at zero or below; all others stay at zero or above. */
const OWED: readonly LedgerAccountName[] = [
  'merchant_receivable',
  'acquirer',
  'pix_received',
  'received',
  'dispute_claims',
  'ltc_received',
];
const LITOSHI: readonly LedgerAccountName[] = [
  'merchant_ltc',
  'ltc_unmatched',
  'ltc_in_transit',
  'ltc_paid_out',
  'ltc_received',
];

export const ALL_ACCOUNTS = Object.keys(NO_BALANCES) as LedgerAccountName[];
/** The accounts between which money can move freely: those in cents without subaccounts, which need further details. */
export const CENTS_ACCOUNTS = ALL_ACCOUNTS.filter(
  (name) => !LITOSHI.includes(name) && name !== 'merchant_subaccounts',
);

export const isOwed = (name: LedgerAccountName): boolean => OWED.includes(name);

export function signsHold(balances: Balances): boolean {
  return ALL_ACCOUNTS.every((name) => (isOwed(name) ? balances[name] <= 0 : balances[name] >= 0));
}

/** The entry of a transaction whose purpose does not matter. */
export const ANY_ENTRY: JournalEntry = { kind: 'credit', ref: 'test', resource: null, feeCents: 0 };

/** A transaction whose purpose does not matter. */
export function ledgerTransaction(
  id: string,
  moves: readonly Move[],
  subaccountId: string | null = null,
): LedgerTransaction {
  return build(id, moves, ANY_ENTRY, subaccountId);
}

/** Every balance of one tenant. */
export async function balancesOf(sql: Sql, tenant: Tenant): Promise<Balances> {
  const [balances] = (await readBalances(sql, [tenant])).values();
  return balances!;
}
