import { z } from 'zod';
import { instant } from '../kernel/instant.ts';
import {
  findMember,
  isObjectId,
  type JsonRecord,
  readCents,
  readInstant,
  readInstants,
  readPage,
  readReais,
  readRecord,
  readText,
  readWord,
} from '../kernel/lenient-json.ts';
import { centsAsReais, reaisFromCents } from '../kernel/money.ts';
import type { Environment } from '../kernel/tenant.ts';
import { idempotencyKeyText } from '../kernel/text.ts';
import {
  maskDestination,
  type OwnPayout,
  PAYOUT_METHODS,
  PAYOUT_STATUSES,
  type Payout,
  type PayoutMethod,
  type PayoutStatus,
  parseDestination,
  payoutMethod,
  type RequestPayoutInput,
  type UpstreamPayout,
} from './model.ts';

/** The document's words (section 3.3): Portuguese, but for one. */
const STATUS_ON_THE_WIRE = {
  pending: 'pendente',
  processing: 'processing',
  completed: 'concluido',
  denied: 'negado',
} as const satisfies Record<PayoutStatus, string>;

type WireStatus = (typeof STATUS_ON_THE_WIRE)[PayoutStatus];

const FROM_THE_WIRE = Object.fromEntries(
  Object.entries(STATUS_ON_THE_WIRE).map(([status, word]) => [word, status]),
) as Record<WireStatus, PayoutStatus>;

const payoutStatus = z.codec(
  z.enum(['pendente', 'processing', 'concluido', 'negado']).meta({
    description:
      'processing: a turbo withdrawal that left and the bank has not confirmed; no webhook reports it',
  }),
  z.enum(PAYOUT_STATUSES),
  { decode: (word) => FROM_THE_WIRE[word], encode: (status) => STATUS_ON_THE_WIRE[status] },
);

// ── A withdrawal in the REST interface (the document's 4.5) ─────────────────────────────────────

/** The body that requests one. */
export const payoutRequestWire = z
  .object({
    amount: centsAsReais
      .refine((cents) => cents > 0, 'must be more than 0')
      .meta({ description: 'In reais, at most two decimals, the fee included', examples: [149.9] }),
    method: payoutMethod.meta({ description: 'usd is USDT' }),
    walletAddress: z
      .string()
      .meta({ description: 'PIX key, LTC address or USDT address (TRON or ERC-20), by method' }),
    idempotencyKey: idempotencyKeyText.nullish().describe('The same key and input give the same withdrawal'),
  })
  .transform(
    ({ amount: amountCents, method, walletAddress, idempotencyKey }, context): RequestPayoutInput => {
      const { destination, why } = parseDestination(method, walletAddress);
      if (destination !== null) return { method, amountCents, destination, idempotencyKey };
      context.addIssue({ code: 'custom', path: ['walletAddress'], message: why });
      return z.NEVER;
    },
  );

export const payoutWire = z
  .object({
    id: z.string().meta({ description: 'The same as withdrawalId' }),
    withdrawalId: z.string().meta({ description: '24 hex digits' }),
    code: z.string().meta({ description: 'What support asks for', examples: ['SAQ-8NY3SQZHKXF9'] }),
    amount: centsAsReais.meta({ description: 'In reais, the fee included' }),
    method: payoutMethod,
    walletAddress: z
      .string()
      .meta({ description: 'The destination, masked', examples: ['a***@padaria.example'] }),
    status: payoutStatus,
    requestedAt: instant,
    processedAt: instant.nullable().meta({ description: 'When it was completed or denied' }),
    fee: centsAsReais.optional().meta({ description: 'Of the amount, what the service keeps' }),
    deniedReason: z.string().optional().meta({ description: 'Of a denied one alone' }),
  })
  .meta({ id: 'Payout' });

export function payoutToWire(payout: OwnPayout): z.output<typeof payoutWire> {
  return {
    id: payout.withdrawalId,
    withdrawalId: payout.withdrawalId,
    code: payout.code,
    amount: payout.amountCents,
    method: payout.method,
    walletAddress: maskDestination(payout, { masksCrypto: true }),
    status: payout.status,
    requestedAt: payout.requestedAt,
    processedAt: payout.processedAt,
    fee: payout.feeCents,
    deniedReason: payout.deniedReason ?? undefined,
  };
}

// ── The webhooks (section 6.1) ──────────────────────────────────────────────────────────────────

const EVENT = { pending: 'requested', completed: 'completed', denied: 'denied' } as const;

/**
 * What a webhook says of a payout in its present state; null for `processing`, which none reports. The destination is
 * whole here, and here alone.
 */
export function payoutWebhook(payout: Payout, environment: Environment) {
  if (payout.status === 'processing' || payout.status === 'unknown') return null;
  const sandbox = environment === 'sandbox';
  return {
    event: `withdrawal.${sandbox ? 'test.' : ''}${EVENT[payout.status]}`,
    withdrawalId: payout.withdrawalId,
    code: payout.code,
    amount: reaisFromCents(payout.amountCents),
    method: payout.method,
    walletAddress: payout.destination,
    status: STATUS_ON_THE_WIRE[payout.status],
    ...(payout.processedAt === null
      ? { requestedAt: payout.requestedAt?.toISOString(), sandbox }
      : { processedAt: payout.processedAt.toISOString() }),
  };
}

// ── What another service tells ──────────────────────────────────────────────────────────────────

/** A list of withdrawals, whatever it calls its array; null in the place of one that cannot be read. */
export interface PayoutListPage {
  items: (UpstreamPayout | null)[];
  total: number;
}

/** The answer to `GET /v1/payouts`; null where it is no such list. */
export function readPayoutList(json: unknown): PayoutListPage | null {
  const page = readPage(json, 'payouts');
  if (!page || page.total === null) return null;
  const { total } = page;
  const items = page.items.map((item) => {
    const claim = readPayout(item);
    return claim && claim.amountCents !== null ? claim : null;
  });
  return items.length > 0 && items.every((item) => item === null) ? null : { items, total };
}

/**
 * One withdrawal, as itself or as the one object in an envelope. The document shows the record's amount, method and status
 * words, and that its key is masked; the other names are those of the events where they are the same, else a member is
 * known by the shape of its value. Null where it names no withdrawal.
 */
export function readPayout(json: unknown): UpstreamPayout | null {
  const told = readRecord(json);
  if (!told) return null;
  const claim = claimIn(told);
  if (claim) return claim;
  const [enclosed, ...others] = Object.values(told).filter((value) => readRecord(value) !== null);
  return others.length === 0 ? claimIn(readRecord(enclosed) ?? {}) : null;
}

function claimIn(told: JsonRecord): UpstreamPayout | null {
  const withdrawalId = idIn(told);
  if (withdrawalId === null) return null;
  const values = Object.values(told);
  const status = readText(told.status) ?? values.find((value) => statusOf(value) !== null);
  const method = readText(told.method) ?? values.find((value) => methodOf(value) !== null);
  return {
    withdrawalId,
    code: readText(told.code) ?? readText(findMember(told, (text) => text.startsWith('SAQ-'))),
    method: method === undefined ? null : (methodOf(method) ?? 'unknown'),
    status: status === undefined ? null : (statusOf(status) ?? 'unknown'),
    amountCents: readReais(told.amount),
    feeCents: readCents(told.feeCents) ?? readReais(told.fee),
    destination: readText(told.walletAddress) ?? destinationIn(values),
    requestedAt:
      readInstant(told.requestedAt) ??
      readInstant(told.createdAt) ??
      readInstants(values.filter((value) => value !== told.processedAt))[0] ??
      null,
    processedAt: readInstant(told.processedAt),
    deniedReason: readText(told.deniedReason),
  };
}

function idIn(told: JsonRecord): string | null {
  return readText(told.withdrawalId) ?? readText(told.id) ?? findMember(told, isObjectId, ['_id']);
}

function statusOf(value: unknown): PayoutStatus | null {
  const word = readWord(value);
  return word !== null && Object.hasOwn(FROM_THE_WIRE, word) ? FROM_THE_WIRE[word as WireStatus] : null;
}

function methodOf(value: unknown): PayoutMethod | null {
  const word = readWord(value);
  return PAYOUT_METHODS.find((method) => method === word) ?? null;
}

/** A masked key, or an address, which its checksum tells. */
function destinationIn(values: readonly unknown[]): string | null {
  const texts = values.filter((value) => typeof value === 'string');
  const isAddress = (text: string) =>
    parseDestination('ltc', text).destination !== null || parseDestination('usd', text).destination !== null;
  return readText(texts.find((text) => /\*\*|…/.test(text)) ?? texts.find(isAddress));
}

const EVENT_NAME = /^withdrawal\.(?:test\.)?([a-z_.]+)$/;
const STATUS_OF_EVENT: Readonly<Record<string, PayoutStatus>> = {
  requested: 'pending',
  completed: 'completed',
  denied: 'denied',
};

/**
 * A webhook of a withdrawal (the document's 6.1), by the names that it shows; null where it is another's. An event whose
 * name and status say different things tells no status.
 */
export function readPayoutEvent(json: unknown): UpstreamPayout | null {
  const told = readRecord(json);
  const name = EVENT_NAME.exec(readText(told?.event) ?? '')?.[1];
  const withdrawalId = readText(told?.withdrawalId);
  if (!told || name === undefined || withdrawalId === null) return null;
  const claim = claimIn(told)!;
  const agrees = STATUS_OF_EVENT[name] === undefined || STATUS_OF_EVENT[name] === claim.status;
  return agrees ? claim : { ...claim, status: null };
}
