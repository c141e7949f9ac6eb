import { z } from 'zod';
import { cents, centsAsReais } from '../kernel/money.ts';
import { LITOSHI_PER_LTC, type Wallet } from './model.ts';

/** The wallet in the REST interface (the document's 2.4): each amount in reais, and some in cents as well. */
export const walletWire = z
  .object({
    currency: z.literal('BRL'),
    balance: centsAsReais.meta({ description: 'Gross balance, in reais' }),
    balanceCents: cents.meta({ description: 'Gross balance, in cents' }),
    disputeBlocked: centsAsReais.meta({ description: 'Held by disputes, in reais; always 0 in sandbox' }),
    withdrawable: centsAsReais.meta({
      description: 'The most that a payout may take, in reais: balance - disputeBlocked - subaccountsBalance',
    }),
    withdrawableCents: cents.meta({ description: 'The same in cents' }),
    pendingRelease: centsAsReais.meta({
      description: 'Card sales awaiting release, in reais; in sandbox, test payments still pending',
    }),
    pendingReleaseCents: cents.meta({ description: 'The same in cents' }),
    subaccountsBalance: centsAsReais.nullable().meta({
      description: 'What belongs to subaccounts, in reais; null where it could not be computed',
    }),
    assignableCents: cents.nullable().meta({
      description: 'The most that a transfer to a subaccount may take; null where the sum above is',
    }),
    cryptoBalanceLtc: z.number().meta({ description: 'LTC; always 0 in sandbox' }),
    sandbox: z.literal(true).optional().meta({ description: 'Present with a test key alone' }),
  })
  .meta({ id: 'Wallet' });

export function walletToWire(wallet: Wallet): z.output<typeof walletWire> {
  return {
    currency: 'BRL',
    balance: wallet.balanceCents,
    balanceCents: wallet.balanceCents,
    disputeBlocked: wallet.disputeBlockedCents,
    withdrawable: wallet.withdrawableCents,
    withdrawableCents: wallet.withdrawableCents,
    pendingRelease: wallet.pendingReleaseCents,
    pendingReleaseCents: wallet.pendingReleaseCents,
    subaccountsBalance: wallet.subaccountsBalanceCents,
    assignableCents: wallet.assignableCents,
    cryptoBalanceLtc: wallet.cryptoBalanceLitoshi / LITOSHI_PER_LTC,
    sandbox: wallet.environment === 'sandbox' ? true : undefined,
  };
}
