import { z } from 'zod';
import { UpstreamError } from '../../kernel/errors.ts';
import { type Cents, ltcText } from '../../kernel/money.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { PaymentStatus } from '../receiving/model.ts';

// The request of a payment by LTC, and the outputs that it has received.

/** The request that a payer answers by sending LTC, as far as it is known. */
export interface LtcRequest {
  /** Null until the network has given it. */
  address: string | null;
  /** The amount in litoshi, as it was quoted at the creation. */
  litoshi: number;
  /** The amount that was seen on the chain so far, confirmed or not. Null if the service does not report it. */
  receivedLitoshi: number | null;
  /** The confirmations of the amount, at most those required: 0 until all of it has been seen. */
  confirmations: number;
  /** Null if the service does not report it. */
  requiredConfirmations: number | null;
}

/** A request of the embedded service. */
export interface StoredLtcRequest extends LtcRequest {
  receivedLitoshi: number;
  requiredConfirmations: number;
  /** The newest report of the network that was recorded. */
  revision: number;
}

/** The members of a payment that the decisions about LTC read and change. */
export interface StoredLtcResource {
  paymentId: string;
  version: number;
  status: PaymentStatus;
  amountCents: Cents;
  createdAt: Date;
  expiresAt: Date;
  paidAt: Date | null;
  paidLate: boolean;
  canceledAt: Date | null;
  failureReason: string | null;
  /** The payment that the order keeps, if this one has failed for it. */
  keptPayment: string | null;
  /** Null for a payment by another method. */
  ltc: StoredLtcRequest | null;
}

/** The confirmations that an amount needs, and those for amounts from `LARGE_CENTS` on. */
const CONFIRMATIONS = 2;
const LARGE_CONFIRMATIONS = 6;
const LARGE_CENTS = 100_000;

export function confirmationsFor(amountCents: Cents): number {
  return amountCents >= LARGE_CENTS ? LARGE_CONFIRMATIONS : CONFIRMATIONS;
}

/** The amount of a request in LTC, as decimal text. */
export function ltcAmount({ litoshi }: Pick<LtcRequest, 'litoshi'>): string {
  return ltcText(litoshi);
}

/** The URI that opens a wallet with the address and the amount; null until there is an address. */
export function ltcUri({ address, litoshi }: Pick<LtcRequest, 'address' | 'litoshi'>): string | null {
  return address === null ? null : `litecoin:${address}?amount=${ltcAmount({ litoshi })}`;
}

/** The error of a creation without a quote. */
export function noQuote(): UpstreamError {
  return new UpstreamError(
    'UPSTREAM_UNAVAILABLE',
    'No quote for LTC can be had at this moment; nothing was created',
  );
}

/** The kinds of tasks that payments by LTC have. */
export type LtcTask = 'ltc.address' | 'ltc.expire' | 'ltc.receive';

/** The side of the service that the network calls. */
export interface LtcReceiver<R> {
  /**
   * Records what the network reports for a payment: its outputs, and their confirmations. The network calls
   * it at least once for each change; a repeated call changes nothing. Null if the payment does not exist.
   */
  receive(tenant: Tenant, id: string): Promise<R | null>;
}

/** The input of `psa ltc credit`. */
export const creditLtcInput = z.strictObject({
  id: z.string().min(1, 'must be a payment’s id').max(100, 'must be a payment’s id'),
});

/** The input of `psa ltc list`. */
export const listUnmatchedInput = z.strictObject({
  after: z.string().min(1, 'must be a payment’s id').max(100, 'must be a payment’s id').optional(),
});

/** The confirmed LTC of a payment that has ended without them: they wait for the operator. */
export interface UnmatchedLtc {
  paymentId: string;
  accountId: string;
  status: PaymentStatus;
  /**
   * The reason: less than the amount was received, all of it was received after the payment had failed, or
   * the order was paid before. An expired payment has no reason of its own.
   */
  reason: 'underpaid' | 'late' | 'paid_elsewhere';
  amountCents: Cents;
  /** The amount as it was quoted. */
  askedLitoshi: number;
  litoshi: number;
  /** The time at which the network first saw any of them. */
  seenAt: Date;
}

/** The port of the commands `psa ltc`, which find payments of any account. */
export interface LtcAdministration {
  /**
   * Lists the payments whose LTC can be credited, longest waiting first; at most 100. `after`: the id of the
   * payment behind which the list begins, even if it was credited meanwhile. `next`: the id of the last
   * listed payment, if more follow.
   * @throws ValidationError if `after` has received no LTC
   */
  listUnmatchedLtc(
    input: z.output<typeof listUnmatchedInput>,
  ): Promise<{ payments: UnmatchedLtc[]; next: string | null }>;
  /** Credits the confirmed LTC of a payment that has ended without them. @throws NotFoundError */
  creditLtc(input: z.output<typeof creditLtcInput>): Promise<{ paymentId: string; litoshi: number }>;
}

/** The operations of the operator on one account. */
export interface LtcControls {
  /**
   * Credits the confirmed litoshi of a payment that has ended without them. Returns their number; 0 if there
   * are none.
   * @throws NotFoundError
   */
  creditUnmatched(tenant: Tenant, id: string): Promise<number>;
}
