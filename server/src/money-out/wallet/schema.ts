import { builder } from '../../api/graphql/builder.ts';
import { Currency } from '../../api/graphql/currency.ts';
import { addEntity } from '../../api/graphql/federation.ts';
import { defineUpdates } from '../../api/graphql/updates.ts';
import { assertMay, callerOf } from '../../kernel/caller.ts';
import { tenantKey } from '../../kernel/tenant.ts';
import type { SeenWallet } from './events.ts';
import { figuresOf } from './figures-schema.ts';
import { isSameWallet, isWallet, type Wallet, type WalletService, walletOf } from './model.ts';
import { commitOf, type StatementCommit } from './statement.ts';

declare module '../../api/graphql/services.ts' {
  interface PaymentsService {
    wallet: WalletService;
  }
}

export const WalletRef = builder.objectRef<Wallet>('Wallet');

addEntity(WalletRef);
builder.node(WalletRef, {
  description:
    'The balances of the account. A figure is null if the upstream service does not report it, or not in a way that can be read; the answer is then marked as stale.',
  id: { resolve: (_, __, context) => tenantKey(callerOf(context).tenant) },
  loadOne: (tenant, context) => {
    const caller = callerOf(context);
    if (tenant !== tenantKey(caller.tenant)) return null;
    assertMay(caller, 'wallet.read');
    return context.services.wallet.read(caller.tenant);
  },
  isTypeOf: (value) => typeof value === 'object' && value !== null && 'pendingReleaseCents' in value,
  fields: (t) => ({
    currency: t.field({ type: Currency, resolve: () => 'BRL' as const }),
    ...figuresOf(t),
    sandbox: t.boolean({
      description: 'Whether this is the sandbox’s wallet, in which there is no money.',
      resolve: ({ environment }) => environment === 'sandbox',
    }),
  }),
});

builder.queryField('wallet', (t) =>
  t.field({
    type: WalletRef,
    description: 'All balances of the account in this environment, at one moment.',
    resolve: (_, __, context) => {
      const caller = callerOf(context);
      assertMay(caller, 'wallet.read');
      return context.services.wallet.read(caller.tenant);
    },
  }),
);

// ── Subscription ────────────────────────────────────────────────────────────────────────────────

/** A state of the wallet, and the commit that has written its entries; null for one that has written none. */
interface WalletChange {
  wallet: Wallet;
  commit: StatementCommit | null;
}

const updates = defineUpdates<'wallet', WalletChange>({
  type: 'WalletUpdate',
  kind: 'WALLET',
  covers: 'The wallet, and each entry of its statement',
  resource: 'wallet',
  title: 'Wallet',
  isDatedByReading: true,
  fields: (t) => ({ wallet: t.field({ type: WalletRef, resolve: ({ item }) => item.wallet }) }),
  authorize: (context) => assertMay(callerOf(context), 'wallet.read'),
  // The snapshot is another service's wallet, or the ledger's balances, one of them the sum of the
  // subaccounts.
  itemOf: ({ snapshot, ...event }, context) => ({
    wallet: isWallet(snapshot)
      ? withoutEntries(snapshot)
      : walletOf(callerOf(context).tenant.environment, snapshot, snapshot.merchant_subaccounts),
    commit: commitOf({ ...event, snapshot }),
  }),
  // Many postings change nothing that a wallet shows.
  isSame: (left, right) => isSameWallet(left.wallet, right.wallet),
});

export const WalletUpdateRef = updates.type;

/** The figures of a sighting, by which two are compared. */
function withoutEntries({ entries: _, ...wallet }: SeenWallet): Wallet {
  return wallet;
}

builder.subscriptionField('walletUpdates', (t) =>
  t.field({
    type: updates.type,
    description:
      'The wallet, then the state right after each change. A client that is slower than the changes receives the newest state in place of those between.',
    args: { after: t.arg.string() },
    subscribe: (_, { after }, context) => {
      const caller = callerOf(context);
      assertMay(caller, 'wallet.read');
      return updates.follow(context, null, after, async () => {
        const { version, wallet } = await context.services.wallet.readWithVersion(caller.tenant);
        return { version, item: { wallet, commit: null }, since: null };
      });
    },
    resolve: (update) => update,
  }),
);
