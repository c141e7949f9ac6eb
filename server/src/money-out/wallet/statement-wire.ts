import { z } from 'zod';
import { instant } from '../../kernel/instant.ts';
import { cents, LITOSHI_PER_LTC } from '../../kernel/money.ts';
import { answeredWord } from '../../kernel/text.ts';
import type { Wallet } from './model.ts';
import { type ClosingReport, WALLET_ENTRY_KINDS, type WalletChanges, type WalletEntry } from './statement.ts';

/** A kind that a newer version has written is `unknown`. */
const KINDS = [...WALLET_ENTRY_KINDS, 'unknown'] as const;

const signed = (description: string) => z.int().meta({ description });

/** The figures of a wallet at one moment of its statement, in cents throughout. */
const figuresWire = z
  .object({
    balanceCents: cents.nullable(),
    disputeBlockedCents: cents.nullable(),
    withdrawableCents: cents.nullable(),
    pendingReleaseCents: cents.nullable(),
    receivableCents: cents.nullable(),
    subaccountsBalanceCents: cents.nullable(),
    cryptoBalanceLtc: z.number().nullable(),
  })
  .meta({ id: 'WalletFigures' });

const changes = {
  amountCents: signed('Signed: the change of balanceCents'),
  subaccountsDeltaCents: signed('The change of subaccountsBalanceCents'),
  pendingReleaseDeltaCents: signed('The change of pendingReleaseCents'),
  disputeBlockedDeltaCents: signed('The change of disputeBlockedCents'),
  receivableDeltaCents: signed('The change of receivableCents: above 0 for a new debt'),
  cryptoDeltaLtc: z.number().meta({ description: 'The change of cryptoBalanceLtc' }),
  feeCents: z
    .int()
    .nullable()
    .meta({ description: 'The fee that the service took in it; below 0 for one that it gave back' }),
};

export const walletEntryWire = z
  .object({
    kind: answeredWord(KINDS),
    reference: z.string().nullable().meta({
      description: 'The id or code of what moved the money; of a refund or dispute that of its payment',
    }),
    resource: z
      .object({ type: z.string(), id: z.string() })
      .nullable()
      .meta({ description: 'The payment, charge, refund, dispute, payout or subaccount of the entry' }),
    subaccountId: z.string().nullable(),
    ...changes,
    after: figuresWire,
    createdAt: instant,
  })
  .meta({ id: 'WalletEntry' });

export const closingWire = z
  .object({
    startsAt: instant,
    endsAt: instant,
    opening: figuresWire,
    closing: figuresWire,
    lines: z.array(z.object({ kind: answeredWord(KINDS), count: z.int(), ...changes })),
  })
  .meta({
    id: 'ClosingReport',
    description: 'Each figure of opening, with its changes in lines, is that of closing',
  });

export function walletEntryToWire(entry: WalletEntry): z.output<typeof walletEntryWire> {
  const { kind, reference, resource, subaccountId, after, createdAt } = entry;
  return {
    ...{ kind, reference, resource, subaccountId },
    ...changesToWire(entry),
    after: figuresToWire(after),
    createdAt,
  };
}

export function closingToWire({
  startsAt,
  endsAt,
  opening,
  closing,
  lines,
}: ClosingReport): z.output<typeof closingWire> {
  return {
    ...{ startsAt, endsAt, opening: figuresToWire(opening), closing: figuresToWire(closing) },
    lines: lines.map((line) => ({ kind: line.kind, count: line.count, ...changesToWire(line) })),
  };
}

function changesToWire({ litoshiDelta, ...line }: WalletChanges) {
  return {
    amountCents: line.amountCents,
    subaccountsDeltaCents: line.subaccountsDeltaCents,
    pendingReleaseDeltaCents: line.pendingReleaseDeltaCents,
    disputeBlockedDeltaCents: line.disputeBlockedDeltaCents,
    receivableDeltaCents: line.receivableDeltaCents,
    cryptoDeltaLtc: litoshiDelta / LITOSHI_PER_LTC,
    feeCents: line.feeCents,
  };
}

function figuresToWire(wallet: Wallet): z.output<typeof figuresWire> {
  return {
    balanceCents: wallet.balanceCents,
    disputeBlockedCents: wallet.disputeBlockedCents,
    withdrawableCents: wallet.withdrawableCents,
    pendingReleaseCents: wallet.pendingReleaseCents,
    receivableCents: wallet.receivableCents,
    subaccountsBalanceCents: wallet.subaccountsBalanceCents,
    cryptoBalanceLtc:
      wallet.cryptoBalanceLitoshi === null ? null : wallet.cryptoBalanceLitoshi / LITOSHI_PER_LTC,
  };
}
