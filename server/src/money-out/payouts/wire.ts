import { z } from 'zod';
import { exactlyOneOf, withGivenNames } from '../../kernel/aliases.ts';
import { instant } from '../../kernel/instant.ts';
import {
  findMember,
  isEndToEndId,
  isObjectId,
  type JsonRecord,
  readCents,
  readId,
  readInstant,
  readInstants,
  readLitoshi,
  readPage,
  readReais,
  readRecord,
  readText,
  readWord,
} from '../../kernel/lenient-json.ts';
import { cents, centsAsReais, ltcText, reais, reaisFromCents } from '../../kernel/money.ts';
import { DESTINATION_VARIANTS } from '../../kernel/payout-methods/method.ts';
import { PAYOUT_METHODS, type PayoutMethod } from '../../kernel/payout-methods/registry.ts';
import { PIX_KEY_TYPE_RULE, pixKeyType } from '../../kernel/pix-key.ts';
import type { Environment } from '../../kernel/tenant.ts';
import { answeredWord, externalIdText, idempotencyKeyText } from '../../kernel/text.ts';
import { nameIn, type WebhookEvent, webhookEvent } from '../../kernel/webhook-event.ts';
import {
  DESTINATION_KINDS,
  DESTINATIONS_IN_WORDS,
  maskDestination,
  type OwnPayout,
  PAYOUT_STATUSES,
  type Payout,
  type PayoutStatus,
  parseDestination,
  payoutMethod,
  type RequestPayoutInput,
} from './model.ts';
import type { UpstreamPayout } from './upstream-payout.ts';

/** The statuses in the document's words (section 3.3), all but one Portuguese. */
const STATUS_ON_THE_WIRE = {
  pending: 'pendente',
  processing: 'processing',
  completed: 'concluido',
  denied: 'negado',
  // The document has no word for a return: such a payout was completed, and has `returnedAt`.
  returned: 'concluido',
} as const satisfies Record<PayoutStatus, string>;

type WireStatus = (typeof STATUS_ON_THE_WIRE)[PayoutStatus];

/** The words of the statuses, each once. */
export const WIRE_STATUSES = [...new Set(Object.values(STATUS_ON_THE_WIRE))];

/** The statuses that have a word. */
export function statusesOfWord(word: WireStatus): PayoutStatus[] {
  return PAYOUT_STATUSES.filter((status) => STATUS_ON_THE_WIRE[status] === word);
}

const STATUS_FROM_THE_WIRE = Object.fromEntries(
  Object.entries(STATUS_ON_THE_WIRE)
    .filter(([status]) => status !== 'returned')
    .map(([status, word]) => [word, status]),
) as Record<WireStatus, PayoutStatus>;

const payoutStatus = z.codec(
  answeredWord(['pendente', 'processing', 'concluido', 'negado']).meta({
    description:
      'processing: a turbo withdrawal that left and the bank has not confirmed; a webhook reports it where the account has opted in',
  }),
  answeredWord(PAYOUT_STATUSES),
  {
    decode: (word) => STATUS_FROM_THE_WIRE[word],
    encode: (status) => STATUS_ON_THE_WIRE[status] ?? (status as WireStatus),
  },
);

// ── A withdrawal in the REST interface (the document's 4.5) ─────────────────────────────────────

/** The body of a request for a withdrawal. */
export const payoutRequestWire = z
  .object({
    amount: centsAsReais
      .refine((amount) => amount > 0, 'must be more than 0')
      .meta({ description: 'In reais, at most two decimals, the fee included', examples: [149.9] })
      .nullish(),
    amountCents: cents
      .refine((amountCents) => amountCents > 0, 'must be more than 0')
      .nullish()
      .describe('The same in cents, in place of amount'),
    method: payoutMethod.meta({ description: 'usd is USDT' }),
    walletAddress: z.string().meta({ description: `${DESTINATIONS_IN_WORDS}, by method` }),
    pixKeyType: pixKeyType.describe(PIX_KEY_TYPE_RULE),
    externalId: externalIdText
      .nullish()
      .describe('Your own number for it; several withdrawals may have one number'),
    idempotencyKey: idempotencyKeyText.nullish().describe('The same key and input give the same withdrawal'),
  })
  .superRefine(({ amount, amountCents }, context) => {
    if ((amount == null) !== (amountCents == null)) return;
    const message =
      amount == null
        ? 'is required, or amountCents, which is the same in cents'
        : 'must not be given together with amountCents, which is the same in cents';
    context.addIssue({ code: 'custom', path: ['amount'], message });
  })
  .transform(({ amount, amountCents, method, walletAddress, ...rest }, context): RequestPayoutInput => {
    const parsed = parseDestination(method, walletAddress, rest.pixKeyType);
    if (parsed.destination !== null) {
      const { destination } = parsed;
      const request = { method, amountCents: (amountCents ?? amount)!, destination, ...rest };
      return amountCents == null ? request : withGivenNames(request, { amount: 'amountCents' });
    }
    const path = parsed.wrong === 'destination' ? 'walletAddress' : parsed.wrong;
    context.addIssue({ code: 'custom', path: [path], message: parsed.why });
    return z.NEVER;
  })
  .meta(exactlyOneOf('amount', 'amountCents'));

export const payoutWire = z
  .object({
    id: z.string().meta({ description: 'The same as withdrawalId' }),
    withdrawalId: z.string().meta({ description: '24 hex digits' }),
    code: z.string().meta({ description: 'What support asks for', examples: ['SAQ-8NY3SQZHKXF9'] }),
    amount: centsAsReais.meta({ description: 'In reais, the fee included' }),
    method: answeredWord(PAYOUT_METHODS),
    walletAddress: z
      .string()
      .meta({ description: 'The destination, masked', examples: ['a***@padaria.example'] }),
    destinationKind: answeredWord(DESTINATION_VARIANTS)
      .optional()
      .meta({ description: 'The kind of walletAddress, as it was taken' }),
    status: payoutStatus,
    requestedAt: instant,
    processedAt: instant.nullable().meta({ description: 'When it was completed or denied' }),
    returnedAt: instant.optional().meta({
      description: 'When a completed one had come back: the whole amount is in the balance again',
    }),
    fee: centsAsReais.optional().meta({
      description: 'The service’s fee in reais, a part of the amount: serviceFeeCents in GraphQL',
    }),
    amountLtc: z
      .string()
      .optional()
      .meta({
        description: 'What an LTC withdrawal takes from the LTC balance, the fee included, as quoted',
        examples: ['0.24480680'],
      }),
    deniedReason: z.string().optional().meta({ description: 'Of a denied one alone' }),
    endToEndId: z
      .string()
      .optional()
      .meta({ description: 'The bank’s identifier of a PIX that has arrived' }),
    externalId: z.string().optional().meta({ description: 'Your own number for it, where one was given' }),
  })
  .meta({ id: 'Payout' });

export function payoutToWire(payout: OwnPayout): z.output<typeof payoutWire> {
  return {
    id: payout.withdrawalId,
    withdrawalId: payout.withdrawalId,
    code: payout.code,
    amount: payout.amountCents,
    method: payout.method,
    walletAddress: maskDestination(payout, { masksPublic: true }),
    destinationKind: payout.destinationKind ?? undefined,
    status: payout.status,
    requestedAt: payout.requestedAt,
    processedAt: payout.processedAt,
    returnedAt: payout.returnedAt ?? undefined,
    fee: payout.feeCents,
    amountLtc: payout.litoshi === null ? undefined : ltcText(payout.litoshi),
    deniedReason: payout.deniedReason ?? undefined,
    endToEndId: payout.endToEndId ?? undefined,
    externalId: payout.externalId ?? undefined,
  };
}

// ── The webhooks (section 6.1) ──────────────────────────────────────────────────────────────────

const EVENT = {
  pending: 'requested',
  processing: 'processing',
  completed: 'completed',
  denied: 'denied',
  returned: 'returned',
} as const;

/** The events, with the members of each. */
export const payoutWebhooks = {
  'withdrawal.requested': payoutEvent('pending', {
    summary: 'A payout of the main account was requested',
    optional: null,
  }),
  'withdrawal.completed': payoutEvent('completed', { summary: 'The money has arrived', optional: null }),
  'withdrawal.denied': payoutEvent('denied', {
    summary: 'It was refused, and the amount is back in the balance',
    optional: null,
  }),
  'withdrawal.processing': payoutEvent('processing', {
    summary: 'It was sent: the money may have left',
    optional: ', in sandbox withdrawal.test.processing: the money MAY have left.',
  }),
  'withdrawal.returned': payoutEvent('returned', {
    summary: 'It came back after it had arrived, and the amount is back in the balance',
    optional: ': a payout had arrived and has come back; the amount is in the balance again.',
  }),
};

function payoutEvent<Optional extends string | null>(
  status: keyof typeof EVENT,
  said: { summary: string; optional: Optional },
): WebhookEvent<Optional> {
  const { withdrawalId, code, method, externalId } = payoutWire.shape;
  return webhookEvent(`withdrawal.${EVENT[status]}`, {
    ...said,
    resource: 'payout',
    members: {
      withdrawalId,
      code,
      amount: reais,
      method,
      walletAddress: z.string().meta({ description: 'The destination, whole' }),
      status: z.literal(STATUS_ON_THE_WIRE[status]),
      ...(status === 'pending' || status === 'processing'
        ? { requestedAt: instant }
        : { processedAt: instant }),
      ...(status === 'returned' && { returnedAt: instant }),
      externalId,
    },
  });
}

/**
 * The webhook of a payout in its present state. `withdrawal.processing` is an optional event, with the
 * members of `withdrawal.requested`. The document shows the whole body, so the only member added to it is the
 * merchant's own number, if one was given. This is the only place where the destination is whole, as in the
 * document.
 */
export function payoutWebhook(payout: Payout, environment: Environment) {
  if (payout.status === 'unknown') return null;
  const sandbox = environment === 'sandbox';
  return {
    event: nameIn(environment, `withdrawal.${EVENT[payout.status]}` as const),
    withdrawalId: payout.withdrawalId,
    code: payout.code,
    amount: reaisFromCents(payout.amountCents),
    method: payout.method,
    walletAddress: payout.destination,
    status: STATUS_ON_THE_WIRE[payout.status],
    ...(payout.processedAt === null
      ? { requestedAt: payout.requestedAt?.toISOString(), sandbox }
      : { processedAt: payout.processedAt.toISOString() }),
    ...(payout.returnedAt !== null && { returnedAt: payout.returnedAt.toISOString() }),
    ...(payout.externalId != null && { externalId: payout.externalId }),
  };
}

// ── The answers of another service ──────────────────────────────────────────────────────────────

/** A page of withdrawals, with null for one that cannot be read, and the length of the whole list. */
export interface PayoutListPage {
  items: (UpstreamPayout | null)[];
  total: number;
}

/** Reads the answer to `GET /v1/payouts`, by any name of its array; null if it is no list of withdrawals. */
export function readPayoutList(json: unknown): PayoutListPage | null {
  const page = readPage(json, 'payouts');
  if (!page || page.total === null) return null;
  const { total } = page;
  const items = page.items.map((item) => {
    const payout = readPayout(item);
    return payout && payout.amountCents !== null ? payout : null;
  });
  return items.length > 0 && items.every((item) => item === null) ? null : { items, total };
}

/**
 * Reads one withdrawal, as itself or as the one object in an envelope. The document shows the record's
 * amount, method and status words, and that its key is masked. Other members have the names in the events if
 * those are the same; otherwise a member is recognized by the shape of its value. Null if the record names no
 * withdrawal.
 */
export function readPayout(json: unknown): UpstreamPayout | null {
  const record = readRecord(json);
  if (!record) return null;
  const payout = payoutIn(record);
  if (payout) return payout;
  const [enclosed, ...others] = Object.values(record).filter((value) => readRecord(value) !== null);
  return others.length === 0 ? payoutIn(readRecord(enclosed) ?? {}) : null;
}

// The merchant's own number may look like any other member, so it is left out.
function payoutIn({ externalId: _, destinationKind, ...record }: JsonRecord): UpstreamPayout | null {
  const withdrawalId = idIn(record);
  if (withdrawalId === null) return null;
  const values = Object.values(record);
  const status = readText(record.status) ?? values.find((value) => readStatus(value) !== null);
  const method = readText(record.method) ?? values.find((value) => readMethod(value) !== null);
  return {
    withdrawalId,
    code: readId(record.code) ?? readId(findMember(record, (text) => text.startsWith('SAQ-'))),
    method: method === undefined ? null : (readMethod(method) ?? 'unknown'),
    status: status === undefined ? null : withReturn(readStatus(status) ?? 'unknown', record.returnedAt),
    amountCents: readReais(record.amount),
    feeCents: readCents(record.feeCents) ?? readReais(record.fee),
    litoshi: readLitoshi(record.amountLtc),
    destination: readText(record.walletAddress) ?? destinationIn(values),
    requestedAt:
      readInstant(record.requestedAt) ??
      readInstant(record.createdAt) ??
      readInstants(
        values.filter((value) => value !== record.processedAt && value !== record.returnedAt),
      )[0] ??
      null,
    processedAt: readInstant(record.processedAt),
    returnedAt: readInstant(record.returnedAt),
    deniedReason: readText(record.deniedReason),
    endToEndId: findMember(record, isEndToEndId, ['endToEndId']),
    destinationKind: DESTINATION_VARIANTS.find((variant) => variant === destinationKind),
  };
}

function idIn(record: JsonRecord): string | null {
  return readId(record.withdrawalId) ?? readId(record.id) ?? findMember(record, isObjectId, ['_id']);
}

function readStatus(value: unknown): PayoutStatus | null {
  const word = readWord(value);
  return word !== null && Object.hasOwn(STATUS_FROM_THE_WIRE, word)
    ? STATUS_FROM_THE_WIRE[word as WireStatus]
    : null;
}

/** The status of a payout that the service shows as completed, with the instant of its return. */
function withReturn(status: PayoutStatus | 'unknown', returnedAt: unknown): PayoutStatus | 'unknown' {
  return status === 'completed' && readInstant(returnedAt) !== null ? 'returned' : status;
}

function readMethod(value: unknown): PayoutMethod | null {
  const word = readWord(value);
  return PAYOUT_METHODS.find((method) => method === word) ?? null;
}

/** Finds a destination: a masked text, or a whole one of a public kind, which its checksum proves. */
function destinationIn(values: readonly unknown[]): string | null {
  const texts = values.filter((value) => typeof value === 'string');
  const isAddress = (text: string) =>
    DESTINATION_KINDS.some(({ isPublic, parse }) => isPublic && parse(text) !== null);
  return readText(texts.find((text) => /\*\*|…/.test(text)) ?? texts.find(isAddress));
}

const EVENT_NAME = /^withdrawal\.(?:test\.)?([a-z_.]+)$/;
const STATUS_OF_EVENT: Readonly<Record<string, PayoutStatus>> = {
  requested: 'pending',
  processing: 'processing',
  completed: 'completed',
  denied: 'denied',
  returned: 'returned',
};

/**
 * Reads a webhook of a withdrawal (the document's 6.1), by the names that the document shows; null if it is about
 * something else. The status is null if the event's name and its status disagree.
 */
export function readPayoutEvent(json: unknown): UpstreamPayout | null {
  const record = readRecord(json);
  const name = EVENT_NAME.exec(readText(record?.event) ?? '')?.[1];
  const withdrawalId = readId(record?.withdrawalId);
  if (!record || name === undefined || withdrawalId === null) return null;
  const payout = payoutIn(record)!;
  const agrees = STATUS_OF_EVENT[name] === undefined || STATUS_OF_EVENT[name] === payout.status;
  return agrees ? payout : { ...payout, status: null };
}
