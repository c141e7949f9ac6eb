import { builder } from '../../api/graphql/builder.ts';
import { Currency } from '../../api/graphql/currency.ts';
import { addEntity } from '../../api/graphql/federation.ts';
import { defineUpdates } from '../../api/graphql/updates.ts';
import { assertMay, callerOf } from '../../kernel/caller.ts';
import { ltcText } from '../../kernel/money.ts';
import { tenantKey } from '../../kernel/tenant.ts';
import { isSameWallet, isWallet, type Wallet, type WalletService, walletOf } from './model.ts';

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
    balanceCents: t.expose('balanceCents', {
      type: 'Cents',
      nullable: true,
      description:
        'The gross balance in cents, including what disputes block and what belongs to subaccounts.',
    }),
    disputeBlockedCents: t.expose('disputeBlockedCents', {
      type: 'Cents',
      nullable: true,
      description: 'The amount in cents held by open or lost disputes; always 0 in sandbox.',
    }),
    withdrawableCents: t.expose('withdrawableCents', {
      type: 'Cents',
      nullable: true,
      description: 'The most in cents that requestPayout accepts: balance - disputeBlocked - subaccounts.',
    }),
    pendingReleaseCents: t.expose('pendingReleaseCents', {
      type: 'Cents',
      nullable: true,
      description:
        'The amount in cents of card sales that await release; in sandbox, of test payments still pending.',
    }),
    receivableCents: t.expose('receivableCents', {
      type: 'Cents',
      nullable: true,
      description:
        'The amount in cents that the account owes, from refunds of money that it had withdrawn. Incoming money covers it first, and only the rest is in the balance.',
    }),
    subaccountsBalanceCents: t.expose('subaccountsBalanceCents', {
      type: 'Cents',
      nullable: true,
      description:
        'The amount in cents that belongs to subaccounts. Null if it could not be computed; withdrawableCents then does not subtract it, while the debit still checks it.',
    }),
    assignableCents: t.expose('assignableCents', {
      type: 'Cents',
      nullable: true,
      description:
        'The largest amount in cents that transferToSubaccount accepts. Null if subaccountsBalanceCents is null.',
    }),
    cryptoBalanceLtc: t.field({
      type: 'Decimal',
      nullable: true,
      description: 'The balance in LTC, from which payouts by LTC are made; null if it is not known.',
      resolve: ({ cryptoBalanceLitoshi }) =>
        cryptoBalanceLitoshi === null ? null : ltcText(cryptoBalanceLitoshi),
    }),
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

const updates = defineUpdates<'wallet', Wallet>({
  type: 'WalletUpdate',
  kind: 'WALLET',
  covers: 'The wallet',
  resource: 'wallet',
  title: 'Wallet',
  isDatedByReading: true,
  fields: (t) => ({ wallet: t.field({ type: WalletRef, resolve: ({ item }) => item }) }),
  authorize: (context) => assertMay(callerOf(context), 'wallet.read'),
  // The snapshot is another service's wallet, or the ledger's balances, one of them the sum of the
  // subaccounts.
  itemOf: ({ snapshot }, context) =>
    isWallet(snapshot)
      ? snapshot
      : walletOf(callerOf(context).tenant.environment, snapshot, snapshot.merchant_subaccounts),
  // Many postings change nothing that a wallet shows.
  isSame: isSameWallet,
});

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
        return { version, item: wallet, since: null };
      });
    },
    resolve: (update) => update,
  }),
);
