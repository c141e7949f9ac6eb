import { z } from 'zod';
import { readCents, readInstant, readRecords, readText, readWord } from '../../kernel/lenient-json.ts';
import { cents } from '../../kernel/money.ts';
import type { Environment } from '../../kernel/tenant.ts';
import { nameIn, webhookEvent } from '../../kernel/webhook-event.ts';
import { isVoucherId, VOUCHER_STATUSES, type Voucher } from './model.ts';
import type { UpstreamVoucher } from './upstream-voucher.ts';

const instant = z.string().nullable().meta({ format: 'date-time' });

export const voucherWire = z
  .object({
    voucherId: z.string(),
    status: z.string().meta({ enum: [...VOUCHER_STATUSES] }),
    amountCents: cents,
    description: z.string().nullable(),
    createdAt: instant,
    paidAt: instant,
  })
  .meta({ id: 'Voucher' });

export function voucherToWire({
  version: _,
  createdAt,
  paidAt,
  ...voucher
}: Voucher): z.output<typeof voucherWire> {
  return { ...voucher, createdAt: createdAt?.toISOString() ?? null, paidAt: paidAt?.toISOString() ?? null };
}

/** The events, with the members of each. */
export const voucherWebhooks = {
  'voucher.paid': webhookEvent('voucher.paid', {
    summary: 'A voucher was paid',
    optional: ': its amount is in the balance.',
    resource: 'voucher',
    members: voucherWire.shape,
  }),
};

/** Encodes `voucher.paid`; null for any other change. */
export function voucherWebhook(voucher: Voucher, environment: Environment) {
  if (voucher.status !== 'paid') return null;
  return {
    event: nameIn(environment, 'voucher.paid'),
    ...voucherToWire(voucher),
  };
}

// ── Read from another service ───────────────────────────────────────────────────────────────────

/** Reads the response to a lookup, or the event of a webhook; null if it is about no voucher. */
export function voucherFromWire(body: unknown): UpstreamVoucher | null {
  const record = readRecords(body).find(
    ({ voucherId }) => typeof voucherId === 'string' && isVoucherId(voucherId),
  );
  if (!record) return null;
  const status = readWord(record.status);
  return {
    voucherId: record.voucherId as string,
    status: status === null ? null : (VOUCHER_STATUSES.find((each) => each === status) ?? 'unknown'),
    amountCents: readCents(record.amountCents),
    description: readText(record.description),
    createdAt: readInstant(record.createdAt),
    paidAt: readInstant(record.paidAt),
  };
}
