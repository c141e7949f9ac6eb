import type { Database } from '../db/database.ts';
import { createSharedReads } from '../kernel/shared-reads.ts';
import { tenantKey } from '../kernel/tenant.ts';
import type { Balances } from '../ledger/postings.ts';
import { readBalances } from '../ledger/store.ts';
import { type WalletService, walletOf } from './model.ts';

export function createWalletEngine({ database }: { database: Database }): WalletService {
  const shared = createSharedReads<Balances>();
  return {
    async read(tenant) {
      const balances = await shared(tenantKey(tenant), () => readBalances(database.sql, tenant));
      // No dispute and no subaccount exists yet: nothing is held, and the sum over none is 0.
      return walletOf(tenant.environment, balances, { disputeBlockedCents: 0, subaccountsBalanceCents: 0 });
    },
  };
}
