import { z } from 'zod';
import { type Caller, may, type Right } from '../../kernel/caller.ts';
import {
  type AmountFilter,
  among,
  amountConditions,
  before,
  type Conditions,
  from,
  matches,
  named,
} from '../../kernel/list-filter.ts';
import type { FamilyReads, ListRange } from '../../kernel/list-range.ts';
import { type Cents, isCents } from '../../kernel/money.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import { idempotencyKeyText, notNull, optionalLimit, plainText } from '../../kernel/text.ts';
import { anyChargeIdText, CHARGE_ID_FORM, isChargeId } from '../charges/model.ts';
import { anyPaymentIdText, isPaymentId, PAYMENT_ID_FORM } from '../payments/model.ts';
import { assertIdForm } from '../pix/model.ts';

/** The statuses of a refund. */
export const REFUND_STATUSES = ['processing', 'completed', 'failed'] as const;
export type RefundStatus = (typeof REFUND_STATUSES)[number];

const NEXT: Record<RefundStatus, readonly RefundStatus[]> = {
  processing: ['completed', 'failed'],
  completed: [],
  failed: [],
};

/** A resource whose money can be given back. */
export interface RefundedResource {
  type: RefundedType;
  id: string;
}

/** The types of resources that can be refunded. */
export const REFUNDED_TYPES = ['card_payment', 'payment', 'charge'] as const;
export type RefundedType = (typeof REFUNDED_TYPES)[number];

/** The right that shows refunds of each type. */
export const READ_REFUNDED = {
  card_payment: 'card_payments.read',
  payment: 'payments.read',
  charge: 'payments.read',
} as const satisfies Record<RefundedType, Right>;

/** The types of the resources whose refunds a caller may read; undefined means all. */
export function readableTypes(caller: Caller): RefundedType[] | undefined {
  const types = REFUNDED_TYPES.filter((type) => may(caller, READ_REFUNDED[type]));
  return types.length === REFUNDED_TYPES.length ? undefined : types;
}

/** Money given back to a payer. All instants are in UTC. */
export interface Refund {
  /** `ref_` and 24 hex digits. */
  refundId: string;
  /** A number that grows by one with each change: of two answers the larger is the newer. */
  version: number;
  status: RefundStatus;
  resource: RefundedResource;
  amountCents: Cents;
  /** The merchant's reason; null if none was given. */
  reason: string | null;
  /** The bank's identifier of the return; null for a card. */
  endToEndId: string | null;
  /** The rail's reason; null unless the refund has failed. */
  failureReason: string | null;
  createdAt: Date;
  /** The instant at which the payer received the money; null unless the refund is completed. */
  completedAt: Date | null;
  /** The instant at which the acquirer or the bank refused it; null unless the refund has failed. */
  failedAt: Date | null;
}

/** A refund of the embedded service. */
export interface StoredRefund extends Refund {
  /** Whether the service began it, not the merchant. */
  isAutomatic: boolean;
  /** The rail's name of the refunded payment: the charge of a card, or the end-to-end id of a PIX. */
  railChargeId: string;
}

/** A refund as an event holds it, with the details of its resource that a webhook needs. */
export interface RefundSnapshot extends Refund {
  metadata: string | null;
  callbackUrl: string | null;
}

/** The kinds of tasks that refunds have. */
export type RefundTask = 'refund.send';

/** Whether no later status can follow. */
export function isFinal(status: RefundStatus): boolean {
  return NEXT[status].length === 0;
}

const REFERENCE_OF_A_KEY = 'ref_idem_';

/** Whether a text has the form of a refund's id. */
export function isRefundId(text: string): boolean {
  return /^ref_[0-9a-f]{24}$/.test(text);
}

/** Builds the reference to the refund that an idempotency key has made. */
export function referenceOfKey(key: string): `ref_idem_${string}` {
  return `${REFERENCE_OF_A_KEY}${key}`;
}

/** Reads the idempotency key in a reference to the refund that it made; null for any other text. */
export function keyInReference(reference: string): string | null {
  if (!reference.startsWith(REFERENCE_OF_A_KEY)) return null;
  return idempotencyKeyText.safeParse(reference.slice(REFERENCE_OF_A_KEY.length)).data ?? null;
}

/** Reads a snapshot back from JSON, where instants are text. */
export function refundFromJson(json: unknown): RefundSnapshot {
  const { createdAt, completedAt, failedAt, ...rest } = json as Record<keyof RefundSnapshot, string>;
  return {
    ...(rest as unknown as RefundSnapshot),
    createdAt: new Date(createdAt),
    completedAt: completedAt ? new Date(completedAt) : null,
    // The version before did not record it.
    failedAt: failedAt ? new Date(failedAt) : null,
  };
}

// ── Input ───────────────────────────────────────────────────────────────────────────────────────

export const refundInput = z.object({
  amountCents: optionalLimit(
    z
      .number({ error: notNull('all that is refundable', 'must be an integer number of cents') })
      .refine(isCents, 'must be an integer number of cents')
      .refine((cents) => cents >= 1, 'must be at least 1'),
  ).meta({
    type: 'integer',
    minimum: 1,
    description: 'All that is refundable where left out, as in the body {}',
  }),
  reason: plainText({ max: 140 }).nullish().describe('Shown to the merchant alone'),
  idempotencyKey: idempotencyKeyText.nullish().describe('The same key and input give the same refund'),
});
export type RefundInput = z.infer<typeof refundInput>;

export const refundCardPaymentInput = refundInput.extend({ orderCode: z.string() });
export const refundPaymentInput = refundInput.extend({ paymentId: anyPaymentIdText });
export const refundChargeInput = refundInput.extend({ chargeId: anyChargeIdText });

/** Refuses an id that no payment or charge of this service can have. @throws ValidationError */
export function assertOwnId({ type, id }: RefundedResource): void {
  if (type === 'payment') assertIdForm('input.paymentId', isPaymentId(id), PAYMENT_ID_FORM);
  if (type === 'charge') assertIdForm('input.chargeId', isChargeId(id), CHARGE_ID_FORM);
}

// ── The port ────────────────────────────────────────────────────────────────────────────────────

export interface RefundFilter extends AmountFilter {
  /** The types of the refunded resources; undefined: any. */
  types?: readonly RefundedType[] | undefined;
  status?: readonly RefundStatus[] | undefined;
  /** The id, or the bank's identifier of the money. */
  reference?: string | undefined;
  createdAfter?: Date | undefined;
  createdBefore?: Date | undefined;
  completedAfter?: Date | undefined;
  completedBefore?: Date | undefined;
  failedAfter?: Date | undefined;
  failedBefore?: Date | undefined;
}

/** The condition of each member of the filter, for lists and updates. */
export const refundConditions = {
  types: among('resource', ({ resource }: Refund) => resource.type),
  status: among('status'),
  reference: named(['refundId', 'endToEndId']),
  ...amountConditions(),
  createdAfter: from('createdAt'),
  createdBefore: before('createdAt'),
  completedAfter: from('completedAt'),
  completedBefore: before('completedAt'),
  failedAfter: from('failedAt'),
  failedBefore: before('failedAt'),
} satisfies Conditions<RefundFilter, Refund>;

/** Whether a filter selects a refund. */
export function matchesFilter(refund: Refund, filter: RefundFilter): boolean {
  return matches(refundConditions, refund, filter);
}

/**
 * A part of the list, newest first: the first or the last `limit` refunds behind `after` and before `before`.
 */
export type RefundRange = RefundFilter & ListRange;

export interface RefundService
  extends Pick<FamilyReads<Refund, RefundFilter>, 'find' | 'findMany' | 'list' | 'count' | 'totals'> {
  /**
   * Refunds a payer: from the withdrawable balance, or from money that still waits for its release. The same
   * idempotency key and input give the same refund again, `replayed`.
   * @throws NotFoundError (the resource), ValidationError (more than is refundable), PreconditionError
   * (NOT_REFUNDABLE, or NOT_OFFERED in front of another service), InsufficientFundsError, IdempotencyError
   */
  request(
    tenant: Tenant,
    resource: RefundedResource,
    input: RefundInput,
  ): Promise<{ refund: Refund; replayed: boolean }>;
  /**
   * Finds a refund by its id, or by `ref_idem_` and the idempotency key of its request; null if it does not exist or
   * is another tenant's.
   * @throws PreconditionError (NOT_OFFERED)
   */
  find(tenant: Tenant, reference: string): Promise<Refund | null>;
  /** Lists the refunds of resources, oldest first, in the order of the ids; null if the service does not report them. */
  ofResources(tenant: Tenant, type: RefundedType, ids: readonly string[]): Promise<(Refund[] | null)[]>;
  /** Refuses a subscription if no refund would ever be announced. @throws PreconditionError (NOT_OFFERED) */
  assertAnnounced(): void;
}

/** The refunds that no client can request: the service and its simulator make them. */
export interface RefundControls {
  /**
   * Refunds the whole refundable amount of a card payment, even beyond the balance, which becomes a debt.
   * False if nothing is refundable.
   * @throws NotFoundError
   */
  refund(tenant: Tenant, orderCode: string): Promise<boolean>;
}
