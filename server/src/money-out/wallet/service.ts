import { createCoalescedReads } from '../../kernel/coalesce.ts';
import { objectId } from '../../kernel/ids.ts';
import { type Tenant, tenantKey } from '../../kernel/tenant.ts';
import { changeOnce } from '../../state/commit/change-once.ts';
import type { Committer } from '../../state/commit/commit.ts';
import type { Database } from '../../state/db/database.ts';
import { readBalancesAndSubaccounts, readBalancesAndVersion } from '../../state/ledger/store.ts';
import {
  assertLive,
  decideCredit,
  decideCreditLtc,
  type OwnWallet,
  type WalletControls,
  type WalletService,
  walletOf,
} from './model.ts';

export function createWalletService({
  database,
  onFault,
}: {
  database: Database;
  /**
   * Called with the error if the subaccounts' sum could not be computed; the wallet is then shown without it.
   */
  onFault: (fault: unknown) => void;
}): WalletService<OwnWallet> {
  const shared = createCoalescedReads<{ version: number; wallet: OwnWallet }>();

  const readWithVersion = (tenant: Tenant) =>
    shared(tenantKey(tenant), async () => {
      try {
        const { balances, version, subaccountsCents } = await readBalancesAndSubaccounts(
          database.sql,
          tenant,
        );
        return { version, wallet: walletOf(tenant.environment, balances, subaccountsCents) };
      } catch (fault) {
        onFault(fault);
        const { balances, version } = await readBalancesAndVersion(database.sql, tenant);
        return { version, wallet: walletOf(tenant.environment, balances, null) };
      }
    });

  return {
    readWithVersion,
    read: async (tenant) => (await readWithVersion(tenant)).wallet,
  };
}

/** Implements the simulator's changes to a wallet: incoming money. */
export function createWalletControls({ committer }: { committer: Committer }): WalletControls {
  return {
    async credit(tenant, amountCents, { name } = {}) {
      assertLive(tenant.environment);
      return changeOnce(
        committer,
        tenant,
        { operation: 'credit', name, input: { amountCents } },
        {
          decide({ balances }) {
            const id = `crd_${objectId()}`;
            return { id, writes: { transactions: [decideCredit(amountCents, { id, balances })] } };
          },
        },
      );
    },

    async creditLtc(tenant, amountLitoshi, { name } = {}) {
      assertLive(tenant.environment);
      return changeOnce(
        committer,
        tenant,
        { operation: 'creditLtc', name, input: { amountLitoshi } },
        {
          decide({ balances }) {
            const id = `crd_${objectId()}`;
            return { id, writes: { transactions: [decideCreditLtc(amountLitoshi, { id, balances })] } };
          },
        },
      );
    },
  };
}
