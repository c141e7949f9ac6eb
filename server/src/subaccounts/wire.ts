import { z } from 'zod';
import { instant } from '../kernel/instant.ts';
import { cents } from '../kernel/money.ts';
import type { RequestedPayout, SubaccountPayout } from './model.ts';

export const subaccountWire = z
  .object({
    id: z.string().meta({ description: 'sacc_ and 32 hex digits' }),
    name: z.string(),
    externalId: z.string().nullable().meta({ description: 'The integrator’s own name for it' }),
    balanceCents: cents,
    createdAt: instant,
  })
  .meta({ id: 'Subaccount' });

export const statementEntryWire = z
  .object({
    kind: z.enum(['transfer_in', 'payout', 'payout_reversal']),
    refId: z.string().meta({
      description:
        'rep_… of a transfer, saq_… of a payout; a reversal repeats it, or has the SUB-… code of a payout refused before the bank',
    }),
    amountCents: z.int().meta({ description: 'Signed: what the entry did to the balance' }),
    balanceAfterCents: cents,
    createdAt: instant,
  })
  .meta({ id: 'StatementEntry' });

/** What a transfer answers: its entry in the statement. */
export const transferWire = z
  .object({ subaccountId: z.string(), ...statementEntryWire.shape })
  .meta({ id: 'SubaccountTransfer' });

/** The document's 2.2, in its order. */
export const subaccountPayoutWire = z
  .object({
    payoutId: z.string().nullable().meta({ description: 'The refId of its payout entry in the statement' }),
    withdrawalId: z
      .string()
      .nullable()
      .meta({ description: '24 hex digits; null while the payout is still being created' }),
    code: z
      .string()
      .nullable()
      .meta({ description: 'TURBO-…; or SUB-… for a payout refused before reaching the bank' }),
    subaccountId: z.string(),
    status: z.enum(['completed', 'processing', 'failed']).meta({
      description:
        'processing: the money may have left, do not repeat the payout. failed: nothing was sent; with reversed true the amount is back',
    }),
    reversed: z.boolean().meta({ description: 'The amount went back to the subaccount' }),
    amountCents: cents.meta({ description: 'Gross: what the subaccount was debited' }),
    feeCents: cents.meta({ description: 'The subaccount markup, included in the gross amount' }),
    platformFeeCents: cents
      .nullable()
      .meta({ description: 'Null when the payout was never assembled for sending' }),
    netAmountCents: cents.nullable().meta({
      description: 'What the PIX key receives; null when the payout was never assembled for sending',
    }),
    pixKey: z.string().nullable().meta({ description: 'Masked' }),
    endToEndId: z.string().nullable().meta({ description: 'The bank’s identifier of the PIX' }),
    recipientName: z.string().nullable(),
    recipientBankName: z.string().nullable(),
    failureReason: z.string().nullable().meta({ description: 'Only when the status is failed' }),
    createdAt: instant.meta({ description: 'When the subaccount was debited' }),
    completedAt: instant.nullable(),
    reversedAt: instant.nullable().meta({ description: 'When the reversal was entered in the statement' }),
  })
  .meta({ id: 'SubaccountPayout' });

/** What a payout request answers. */
export const requestedPayoutWire = z
  .object({
    withdrawal: z.object({
      id: z.string().nullable().meta({
        description:
          '24 hex digits; null where the payout was refused before the bank, or the bank has not answered yet',
      }),
    }),
    code: z.string().nullable(),
    status: subaccountPayoutWire.shape.status,
  })
  .meta({ id: 'RequestedSubaccountPayout' });

export function requestedPayoutToWire({ payout }: RequestedPayout): z.output<typeof requestedPayoutWire> {
  return { withdrawal: { id: payout.withdrawalId }, code: payout.code, status: payout.status };
}

// ── The webhook (section 6.3) ───────────────────────────────────────────────────────────────────

const EVENT = 'subaccount.payout';

/**
 * `subaccount.payout` at each change of status and at the reversal, with the object of 2.2. Null for a payout that
 * was just requested: what is announced carries its code, so it is announced once it has one.
 */
export function subaccountPayoutWebhook(payout: SubaccountPayout) {
  if (payout.code === null) return null;
  return { event: EVENT, ...z.encode(subaccountPayoutWire, payout) };
}
