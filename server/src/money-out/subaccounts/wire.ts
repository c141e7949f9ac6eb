import { z } from 'zod';
import { instant } from '../../kernel/instant.ts';
import {
  findMember,
  type JsonRecord,
  readAmount,
  readCents,
  readId,
  readInstant,
  readRecord,
  readRecords,
  readText,
  readWord,
} from '../../kernel/lenient-json.ts';
import { cents } from '../../kernel/money.ts';
import { kindOfPixKey, PIX_KEY_KINDS } from '../../kernel/pix-key.ts';
import { answeredWord } from '../../kernel/text.ts';
import { webhookEvent } from '../../kernel/webhook-event.ts';
import type {
  RequestedPayout,
  StatementEntry,
  StatementEntryKind,
  StoredSubaccountPayout,
  Subaccount,
  SubaccountPayout,
  SubaccountPayoutStatus,
} from './model.ts';
import { STATEMENT_ENTRY_KINDS, SUBACCOUNT_PAYOUT_STATUSES } from './model.ts';
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
    kind: answeredWord(STATEMENT_ENTRY_KINDS),
    refId: z.string().meta({
      description:
        'rep_… of a transfer, saq_… of a payout; a reversal repeats it, or has the SUB-… code of a payout refused before the bank',
    }),
    amountCents: z.int().meta({ description: 'Signed: what the entry did to the balance' }),
    balanceAfterCents: cents,
    createdAt: instant,
  })
  .meta({ id: 'StatementEntry' });

/** The answer to a transfer: its entry in the statement. */
export const transferWire = z
  .object({ subaccountId: z.string(), ...statementEntryWire.shape })
  .meta({ id: 'SubaccountTransfer' });

/** A payout as the document's 2.2 shows it, in its order, with the merchant's own number if one was given. */
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
    status: answeredWord(SUBACCOUNT_PAYOUT_STATUSES).meta({
      description:
        'processing: the money may have left, do not repeat the payout. failed: nothing was sent; with reversed true the amount is back',
    }),
    reversed: z.boolean().meta({ description: 'The amount went back to the subaccount' }),
    amountCents: cents.meta({ description: 'Gross: what the subaccount was debited' }),
    feeCents: cents.meta({
      description:
        'Your own markup, included in the gross amount: markupCents in GraphQL. The service’s fee is platformFeeCents',
    }),
    platformFeeCents: cents.nullable().meta({
      description:
        'The service’s fee, serviceFeeCents in GraphQL; null when the payout was never assembled for sending',
    }),
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
    externalId: z.string().optional().meta({ description: 'Your own number for it, where one was given' }),
    destinationKind: answeredWord(PIX_KEY_KINDS)
      .optional()
      .meta({ description: 'The kind of pixKey, as it was taken' }),
  })
  .meta({ id: 'SubaccountPayout' });

export function subaccountPayoutToWire(
  payout: StoredSubaccountPayout,
): z.output<typeof subaccountPayoutWire> {
  const { externalId, destinationKind } = payout;
  return {
    ...payout,
    externalId: externalId ?? undefined,
    destinationKind: destinationKind ?? undefined,
  };
}

/** The answer to a payout request. */
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
    reversed: subaccountPayoutWire.shape.reversed,
    failureReason: subaccountPayoutWire.shape.failureReason,
  })
  .meta({ id: 'RequestedSubaccountPayout' });

export function requestedPayoutToWire({
  payout,
}: RequestedPayout<StoredSubaccountPayout>): z.output<typeof requestedPayoutWire> {
  const { withdrawalId, code, status, reversed, failureReason } = payout;
  return { withdrawal: { id: withdrawalId }, code, status, reversed, failureReason };
}

// ── The webhook (section 6.3) ───────────────────────────────────────────────────────────────────

const EVENT = 'subaccount.payout';

/** The event, with its members. */
export const subaccountPayoutWebhooks = {
  [EVENT]: webhookEvent(EVENT, {
    summary: 'The payout of a subaccount has a new status, or was reversed',
    optional: null,
    resource: 'subaccount_payout',
    members: subaccountPayoutWire.shape,
    named: 'alike',
  }),
};

/**
 * The webhook `subaccount.payout`, at each change of status and at the reversal, with the object of 2.2. Null for a
 * payout that was just requested: it is announced once it has a code.
 */
export function subaccountPayoutWebhook({
  status,
  feeCents,
  externalId,
  destinationKind,
  ...payout
}: SubaccountPayout) {
  if (payout.code === null || status === 'unknown' || feeCents === null) return null;
  const own = {
    ...(externalId != null && { externalId }),
    ...(destinationKind != null && { destinationKind }),
  };
  return {
    event: EVENT as typeof EVENT,
    ...z.encode(subaccountPayoutWire, { ...payout, feeCents, status, ...own }),
  };
}

// ── The answers of another service ──────────────────────────────────────────────────────────────
// A member that the document shows is read by its name. Any other may have another name, or be missing.

const STATUSES: ReadonlySet<unknown> = new Set(SUBACCOUNT_PAYOUT_STATUSES);

function statusOf(value: unknown): UpstreamPayout['status'] {
  const word = readWord(value);
  return STATUSES.has(word) ? (word as SubaccountPayoutStatus) : 'unknown';
}

/** Reads a payout as the document's 2.2 shows it; a nullable field may be missing too. Null if it is no payout. */
export function readSubaccountPayout(body: unknown): UpstreamPayout | null {
  const json = readRecord(body);
  const subaccountId = anySubaccountId.safeParse(json?.subaccountId).data;
  const amountCents = readCents(json?.amountCents);
  const createdAt = readInstant(json?.createdAt);
  if (!json || subaccountId === undefined || amountCents === null || !createdAt) return null;
  return {
    payoutId: readId(json.payoutId),
    withdrawalId: readId(json.withdrawalId),
    code: readId(json.code),
    subaccountId,
    status: statusOf(json.status),
    reversed: json.reversed === true,
    amountCents,
    feeCents: readCents(json.feeCents),
    platformFeeCents: readCents(json.platformFeeCents),
    netAmountCents: readCents(json.netAmountCents),
    pixKey: readText(json.pixKey),
    endToEndId: readId(json.endToEndId),
    recipientName: readText(json.recipientName),
    recipientBankName: readText(json.recipientBankName),
    failureReason: readText(json.failureReason),
    createdAt,
    completedAt: readInstant(json.completedAt),
    reversedAt: readInstant(json.reversedAt),
    destinationKind:
      PIX_KEY_KINDS.find((kind) => kind === json.destinationKind) ??
      kindOfPixKey(readText(json.pixKey) ?? ''),
    // This server sends the service no externalId.
    externalId: null,
  };
}

/**
 * Reads the names in the answer to a payout request, by which the payout can be looked up; some may still be
 * missing. Null if it is no such answer.
 */
export function readRequestedPayout(
  body: unknown,
): { withdrawalId: string | null; code: string | null; amountCents: number | null } | null {
  const json = readRecord(body);
  const withdrawal = readRecord(json?.withdrawal);
  const code = readId(json?.code);
  if (!withdrawal && code === null) return null;
  const amountCents = readAmount(withdrawal ?? {}, 'amount') ?? readAmount(json ?? {}, 'amount');
  return { withdrawalId: readId(withdrawal?.id), code, amountCents };
}

/**
 * Reads a payout's event: the whole payout if the event contains it, else its code, and its subaccount if it
 * is named.
 */
export function readSubaccountPayoutEvent(
  payload: unknown,
): { payout: UpstreamPayout } | { code: string; subaccountId: string | null } | null {
  const json = readRecord(payload);
  if (json?.event !== EVENT) return null;
  const payout = readSubaccountPayout(payload);
  if (payout) return { payout };
  const code = readId(json.code);
  return code === null ? null : { code, subaccountId: findMember(json, isSubaccountId) };
}

/** Reads a subaccount, as itself or in an envelope; null if no `sacc_…` id is found. */
export function readSubaccount(body: unknown): Subaccount | null {
  for (const json of readRecords(body)) {
    const id = findMember(json, isSubaccountId);
    if (id === null) continue;
    return {
      id,
      name: readText(json.name),
      externalId: readText(json.externalId),
      balanceCents: readAmount(json, 'balance'),
      createdAt: createdAtIn(json),
    };
  }
  return null;
}

const KINDS: readonly [RegExp, StatementEntry['kind']][] = [
  [/fee|taxa|tarifa/i, 'unknown'],
  [/split.*(revers|estorn)|(revers|estorn).*split/i, 'split_reversal'],
  // Words for money that left the subaccount, even if its amount has no sign.
  [/split.*(out\b|sa[ií]da|enviad|sent|devol|return)/i, 'unknown'],
  [/split/i, 'split_in'],
  [/revers|estorn|(payout|saque).*(devol|return)|(devol|return).*(payout|saque)/i, 'payout_reversal'],
  [/payout|saque/i, 'payout'],
  // Words for a transfer out of the subaccount.
  [/out\b|_out|sa[ií]da|enviad|devol/i, 'unknown'],
  [/transfer|repasse/i, 'transfer_in'],
];

/**
 * The kind that an entry's word expresses; `unknown` for a fee or for money that went elsewhere. Null if the
 * word expresses none.
 */
function kindSaidBy(json: JsonRecord): StatementEntry['kind'] | null {
  const word = readText(json.kind) ?? readText(json.type) ?? '';
  return KINDS.find(([form]) => form.test(word))?.[1] ?? null;
}

/** Whether an entry may belong to a transfer to the subaccount, as far as its word shows. */
export function mayBeTransfer(body: unknown): boolean {
  const kind = kindSaidBy(readRecord(body) ?? {});
  return kind === null || kind === 'transfer_in';
}

/** Reads an entry of a statement; the document shows only its `refId`; null if it cannot be read. */
export function readStatementEntry(subaccountId: string, body: unknown): StatementEntry | null {
  const json = readRecord(body);
  if (!json) return null;
  const refId =
    readId(json.refId) ?? readId(findMember(json, (text) => /^(saq_|rep_|SUB-|psplit_|ref_)/.test(text)));
  const named = kindSaidBy(json) ?? 'unknown';
  const amount = readAmount(json, 'amount');
  const createdAt = createdAtIn(json);
  if (refId === null || amount === null || createdAt === null) return null;
  const size = Math.abs(amount);
  // A transfer that took money away, such as `transfer_out`, is not the document's `transfer_in`.
  const kind = amount < 0 && named !== 'unknown' && !isDebit(named) ? 'unknown' : named;
  return {
    subaccountId,
    kind,
    refId,
    amountCents: kind === 'unknown' ? amount : isDebit(kind) ? -size : size,
    balanceAfterCents: readAmount(json, 'balanceAfter'),
    createdAt,
  };
}

function isDebit(kind: StatementEntryKind): boolean {
  return kind === 'payout' || kind === 'split_reversal';
}

/** Reads the `refId` of a transfer's entry, by its name or by our own form; null if there is none. */
export function readTransferReference(body: unknown): string | null {
  for (const json of readRecords(body)) {
    const refId = readId(json.refId) ?? readId(findMember(json, (text) => text.startsWith('rep_')));
    if (refId !== null) return refId;
  }
  return null;
}

function isSubaccountId(text: string): boolean {
  return anySubaccountId.safeParse(text).success;
}

/** Reads the instant of creation by its name, or else any instant. */
function createdAtIn(json: JsonRecord): Date | null {
  return readInstant(json.createdAt) ?? readInstant(findMember(json, (text) => readInstant(text) !== null));
}
