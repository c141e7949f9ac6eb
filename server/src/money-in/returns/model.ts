import { deterministicId } from '../../kernel/ids.ts';
import {
  type AmountFilter,
  among,
  amountConditions,
  before,
  type Conditions,
  type DetailFilter,
  equal,
  from,
  named,
} from '../../kernel/list-filter.ts';
import type { ListRange } from '../../kernel/list-range.ts';
import type { Cents } from '../../kernel/money.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { ReturnCause } from '../receiving/model.ts';

/** The types of resources whose money can be returned. */
export const RETURNED_TYPES = ['card_payment', 'payment', 'charge', 'subscription'] as const;
export type ReturnedType = (typeof RETURNED_TYPES)[number];

/** The types of resources that belong to orders. */
const OF_ORDERS: readonly ReturnedType[] = ['card_payment', 'payment'];

/**
 * Money that arrived for a resource, did not pay it, and is returned to its payer. It never reaches a
 * balance.
 */
export interface PaymentReturn {
  /** `ret_` and 24 hex digits. */
  returnId: string;
  resource: { type: ReturnedType; id: string };
  /** The merchant's number of the order, or its label of the charge. */
  externalId: string | null;
  amountCents: Cents;
  cause: ReturnCause;
  /** The payment that the order keeps; null without one. */
  keptPayment: string | null;
  /** The bank's identifier of the PIX that arrived; null for a card. */
  endToEndId: string | null;
  receivedAt: Date;
  /** The instant at which the payer received the money; null while the rail is returning it. */
  returnedAt: Date | null;
}

/** A return of the embedded service. */
export interface StoredReturn extends PaymentReturn {
  /** The rail's name of the money: a card's charge, or the end-to-end id of a PIX. */
  railId: string;
  /** The number of times that the rail has refused to return it. */
  failedReturns: number;
}

/** A return as an event holds it, with the details of its resource that a webhook needs. */
export interface ReturnSnapshot extends PaymentReturn {
  metadata: string | null;
  callbackUrl: string | null;
}

/** The number of the order that the money came for; null for a resource that belongs to no order. */
export function orderIdOf({ resource, externalId }: Pick<PaymentReturn, 'resource' | 'externalId'>) {
  return OF_ORDERS.includes(resource.type) ? externalId : null;
}

/**
 * The id of a return, derived from the rail's name of the money. The same money gives the same id, even after
 * a restored backup.
 */
export function returnIdOf(railId: string): string {
  return `ret_${deterministicId(24, 'return', railId)}`;
}

/** Reads a snapshot back from JSON, where instants are text. */
export function returnFromJson(json: unknown): ReturnSnapshot {
  const { receivedAt, returnedAt, ...rest } = json as Record<keyof ReturnSnapshot, string>;
  return {
    ...(rest as unknown as ReturnSnapshot),
    receivedAt: new Date(receivedAt),
    returnedAt: returnedAt ? new Date(returnedAt) : null,
  };
}

// ── The port ────────────────────────────────────────────────────────────────────────────────────

export interface ReturnFilter extends AmountFilter, Pick<DetailFilter, 'externalId' | 'reference'> {
  /** The types of the resources; undefined: any. */
  types?: readonly ReturnedType[] | undefined;
  cause?: readonly ReturnCause[] | undefined;
  receivedAfter?: Date | undefined;
  receivedBefore?: Date | undefined;
  returnedAfter?: Date | undefined;
  returnedBefore?: Date | undefined;
}

/** Selects the types that an order has; undefined selects all of them. */
export function typesOfOrders(types: readonly ReturnedType[] | undefined): readonly ReturnedType[] {
  return types?.filter((type) => OF_ORDERS.includes(type)) ?? OF_ORDERS;
}

/** The condition of each member of the filter. */
export const returnConditions = {
  types: among('resource'),
  cause: among('cause'),
  externalId: equal('externalId'),
  reference: named(['returnId', 'endToEndId']),
  ...amountConditions(),
  receivedAfter: from('receivedAt'),
  receivedBefore: before('receivedAt'),
  returnedAfter: from('returnedAt'),
  returnedBefore: before('returnedAt'),
} satisfies Conditions<ReturnFilter, PaymentReturn>;

/**
 * A part of the list, newest first: the first or the last `limit` returns behind `after` and before `before`.
 */
export type ReturnRange = ReturnFilter & ListRange;

export interface ReturnService {
  /** @throws PreconditionError (NOT_OFFERED) */
  list(
    tenant: Tenant,
    range: ReturnRange,
  ): Promise<{ items: { position: number; item: PaymentReturn }[]; more: boolean }>;
  /** Reads a page by offset, newest first, and the total count. */
  listPage(
    tenant: Tenant,
    page: ReturnFilter & { limit: number; offset: number },
  ): Promise<{ items: PaymentReturn[]; total: number }>;
  count(tenant: Tenant, filter: ReturnFilter): Promise<number>;
}
