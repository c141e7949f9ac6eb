import { z } from 'zod';
import { instant } from '../kernel/instant.ts';
import { centsAsReais, reaisFromCents } from '../kernel/money.ts';
import type { Environment } from '../kernel/tenant.ts';
import { idempotencyKeyText } from '../kernel/text.ts';
import {
  maskDestination,
  PAYOUT_STATUSES,
  type Payout,
  type PayoutStatus,
  parseDestination,
  payoutMethod,
  type RequestPayoutInput,
  type ShownPayout,
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

export function payoutToWire(payout: Payout): z.output<typeof payoutWire> {
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
export function payoutWebhook(payout: ShownPayout, environment: Environment) {
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
