import { z } from 'zod';
import { instant } from '../kernel/instant.ts';
import {
  findMember,
  type JsonRecord,
  readAmount,
  readCents,
  readInstant,
  readRecord,
  readRecords,
  readText,
  readWord,
} from '../kernel/lenient-json.ts';
import { cents } from '../kernel/money.ts';
import type {
  RequestedPayout,
  StatementEntry,
  StatementEntryKind,
  StoredSubaccountPayout,
  Subaccount,
  SubaccountPayout,
  SubaccountPayoutStatus,
} from './model.ts';
import { anySubaccountId } from './names.ts';
import type { UpstreamPayout } from './upstream-payout.ts';

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

export function requestedPayoutToWire({
  payout,
}: RequestedPayout<StoredSubaccountPayout>): z.output<typeof requestedPayoutWire> {
  return { withdrawal: { id: payout.withdrawalId }, code: payout.code, status: payout.status };
}

// ── The webhook (section 6.3) ───────────────────────────────────────────────────────────────────

const EVENT = 'subaccount.payout';

/**
 * `subaccount.payout` at each change of status and at the reversal, with the object of 2.2. Null for a payout that
 * was just requested: what is announced carries its code, so it is announced once it has one.
 */
export function subaccountPayoutWebhook({ status, feeCents, ...payout }: SubaccountPayout) {
  if (payout.code === null || status === 'unknown' || feeCents === null) return null;
  return { event: EVENT, ...z.encode(subaccountPayoutWire, { ...payout, feeCents, status }) };
}

// ── What another service says of them ───────────────────────────────────────────────────────────
// What the document shows is read by its name. What it does not show may be called otherwise, or not be there.

const STATUSES: ReadonlySet<unknown> = new Set(subaccountPayoutWire.shape.status.options);

function statusOf(value: unknown): UpstreamPayout['status'] {
  const word = readWord(value);
  return STATUSES.has(word) ? (word as SubaccountPayoutStatus) : 'unknown';
}

/** The document's 2.2 as it is read: whatever may be null may also be missing. Null where it is no payout. */
export function readSubaccountPayout(body: unknown): UpstreamPayout | null {
  const told = readRecord(body);
  const subaccountId = anySubaccountId.safeParse(told?.subaccountId).data;
  const amountCents = readCents(told?.amountCents);
  const feeCents = readCents(told?.feeCents);
  const createdAt = readInstant(told?.createdAt);
  if (!told || subaccountId === undefined || amountCents === null || !createdAt) return null;
  return {
    payoutId: readText(told.payoutId),
    withdrawalId: readText(told.withdrawalId),
    code: readText(told.code),
    subaccountId,
    status: statusOf(told.status),
    reversed: told.reversed === true,
    amountCents,
    feeCents,
    platformFeeCents: readCents(told.platformFeeCents),
    netAmountCents: readCents(told.netAmountCents),
    pixKey: readText(told.pixKey),
    endToEndId: readText(told.endToEndId),
    recipientName: readText(told.recipientName),
    recipientBankName: readText(told.recipientBankName),
    failureReason: readText(told.failureReason),
    createdAt,
    completedAt: readInstant(told.completedAt),
    reversedAt: readInstant(told.reversedAt),
  };
}

/**
 * The names that the answer to a payout request gives, which it may not have yet: those by which the payout can be looked up.
 * Null for what is no such answer.
 */
export function readRequestedPayout(
  body: unknown,
): { withdrawalId: string | null; code: string | null } | null {
  const told = readRecord(body);
  const withdrawal = readRecord(told?.withdrawal);
  const code = readText(told?.code);
  return withdrawal || code !== null ? { withdrawalId: readText(withdrawal?.id), code } : null;
}

/** An event of a payout: the whole of it where it carries that, else its code and whose it is, if it says so. */
export function readSubaccountPayoutEvent(
  payload: unknown,
): { payout: UpstreamPayout } | { code: string; subaccountId: string | null } | null {
  const told = readRecord(payload);
  if (told?.event !== EVENT) return null;
  const payout = readSubaccountPayout(payload);
  if (payout) return { payout };
  const code = readText(told.code);
  return code === null ? null : { code, subaccountId: findMember(told, isSubaccountId) };
}

/** A subaccount, or one inside an envelope; null where there is no `sacc_…` in it. */
export function readSubaccount(body: unknown): Subaccount | null {
  for (const told of readRecords(body)) {
    const id = findMember(told, isSubaccountId);
    if (id === null) continue;
    return {
      id,
      name: readText(told.name),
      externalId: readText(told.externalId),
      balanceCents: readAmount(told, 'balance'),
      createdAt: createdAtIn(told),
    };
  }
  return null;
}

const KINDS: readonly [RegExp, StatementEntryKind][] = [
  [/revers|estorn/i, 'payout_reversal'],
  [/payout|saque/i, 'payout'],
  [/transfer|repasse/i, 'transfer_in'],
];

/** A line of a statement, of which the document shows `refId` alone; null where nothing can be made of it. */
export function readStatementEntry(subaccountId: string, body: unknown): StatementEntry | null {
  const told = readRecord(body);
  if (!told) return null;
  const refId = readText(told.refId) ?? findMember(told, (text) => /^(saq_|rep_|SUB-)/.test(text));
  const word = readText(told.kind) ?? readText(told.type) ?? '';
  const kind = KINDS.find(([form]) => form.test(word))?.[1] ?? 'unknown';
  const amount = readAmount(told, 'amount');
  const createdAt = createdAtIn(told);
  if (refId === null || amount === null || createdAt === null) return null;
  const size = Math.abs(amount);
  return {
    subaccountId,
    kind,
    refId,
    amountCents: kind === 'unknown' ? amount : kind === 'payout' ? -size : size,
    balanceAfterCents: readAmount(told, 'balanceAfter'),
    createdAt,
  };
}

/** The `refId` of a transfer's entry, by the form that ours has, or by its name. */
export function readTransferReference(body: unknown): string | null {
  for (const told of readRecords(body)) {
    const refId = readText(told.refId) ?? findMember(told, (text) => text.startsWith('rep_'));
    if (refId !== null) return refId;
  }
  return null;
}

function isSubaccountId(text: string): boolean {
  return anySubaccountId.safeParse(text).success;
}

/** By its name, or whatever else is an instant. */
function createdAtIn(told: JsonRecord): Date | null {
  return readInstant(told.createdAt) ?? readInstant(findMember(told, (text) => readInstant(text) !== null));
}
