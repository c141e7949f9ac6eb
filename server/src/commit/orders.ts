import type { Sql } from '../db/database.ts';
import type { Tenant } from '../kernel/tenant.ts';
import type { Reader, State } from './commit.ts';

/** An order: a checkout attempt, a number of the merchant's, or both. Of its payments one is kept, whichever method pays. */
export interface Order {
  checkoutAttempt: string | null;
  /** The merchant's number of the order. */
  externalId: string | null;
  /** The single-use token that starts its payments; null where none does. */
  tokenId: string | null;
}

/** The order of a payment that a request with an API key creates. */
export function orderOfNumber(externalId: string | null | undefined): Order {
  return { checkoutAttempt: null, externalId: externalId ?? null, tokenId: null };
}

/** The members of a payment that decide whether another one of its order can be paid. */
export interface OrderPayment {
  /** The `orderCode` or `paymentId` of the payment. */
  readonly id: string;
  readonly status: string;
  readonly paidAt: Date | null;
  readonly canceledAt: Date | null;
  /** The checkout attempt that started it. Left out by a method whose payments cannot be canceled. */
  readonly checkoutAttempt?: string | null;
}

/** The payments of orders by one method. The slice that owns the method provides them to the slices of the others. */
export interface OrderPayments {
  /** Loads what `paymentsOf` returns. */
  read(reader: Reader, order: Order): Promise<unknown>;
  /** Lists the payments of the order that were paid or may be by now, and the last one that its token has started. */
  paymentsOf(state: State, order: Order): readonly OrderPayment[];
  /** Selects those that were paid, outside of a change. */
  selectPaid(sql: Sql, tenant: Tenant, order: Order): Promise<readonly OrderPayment[]>;
}
