import type { Cents } from '../../../kernel/money.ts';
import { customerOf } from '../../checkout/model.ts';
import { contradictionOf } from '../../pix/upstream-resource.ts';
import type { PaymentMethod } from '../methods.ts';
import type { CreatePaymentInput, Payment } from '../model.ts';
import type { UpstreamPayment } from '../upstream-payment.ts';

/**
 * The request to the service, stored before it is sent. The service does not get the merchant's own
 * `callbackUrl`, nor the `language`.
 */
export type WantedPayment = { valueCents: Cents; method: PaymentMethod } & Pick<
  Payment,
  | 'description'
  | 'callbackUrl'
  | 'customer'
  | 'metadata'
  | 'externalId'
  | 'productId'
  | 'successUrl'
  | 'cancelUrl'
  | 'language'
>;

type Input = Omit<CreatePaymentInput, 'idempotencyKey'>;

/** Builds the request. `valueCents` is the amount, or the price of the product. */
export function toWanted(input: Input, valueCents: Cents): WantedPayment {
  return {
    valueCents,
    method: input.method ?? 'pix',
    description: input.description ?? null,
    callbackUrl: input.callbackUrl ?? null,
    customer: customerOf(input.customer),
    metadata: input.metadata ?? null,
    externalId: input.externalId ?? null,
    productId: input.productId ?? null,
    successUrl: input.successUrl ?? null,
    cancelUrl: input.cancelUrl ?? null,
    language: input.language ?? null,
  };
}

/** The body of the request. A product has its price at the service. */
export function bodyOf(
  { valueCents, language: _, ...wanted }: WantedPayment,
  callbackUrl: string | null,
): object {
  return { ...wanted, callbackUrl, ...(wanted.productId === null && { valueCents }) };
}

/** The reason why the answer does not belong to the request, or must not reach a payer; null if it may. */
export function contradictionOfPayment(claim: UpstreamPayment, wanted: WantedPayment): string | null {
  const { method, valueCents } = wanted;
  if ((claim.method ?? 'pix') !== method) return 'another method';
  return CONTRADICTIONS[method](claim, valueCents);
}

/** The contradictions of an answer, by the method of the request, which the answer has too. */
const CONTRADICTIONS: Readonly<
  Record<PaymentMethod, (claim: UpstreamPayment, valueCents: Cents) => string | null>
> = {
  pix: contradictionOf,
  ltc(claim, valueCents) {
    if (claim.amountCents !== valueCents) return 'another amount, or none';
    const isOpen = claim.status === null || claim.status === 'pending' || claim.status === 'unknown';
    const hasAddress = claim.ltc != null && claim.ltc.address !== null && claim.ltc.litoshi !== null;
    return isOpen && !hasAddress ? 'no address and amount in LTC' : null;
  },
};

/** A created payment: the request is more exact than the response, which masks the payer's CPF. */
export function createdClaim(claim: UpstreamPayment, wanted: WantedPayment, at: Date): UpstreamPayment {
  const { valueCents: _, description, ...details } = wanted;
  return {
    ...claim,
    ...details,
    // A payment for a product is described by the product's name.
    description: description ?? claim.description ?? null,
    status: claim.status ?? 'pending',
    createdAt: claim.createdAt ?? (claim.expiresAt ? null : at),
  };
}
