import { commonContradiction, otherPart } from '../../../kernel/contradictions.ts';
import type { DestinationVariant } from '../../../kernel/payout-methods/method.ts';
import { methodOf, type PayoutMethod } from '../../../kernel/payout-methods/registry.ts';
import type { PixKeyKind } from '../../../kernel/pix-key.ts';
import { areDifferent } from '../destinations.ts';
import type { Payout, RequestPayoutInput } from '../model.ts';
import type { UpstreamPayout } from '../upstream-payout.ts';

/** The stored traits of a request, by which its payout is distinguished from others. */
export interface Summary {
  method: PayoutMethod;
  amountCents: number;
  /** The destination: a public address whole, any other masked. */
  destination: string;
  /** The merchant's own number, which is not sent to the service; an older version has stored none. */
  externalId?: string | null;
  /**
   * The kind of the PIX key that the request names, and the one that was assumed. Neither is sent to the
   * service.
   */
  pixKeyType?: PixKeyKind | null;
  destinationKind?: DestinationVariant | null;
  /** The position in the mirror of the newest payout at the time of the request; 0 for none. */
  knownUpTo: number;
}

export function idOf({ withdrawalId }: Payout): string {
  return withdrawalId!;
}

export function dateOf({ requestedAt }: Payout): Date | null {
  return requestedAt;
}

export function namesOf(payouts: readonly Payout[]): string {
  return payouts.map(({ code, withdrawalId }) => code ?? withdrawalId).join(', ');
}

/** Completes the service's answer from the request. A public address, which the answer may shorten, stays whole. */
export function withSummary(
  made: UpstreamPayout,
  { method, amountCents, destination, externalId = null, destinationKind = null }: Summary,
): UpstreamPayout {
  const { isPublic } = methodOf(method).destination;
  return {
    ...made,
    method: made.method ?? method,
    amountCents: made.amountCents ?? amountCents,
    destination: isPublic ? destination : (made.destination ?? destination),
    externalId,
    destinationKind: destinationKind ?? made.destinationKind,
  };
}

/** The reason why an answer does not belong to the request, as far as it shows its payout; null if it may. */
export function contradictionOf(
  made: UpstreamPayout,
  { method, amountCents, destination }: Pick<RequestPayoutInput, 'method' | 'amountCents' | 'destination'>,
  body: unknown,
): string | null {
  const isOther =
    made.destination !== null &&
    areDifferent({ method, destination: made.destination }, { method, destination });
  return (
    otherPart(
      ['amount', made.amountCents, amountCents],
      ['method', made.method === 'unknown' ? null : made.method, method],
    ) ??
    (isOther ? 'another destination' : null) ??
    commonContradiction(body, {}, CURRENCIES[method] ?? ['BRL'])
  );
}

/** The currencies in which a service may show a payout: that of its amount, and that of what leaves. */
const CURRENCIES: Partial<Record<PayoutMethod, readonly string[]>> = {
  ltc: ['BRL', 'LTC'],
  usd: ['BRL', 'USD', 'USDT'],
};

/** Whether a request can have made a payout: no member of it contradicts the summary. */
export function canBeMadeBy(payout: Payout, { method, amountCents, destination }: Summary): boolean {
  return (
    payout.amountCents === amountCents &&
    (payout.method === method || payout.method === 'unknown') &&
    !areDifferent(payout, { method, destination })
  );
}
