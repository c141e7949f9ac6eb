import { assertMayReadWallet } from '../access/model.ts';
import { Currency } from '../card-payments/schema.ts';
import { builder } from '../graphql/builder.ts';
import { callerOf } from '../graphql/context.ts';
import { tenantKey } from '../kernel/tenant.ts';
import { ltcText, type Wallet } from './model.ts';

const WalletRef = builder.objectRef<Wallet>('Wallet');

builder.node(WalletRef, {
  id: { resolve: (_, __, context) => tenantKey(callerOf(context).tenant) },
  loadOne: (tenant, context) => {
    const caller = callerOf(context);
    if (tenant !== tenantKey(caller.tenant)) return null;
    assertMayReadWallet(caller);
    return context.services.wallet.read(caller.tenant);
  },
  isTypeOf: (value) => typeof value === 'object' && value !== null && 'pendingReleaseCents' in value,
  fields: (t) => ({
    currency: t.field({ type: Currency, resolve: () => 'BRL' as const }),
    balanceCents: t.expose('balanceCents', { type: 'Cents', description: 'Gross balance.' }),
    disputeBlockedCents: t.expose('disputeBlockedCents', {
      type: 'Cents',
      description: 'Held by open or lost disputes; always 0 in sandbox.',
    }),
    withdrawableCents: t.expose('withdrawableCents', {
      type: 'Cents',
      description: 'balance - disputeBlocked - subaccounts: the most that requestPayout accepts.',
    }),
    pendingReleaseCents: t.expose('pendingReleaseCents', {
      type: 'Cents',
      description: 'Card sales awaiting release; in sandbox, test payments still pending.',
    }),
    subaccountsBalanceCents: t.expose('subaccountsBalanceCents', {
      type: 'Cents',
      nullable: true,
      description:
        'Null when it could not be computed; withdrawableCents then does not subtract it, while the debit still checks it.',
    }),
    assignableCents: t.expose('assignableCents', {
      type: 'Cents',
      nullable: true,
      description: 'The ceiling of transferToSubaccount. Null when the sum above is.',
    }),
    cryptoBalanceLtc: t.field({
      type: 'Decimal',
      resolve: ({ cryptoBalanceLitoshi }) => ltcText(cryptoBalanceLitoshi),
    }),
    sandbox: t.boolean({ resolve: ({ environment }) => environment === 'sandbox' }),
  }),
});

builder.queryField('wallet', (t) =>
  t.field({
    type: WalletRef,
    resolve: (_, __, context) => {
      const caller = callerOf(context);
      assertMayReadWallet(caller);
      return context.services.wallet.read(caller.tenant);
    },
  }),
);
