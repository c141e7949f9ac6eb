import type { CheckoutGrant } from '../../../kernel/caller.ts';
import { plusMs } from '../../../kernel/clock.ts';
import { commonContradiction } from '../../../kernel/contradictions.ts';
import { hashInput } from '../../../kernel/input-hash.ts';
import { withoutZone } from '../../../kernel/zone.ts';
import { CHECKOUT_SESSION_MS, customerOf } from '../../checkout/model.ts';
import type { CardPayment } from '../model.ts';
import type { UpstreamCardPayment } from '../upstream-card-payment.ts';

/**
 * The request to the service, stored before it is sent. Its `callbackUrl` is the merchant's
 * own; its `externalId`, its `language` and the customer's `taxId` are not in the document. They stay here.
 */
export type Wanted = { valueCents: number } & Pick<
  CardPayment,
  | 'description'
  | 'callbackUrl'
  | 'customer'
  | 'metadata'
  | 'externalId'
  | 'successUrl'
  | 'cancelUrl'
  | 'language'
>;

type Details = Omit<CheckoutGrant, 'amount' | 'reusable' | 'orderTokenId'>;

export function toWanted({ valueCents, ...details }: Details & { valueCents: number }): Wanted {
  return {
    valueCents,
    description: details.description ?? null,
    callbackUrl: details.callbackUrl ?? null,
    customer: customerOf(details.customer),
    metadata: details.metadata ?? null,
    externalId: details.externalId ?? null,
    successUrl: details.successUrl ?? null,
    cancelUrl: details.cancelUrl ?? null,
    language: details.language ?? null,
  };
}

/** The members of a request that the document has. */
export function documentedOf({ externalId: _, language: __, customer, ...wanted }: Wanted) {
  const { taxId: ___, ...documented } = customer ?? {};
  return { ...wanted, customer: customerOf(documented) };
}

/**
 * A key of the parts of a request that the service knows. To the service, two requests with the same key are
 * the same.
 */
export function traitsOf(wanted: Wanted): string {
  return hashInput(documentedOf(wanted));
}

const HOUR_MS = 60 * 60_000;

/**
 * A created payment. The request is more exact than the response, but the payer pays the response's amount.
 */
export function createdClaim(claim: UpstreamCardPayment, wanted: Wanted, at: Date): UpstreamCardPayment {
  const { valueCents, ...details } = wanted;
  return {
    ...claim,
    ...details,
    status: claim.status ?? 'pending',
    amountCents: claim.amountCents ?? valueCents,
    ...datesOf(claim, at),
  };
}

/**
 * The dates of a payment that was made at an instant, also if the service shows them in another zone: without
 * the correction the payer's page would have ended before it began. If the creation is missing, the zone
 * follows from the session's 30 minutes.
 */
function datesOf({ createdAt, expiresAt }: UpstreamCardPayment, at: Date) {
  if (!createdAt) {
    const endsAt = plusMs(at, CHECKOUT_SESSION_MS);
    return expiresAt
      ? { createdAt: null, expiresAt: withoutZone(expiresAt, endsAt, HOUR_MS) }
      : { createdAt: at };
  }
  const beganAt = withoutZone(createdAt, at);
  const zoneMs = createdAt.getTime() - beganAt.getTime();
  return { createdAt: beganAt, ...(expiresAt && { expiresAt: plusMs(expiresAt, -zoneMs) }) };
}

/**
 * The reason why an answer does not belong to the request; null if it does. The answer must name the amount
 * (the document's 2.3), and must not be paid already, since nobody has seen its page.
 */
export function contradictionOf(
  { amountCents, status }: UpstreamCardPayment,
  wanted: Wanted,
  body: unknown,
): string | null {
  if (amountCents !== wanted.valueCents) return 'another amount, or none';
  if (status === 'paid' || status === 'refunded') return 'a payment that was paid before';
  return commonContradiction(body, { metadata: wanted.metadata });
}

/** Whether an item of the list agrees with the request in everything that the list contains. */
export function isLike(
  { said, ...item }: UpstreamCardPayment & { said: Readonly<Record<string, unknown>> },
  wanted: Wanted,
): boolean {
  const same = (name: 'metadata' | 'description' | 'successUrl' | 'cancelUrl') =>
    !(name in said) || (item[name] ?? null) === wanted[name];
  return (
    item.amountCents === wanted.valueCents &&
    same('metadata') &&
    same('description') &&
    same('successUrl') &&
    same('cancelUrl') &&
    (!('customer' in said) || hashInput(item.customer ?? null) === hashInput(documentedOf(wanted).customer))
  );
}

/** The instant of creation, derived from the expiry where the service does not show it. */
export function beganAt({ createdAt, expiresAt }: UpstreamCardPayment): Date | null {
  return createdAt ?? (expiresAt ? plusMs(expiresAt, -CHECKOUT_SESSION_MS) : null);
}
