import { z } from 'zod';
import { type JsonRecord, readAmount, readBalanceLitoshi, readRecord } from '../../kernel/lenient-json.ts';
import { cents, centsAsReais, LITOSHI_PER_LTC } from '../../kernel/money.ts';
import type { Environment } from '../../kernel/tenant.ts';
import type { OwnWallet, Wallet } from './model.ts';

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
    receivableCents: cents.meta({
      description:
        'Owed by the merchant after refunds of money that it had withdrawn: what comes in covers it first',
    }),
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

export function walletToWire(wallet: OwnWallet): z.output<typeof walletWire> {
  return {
    currency: 'BRL',
    balance: wallet.balanceCents,
    balanceCents: wallet.balanceCents,
    disputeBlocked: wallet.disputeBlockedCents,
    withdrawable: wallet.withdrawableCents,
    withdrawableCents: wallet.withdrawableCents,
    pendingRelease: wallet.pendingReleaseCents,
    pendingReleaseCents: wallet.pendingReleaseCents,
    receivableCents: wallet.receivableCents,
    subaccountsBalance: wallet.subaccountsBalanceCents,
    assignableCents: wallet.assignableCents,
    cryptoBalanceLtc: wallet.cryptoBalanceLitoshi / LITOSHI_PER_LTC,
    sandbox: wallet.environment === 'sandbox' ? true : undefined,
  };
}

// ── A wallet of another service ─────────────────────────────────────────────────────────────────

/**
 * Reads a service's wallet by the names of the document, or, if the document has no name, by the names here. A figure that is missing or
 * unreadable is null; only the document's own formula derives one. It has no floor: a merchant in debt has figures below 0.
 * Returns null if the JSON is no wallet.
 */
export function readWallet(json: unknown, environment: Environment): Wallet | null {
  const record = readRecord(json);
  if (!record) return null;
  const withdrawableCents = readFigure(record, 'withdrawable');
  const balanceCents = readFigure(record, 'balance');
  if (balanceCents === null && withdrawableCents === null) return null;
  const wallet = {
    environment,
    balanceCents,
    disputeBlockedCents: readFigure(record, 'disputeBlocked') ?? zeroInSandbox('disputeBlocked'),
    withdrawableCents,
    pendingReleaseCents: readFigure(record, 'pendingRelease'),
    receivableCents: readFigure(record, 'receivable'),
    cryptoBalanceLitoshi: readBalanceLitoshi(record.cryptoBalanceLtc) ?? zeroInSandbox('cryptoBalanceLtc'),
  };
  const subaccountsBalanceCents =
    'subaccountsBalance' in record
      ? readFigure(record, 'subaccountsBalance')
      : deriveSubaccountsBalance(wallet);
  const derived = subaccountsBalanceCents === null ? null : withdrawableCents;
  const assignableCents = 'assignableCents' in record ? readFigure(record, 'assignable') : derived;
  return { ...wallet, subaccountsBalanceCents, assignableCents };

  /** A figure that is always 0 in the sandbox (2.4), and may be missing. */
  function zeroInSandbox(name: 'disputeBlocked' | 'cryptoBalanceLtc'): 0 | null {
    return environment === 'sandbox' && !(name in record!) ? 0 : null;
  }
}

/** Reads an amount, which a wallet may have in reais and in cents; the lower one if the two contradict each other. */
function readFigure(record: JsonRecord, name: string): number | null {
  const readings = readingsOf(record, name);
  return readings.length === 0 ? null : Math.min(...readings);
}

function readingsOf(record: JsonRecord, name: string): number[] {
  const members = [name, `${name}Cents`].filter((member) => Object.hasOwn(record, member));
  return members.flatMap((member) => readAmount({ [member]: record[member] }, name) ?? []);
}

/** Whether a wallet says of one figure two things, in reais and in cents: neither is known to be right. */
export function contradictsItself(json: unknown): boolean {
  const record = readRecord(json) ?? {};
  return ['balance', 'withdrawable', 'pendingRelease', 'disputeBlocked', 'subaccountsBalance'].some(
    (name) => new Set(readingsOf(record, name)).size > 1,
  );
}

/** Whether every figure was read that the document names and does not allow to be null. */
export function isComplete(wallet: Wallet): wallet is OwnWallet {
  const { balanceCents, disputeBlockedCents, withdrawableCents, pendingReleaseCents, cryptoBalanceLitoshi } =
    wallet;
  const figures = [balanceCents, disputeBlockedCents, withdrawableCents, pendingReleaseCents];
  return ![...figures, cryptoBalanceLitoshi].includes(null);
}

/**
 * Derives the sum of the subaccounts: they own the part that is neither blocked nor withdrawable. If that part is
 * nothing, the sum may be 0 or unknown. The same holds if nothing is withdrawable: a service may show 0 for a
 * negative amount, whatever is blocked.
 */
function deriveSubaccountsBalance({
  balanceCents,
  disputeBlockedCents,
  withdrawableCents,
}: Pick<Wallet, 'balanceCents' | 'disputeBlockedCents' | 'withdrawableCents'>): number | null {
  if (balanceCents === null || disputeBlockedCents === null || !withdrawableCents) return null;
  const rest = balanceCents - disputeBlockedCents - withdrawableCents;
  return rest > 0 ? rest : null;
}
