import { objectId } from '../../server/src/kernel/ids.ts';
import type { Tenant } from '../../server/src/kernel/tenant.ts';
import type { Database } from '../../server/src/state/db/database.ts';
import type { LedgerAccountName } from '../../server/src/state/ledger/postings.ts';
import { post } from '../../server/src/state/ledger/store.ts';
import { ledgerTransaction } from '../support/ledger.ts';

interface Funds {
  cents?: number;
  litoshi?: number;
  /** The part of the balance that a dispute blocks. */
  heldCents?: number;
  /** The merchant's debt, after a refund that its balance did not cover. */
  owedCents?: number;
}

/** Posts money to a merchant's accounts. */
export async function fund(
  { database, tenant }: { database: Database; tenant: Tenant },
  { cents = 0, litoshi = 0, heldCents = 0, owedCents = 0 }: Funds,
): Promise<void> {
  const moves: { from: LedgerAccountName; to: LedgerAccountName; amount: number }[] = [
    { from: 'received', to: 'merchant_balance', amount: cents },
    { from: 'ltc_received', to: 'merchant_ltc', amount: litoshi },
    { from: 'dispute_claims', to: 'dispute_hold', amount: heldCents },
    { from: 'merchant_receivable', to: 'paid_out', amount: owedCents },
  ];
  const transaction = ledgerTransaction(`funds:${objectId()}`, moves);
  await post(database.sql, [{ tenant, transactions: [transaction] }], new Date('2026-01-01T00:00:00.000Z'));
}
