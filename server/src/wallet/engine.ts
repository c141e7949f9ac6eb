import type { Database } from '../db/database.ts';
import { createSharedReads } from '../kernel/shared-reads.ts';
import { tenantKey } from '../kernel/tenant.ts';
import { readBalances, readBalancesAndSubaccounts } from '../ledger/store.ts';
import { type Wallet, type WalletService, walletOf } from './model.ts';

export function createWalletEngine({
  database,
  onFault,
}: {
  database: Database;
  /** The subaccounts' sum could not be computed; the wallet was shown without it. */
  onFault: (fault: unknown) => void;
}): WalletService {
  const shared = createSharedReads<Wallet>();
  return {
    read: (tenant) =>
      shared(tenantKey(tenant), async () => {
        try {
          const { balances, subaccountsCents } = await readBalancesAndSubaccounts(database.sql, tenant);
          return walletOf(tenant.environment, balances, subaccountsCents);
        } catch (fault) {
          onFault(fault);
          return walletOf(tenant.environment, await readBalances(database.sql, tenant), null);
        }
      }),
  };
}
