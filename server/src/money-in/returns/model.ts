import { deterministicId } from '../../kernel/ids.ts';
import type { ListRange } from '../../kernel/list-range.ts';
import type { Cents } from '../../kernel/money.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { ReturnCause } from '../receiving/model.ts';

/** The types of resources that money can come for and be returned. */
export const RETURNED_TYPES = ['card_payment', 'payment', 'charge', 'subscription'] as const;
export type ReturnedType = (typeof RETURNED_TYPES)[number];

/** Money that came for a resource, did not pay it, and is returned to its payer. It never gets into a balance. */
export interface PaymentReturn {
  /** `ret_` and 24 hex digits. */
  returnId: string;
  resource: { type: ReturnedType; id: string };
  /** The merchant's number of the order, or of the charge. */
  externalId: string | null;
  amountCents: Cents;
  cause: ReturnCause;
  /** The payment of the same order that was kept; null if none was. */
  keptPayment: string | null;
  /** The bank's identifier of the PIX that came; null of a card. */
  endToEndId: string | null;
  receivedAt: Date;
  /** The instant at which the payer had the money; null while the rail is sending it back. */
  returnedAt: Date | null;
}

/** A return of the embedded service. */
export interface StoredReturn extends PaymentReturn {
  /** The rail's name of what came: a card's charge, or the end-to-end id of a PIX. */
  railId: string;
  /** The number of times that the rail has refused to send it back. */
  failedReturns: number;
}

/** A return as an event holds it, with the details of its resource that a webhook needs. */
export interface ReturnSnapshot extends PaymentReturn {
  metadata: string | null;
  callbackUrl: string | null;
}

/** The id of the return of what a rail has taken. The same money gives the same id, even after a restored backup. */
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

export interface ReturnFilter {
  /** The types of the resources; undefined: any. */
  types?: readonly ReturnedType[] | undefined;
  externalId?: string | undefined;
}

/** A part of the list, newest first: the first or the last `limit` of those behind `after` and before `before`. */
export type ReturnRange = ReturnFilter & ListRange;

export interface ReturnService {
  /** @throws UnavailableError (NOT_OFFERED) */
  list(
    tenant: Tenant,
    range: ReturnRange,
  ): Promise<{ items: { place: number; item: PaymentReturn }[]; more: boolean }>;
  /** Reads a page by offset, newest first, and the total count. */
  listPage(
    tenant: Tenant,
    page: { limit: number; offset: number },
  ): Promise<{ items: PaymentReturn[]; total: number }>;
  count(tenant: Tenant, filter: ReturnFilter): Promise<number>;
}
