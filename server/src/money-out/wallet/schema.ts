import { AccountUpdate, addAccountUpdates } from '../../api/graphql/account-updates.ts';
import { builder } from '../../api/graphql/builder.ts';
import { Currency } from '../../api/graphql/currency.ts';
import { addEntity } from '../../api/graphql/federation.ts';
import { assertMay, callerOf } from '../../kernel/caller.ts';
import { ltcText } from '../../kernel/money.ts';
import { type Environment, tenantKey } from '../../kernel/tenant.ts';
import type { StoredEvent } from '../../state/events/event.ts';
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

interface Update {
  cursor: string;
  occurredAt: Date;
  wallet: Wallet;
}

const WalletUpdate = builder.objectRef<Update>('WalletUpdate').implement({
  interfaces: [AccountUpdate],
  fields: (t) => ({
    cursor: t.exposeString('cursor', {
      description: 'The cursor to pass as `after` in order to continue behind this update.',
    }),
    occurredAt: t.expose('occurredAt', {
      type: 'DateTime',
      description: 'The time of the change; in the first state, the time at which it was read.',
    }),
    wallet: t.field({ type: WalletRef, resolve: ({ wallet }) => wallet }),
  }),
});

addAccountUpdates('WALLET', {
  typename: 'WalletUpdate',
  resource: 'wallet',
  follow(context) {
    const { tenant } = callerOf(context);
    assertMay(callerOf(context), 'wallet.read');
    return { toItem: (event, cursor) => eventUpdate(tenant.environment, event, cursor) };
  },
});

builder.subscriptionField('walletUpdates', (t) =>
  t.field({
    type: WalletUpdate,
    description:
      'The wallet, then the state right after each change. A client that is slower than the changes receives the newest state in place of those between.',
    args: { after: t.arg.string() },
    subscribe: (_, { after }, context) => {
      const caller = callerOf(context);
      assertMay(caller, 'wallet.read');
      const { tenant } = caller;
      return context.subscribe<Update>({
        topic: { resource: 'wallet' },
        after,
        async begin() {
          const { version, wallet } = await context.services.wallet.readWithVersion(tenant);
          const occurredAt = context.clock.now();
          return { version, first: (cursor) => ({ cursor, occurredAt, wallet }), isOver: false };
        },
        toItem: (event, cursor) => eventUpdate(tenant.environment, event, cursor),
        isLast: () => false,
        // Many postings change nothing that a wallet shows.
        coalesce: (left, right) => isSameWallet(left.wallet, right.wallet),
      });
    },
    resolve: (update) => update,
  }),
);

/**
 * An update with the wallet at the time of the change: as another service showed it, or computed from the
 * ledger's balances (one of them is the sum of the subaccounts).
 */
function eventUpdate(environment: Environment, event: StoredEvent, cursor: string): Update {
  if (event.resource !== 'wallet') throw new TypeError(`${event.kind} is not a wallet's event`);
  const { occurredAt, snapshot } = event;
  const wallet = isWallet(snapshot)
    ? snapshot
    : walletOf(environment, snapshot, snapshot.merchant_subaccounts);
  return { cursor, occurredAt, wallet };
}
