import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { ValidationError } from '../../kernel/errors.ts';
import { among, before, type Conditions, equal, from, matches } from '../../kernel/list-filter.ts';
import type { FamilyReads } from '../../kernel/list-range.ts';
import type { Cents } from '../../kernel/money.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import { idempotencyKeyText } from '../../kernel/text.ts';
import { checkoutDetails } from '../checkout/model.ts';
import { pixAmount } from '../pix/model.ts';

export const VOUCHER_STATUSES = ['open', 'paid'] as const;
export type VoucherStatus = (typeof VOUCHER_STATUSES)[number];

/** A slip that the payer pays at a counter, as far as it is known. */
export interface Voucher {
  voucherId: string;
  version: number;
  status: VoucherStatus | 'unknown';
  amountCents: Cents;
  description: string | null;
  createdAt: Date | null;
  paidAt: Date | null;
}

/** A voucher of the embedded service. */
export interface StoredVoucher extends Voucher {
  status: VoucherStatus;
  createdAt: Date;
}

export const VOUCHER_ID_FORM = 'vou_ and 32 hex digits';
export const newVoucherId = () => `vou_${randomUUID().replaceAll('-', '')}`;
export const isVoucherId = (text: string) => /^vou_[0-9a-f]{32}$/.test(text);
export const voucherIdText = z.string().refine(isVoucherId, `must be ${VOUCHER_ID_FORM}`);

/** @throws ValidationError */
export function assertVoucherId(voucherId: string): void {
  if (!isVoucherId(voucherId))
    throw new ValidationError([{ path: 'voucherId', message: `must be ${VOUCHER_ID_FORM}` }]);
}

/** Reads a snapshot back from JSON, where instants are text. */
export function voucherFromJson(json: unknown): Voucher {
  const { createdAt, paidAt, ...rest } = json as Voucher;
  return { ...rest, createdAt: createdAt && new Date(createdAt), paidAt: paidAt && new Date(paidAt) };
}

export const createVoucherInput = z.object({
  valueCents: pixAmount,
  description: checkoutDetails.shape.description,
  idempotencyKey: idempotencyKeyText.nullish(),
});
export type CreateVoucherInput = z.infer<typeof createVoucherInput>;

export interface VoucherFilter {
  status?: readonly VoucherStatus[] | undefined;
  amountCents?: Cents | undefined;
  createdAfter?: Date | undefined;
  createdBefore?: Date | undefined;
}

export const voucherConditions = {
  status: among('status'),
  amountCents: equal('amountCents'),
  createdAfter: from('createdAt'),
  createdBefore: before('createdAt'),
} satisfies Conditions<VoucherFilter, Voucher>;

export function matchesFilter(voucher: Voucher, filter: VoucherFilter): boolean {
  return matches(voucherConditions, voucher, filter);
}

/** The port of vouchers. */
export interface VoucherService<V extends Voucher = Voucher>
  extends Omit<FamilyReads<V, VoucherFilter>, 'totals'> {
  /** @throws IdempotencyError, PreconditionError (in front of another service NOT_OFFERED), UpstreamError */
  create(tenant: Tenant, input: CreateVoucherInput): Promise<{ voucher: V; replayed: boolean }>;
}

export interface VoucherControls {
  /** Pays a voucher, as its payer does at a counter. False if it is paid already. @throws NotFoundError */
  pay(tenant: Tenant, voucherId: string): Promise<boolean>;
}
