import { z } from 'zod';
import { instant } from '../kernel/instant.ts';
import { cents } from '../kernel/money.ts';
import {
  type RequestedPayout,
  type SeenPayout,
  type ShownStatementEntry,
  type ShownSubaccount,
  type ShownSubaccountPayout,
  type StatementEntryKind,
  type SubaccountPayout,
  subaccountIdText,
} from './model.ts';

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
}: RequestedPayout<SubaccountPayout>): z.output<typeof requestedPayoutWire> {
  return { withdrawal: { id: payout.withdrawalId }, code: payout.code, status: payout.status };
}

// ── The webhook (section 6.3) ───────────────────────────────────────────────────────────────────

const EVENT = 'subaccount.payout';

/**
 * `subaccount.payout` at each change of status and at the reversal, with the object of 2.2. Null for a payout that
 * was just requested: what is announced carries its code, so it is announced once it has one.
 */
export function subaccountPayoutWebhook({ status, ...payout }: ShownSubaccountPayout) {
  if (payout.code === null || status === 'unknown') return null;
  return { event: EVENT, ...z.encode(subaccountPayoutWire, { ...payout, status }) };
}

// ── What another service says of them ───────────────────────────────────────────────────────────
// What the document shows is read by its name. What it does not show may be called otherwise, or not be there.

const seenText = z.string().nullish().catch(null);
const seenCents = cents.nullish().catch(null);
const seenInstant = z.iso
  .datetime({ offset: true })
  .transform((text) => new Date(text))
  .nullish()
  .catch(null);

/** The document's 2.2 as it is read: whatever may be null may also be missing. */
const seenPayoutWire = z.object({
  payoutId: seenText,
  withdrawalId: seenText,
  code: seenText,
  subaccountId: subaccountIdText,
  status: subaccountPayoutWire.shape.status.or(z.literal('unknown')).catch('unknown'),
  reversed: z.boolean().catch(false),
  amountCents: cents,
  feeCents: cents,
  platformFeeCents: seenCents,
  netAmountCents: seenCents,
  pixKey: seenText,
  endToEndId: seenText,
  recipientName: seenText,
  recipientBankName: seenText,
  failureReason: seenText,
  createdAt: z.iso.datetime({ offset: true }).transform((text) => new Date(text)),
  completedAt: seenInstant,
  reversedAt: seenInstant,
});

/** Null where it is no payout. */
export function readSubaccountPayout(body: unknown): SeenPayout | null {
  const { success, data } = seenPayoutWire.safeParse(body);
  if (!success) return null;
  return {
    payoutId: data.payoutId ?? null,
    withdrawalId: data.withdrawalId ?? null,
    code: data.code ?? null,
    subaccountId: data.subaccountId,
    status: data.status,
    reversed: data.reversed,
    amountCents: data.amountCents,
    feeCents: data.feeCents,
    platformFeeCents: data.platformFeeCents ?? null,
    netAmountCents: data.netAmountCents ?? null,
    pixKey: data.pixKey ?? null,
    endToEndId: data.endToEndId ?? null,
    recipientName: data.recipientName ?? null,
    recipientBankName: data.recipientBankName ?? null,
    failureReason: data.failureReason ?? null,
    createdAt: data.createdAt,
    completedAt: data.completedAt ?? null,
    reversedAt: data.reversedAt ?? null,
  };
}

/** The names that the answer to a payout request gives: those by which the payout can be looked up. */
export function readRequestedPayout(body: unknown): string[] {
  const { withdrawal, code } = record(body);
  return [record(withdrawal).id, code].filter((name) => typeof name === 'string');
}

/** An event of a payout: the whole of it where it carries that, else its code and whose it is, if it says so. */
export function readSubaccountPayoutEvent(
  payload: unknown,
): { payout: SeenPayout } | { code: string; subaccountId: string | null } | null {
  const event = record(payload);
  if (event.event !== EVENT) return null;
  const payout = readSubaccountPayout(payload);
  if (payout) return { payout };
  return typeof event.code === 'string' ? { code: event.code, subaccountId: subaccountIdIn(event) } : null;
}

/** A subaccount, or one inside an envelope; null where there is no `sacc_…` in it. */
export function readSubaccount(body: unknown): ShownSubaccount | null {
  const bare = record(body);
  const members = [bare, ...Object.values(bare).map(record)].find((part) => subaccountIdIn(part) !== null);
  if (!members) return null;
  return {
    id: subaccountIdIn(members)!,
    name: text(members.name),
    externalId: text(members.externalId),
    balanceCents: amountIn(members, 'balance'),
    createdAt: instantIn(members),
  };
}

const KINDS: readonly [RegExp, StatementEntryKind][] = [
  [/revers|estorn/i, 'payout_reversal'],
  [/payout|saque/i, 'payout'],
  [/transfer|repasse/i, 'transfer_in'],
];
const REFERENCE = /^(saq_|rep_|SUB-)/;

/** A line of a statement, of which the document shows `refId` alone; null where nothing can be made of it. */
export function readStatementEntry(subaccountId: string, body: unknown): ShownStatementEntry | null {
  const members = record(body);
  const refId = text(members.refId) ?? texts(members).find((value) => REFERENCE.test(value));
  const word = text(members.kind) ?? text(members.type) ?? '';
  const kind = KINDS.find(([form]) => form.test(word))?.[1] ?? 'unknown';
  const amount = amountIn(members, 'amount');
  const createdAt = instantIn(members);
  if (refId === undefined || amount === null || createdAt === null) return null;
  const size = Math.abs(amount);
  return {
    subaccountId,
    kind,
    refId,
    amountCents: kind === 'unknown' ? amount : kind === 'payout' ? -size : size,
    balanceAfterCents: amountIn(members, 'balanceAfter'),
    createdAt,
  };
}

/** A page (2.1.6): the array, whatever it is called, with `total` beside it. Null where there is no array. */
export function readPage(body: unknown): { items: unknown[]; total: number | null } | null {
  const members = record(body);
  const items = Array.isArray(body) ? body : Object.values(members).find(Array.isArray);
  if (!items) return null;
  return { items, total: Number.isSafeInteger(members.total) ? (members.total as number) : null };
}

/** The `refId` of a transfer's entry, by the form that ours has, or by its name. */
export function readTransferReference(body: unknown): string | null {
  const bare = record(body);
  for (const members of [bare, ...Object.values(bare).map(record)]) {
    const refId = text(members.refId) ?? texts(members).find((value) => value.startsWith('rep_'));
    if (refId) return refId;
  }
  return null;
}

/** The words of a refusal (section 7). */
export function readRefusal(body: unknown): string | null {
  return text(record(body).error)?.slice(0, 500) || null;
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

function text(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function texts(members: Record<string, unknown>): string[] {
  return Object.values(members).filter((value) => typeof value === 'string');
}

function subaccountIdIn(members: Record<string, unknown>): string | null {
  return texts(members).find((value) => subaccountIdText.safeParse(value).success) ?? null;
}

/** `…Cents` where it is an integer, else the same without the ending in reais (2.1.1, 2.1.2). */
function amountIn(members: Record<string, unknown>, name: string): number | null {
  const inCents = members[`${name}Cents`];
  if (Number.isSafeInteger(inCents)) return inCents as number;
  const inReais = members[name];
  return typeof inReais === 'number' ? Math.round(inReais * 100) : null;
}

/** `createdAt`, or whatever else is an instant. */
function instantIn(members: Record<string, unknown>): Date | null {
  const isInstant = (value: string) => z.iso.datetime({ offset: true }).safeParse(value).success;
  const found = [text(members.createdAt) ?? '', ...texts(members)].find(isInstant);
  return found === undefined ? null : new Date(found);
}
