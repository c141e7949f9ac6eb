import { parseBrCode } from '../kernel/br-code.ts';
import type { Cents } from '../kernel/money.ts';
import { canFollow, isFinal, isPayable, type ReturnedCredit } from '../pix/model.ts';
import {
  isUnchanged,
  type MergedPayment,
  mergeDetails,
  type UpstreamDetails,
  wasPaidBy,
} from '../receiving/upstream-payment.ts';
import type { Payment, PaymentMethod } from './model.ts';

/** A payment as the service shows it in a response or a webhook. Null: not shown. */
export interface UpstreamPayment extends UpstreamDetails {
  paymentId: string;
  method?: PaymentMethod | 'unknown' | null;
  feeCents?: Cents | null;
  productId?: string | null;
  brCode?: string | null;
  txid?: string | null;
  endToEndId?: string | null;
  returnedCredits?: readonly ReturnedCredit[] | null;
}

/**
 * Merges what the service shows into what is known, by `mergeDetails`; null where nothing changes, or where the payment is
 * unknown and too little of it is shown. Subscribers get each change of the status, the code, the refunds and the returned
 * credits.
 */
export function mergeUpstreamPayment(
  known: Payment | null,
  claim: UpstreamPayment,
  now: Date,
): MergedPayment<Payment> | null {
  if (!known && claim.amountCents === null) return null;
  const details = mergeDetails(known, claim, { canFollow, isFinal }, now);
  const { amountCents, status } = details;
  const payment: Payment = {
    paymentId: claim.paymentId,
    version: known?.version ?? 1,
    ...details,
    externalId: details.externalId ?? null,
    // By PIX, unless the service shows another method: so the document calls the event of a payment.
    method: claim.method ?? known?.method ?? 'pix',
    feeCents: known?.feeCents ?? feeOf(claim, amountCents),
    productId: known?.productId ?? claim.productId ?? null,
    brCode: known?.brCode ?? codeOf(claim, amountCents),
    txid: known?.txid ?? claim.txid ?? null,
    endToEndId: known?.endToEndId ?? (wasPaidBy(status) ? (claim.endToEndId ?? null) : null),
    returnedCredits: claim.returnedCredits ?? known?.returnedCredits ?? [],
  };
  if (!known) return { payment, changed: { from: null } };
  if (isUnchanged(known, payment)) return null;
  return {
    payment: { ...payment, version: known.version + 1 },
    changed: isUnchanged(announcedOf(known), announcedOf(payment)) ? null : { from: known.status },
  };
}

/** The members whose changes subscribers get. An amount that becomes known as 0 is no change. */
function announcedOf(payment: Payment) {
  const { status, otherPaidCents, refundedCents, refundingCents, returnedCredits } = payment;
  return {
    ...{ status, otherPaidCents, returnedCredits },
    refundedCents: refundedCents ?? 0,
    refundingCents: refundingCents ?? 0,
    brCode: isPayable(payment) ? payment.brCode : null,
  };
}

/**
 * The code, if it takes the payment's amount. A dynamic one may leave the amount to the charge at its address; with another
 * amount, or an open one, the payer would pay something else.
 */
function codeOf({ brCode = null }: UpstreamPayment, amountCents: Cents): string | null {
  const code = brCode === null ? null : parseBrCode(brCode);
  const isFit = code && (code.amountCents === amountCents || (code.amountCents === null && code.isDynamic));
  return isFit ? brCode : null;
}

function feeOf({ feeCents = null }: UpstreamPayment, amountCents: Cents): Cents | null {
  return feeCents !== null && feeCents <= amountCents ? feeCents : null;
}
