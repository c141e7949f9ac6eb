import { hashInput } from '../../kernel/input-hash.ts';
import type { Cents } from '../../kernel/money.ts';
import { methodOf } from '../../kernel/payout-methods/registry.ts';
import { isMasked, maskDestination, NO_DESTINATION, type Payout, type RequestPayoutInput } from './model.ts';

// Comparisons of destinations that a service shows masked, in ways that the document does not describe.

type Destined = Pick<Payout, 'method' | 'destination'>;

/** The `inputHash` of a request for this payout; null if the method is unknown or the destination is not whole. */
export function fingerprintOf(
  method: Payout['method'],
  amountCents: Cents,
  shown: string | null,
): string | null {
  if (method === 'unknown' || shown === null || isMasked(shown)) return null;
  const destination = methodOf(method).destination.parse(shown);
  if (destination === null) return null;
  // The request has exactly the members that the service gets: with another one the hash would match no
  // payout.
  const request: Required<Omit<RequestPayoutInput, 'idempotencyKey' | 'externalId' | 'pixKeyType'>> = {
    method,
    amountCents,
    destination,
  };
  return hashInput(request);
}

/**
 * The destination after another description of it: a PIX key stays masked, an address keeps its longer form.
 */
export function mergeDestination(
  known: Payout | null,
  method: Payout['method'],
  shown: string | null,
): string {
  const masked =
    shown === null ? NO_DESTINATION : maskDestination({ method, destination: shown }, { masksPublic: false });
  if (!known || known.destination === NO_DESTINATION) return masked;
  return !isMasked(masked) && matches(known.destination, masked) ? masked : known.destination;
}

/** Whether two destinations, each whole or masked in its own way, can be the same. */
export function canBeSame(left: Destined, right: Destined): boolean {
  const [one, other] = [left, right].map((each) => maskDestination(each, { masksPublic: true })) as [
    string,
    string,
  ];
  if (one === other || one === NO_DESTINATION || other === NO_DESTINATION) return true;
  return matches(left.destination, right.destination) || matches(right.destination, left.destination);
}

/**
 * Whether two destinations are certainly different. The document does not show how a service masks, so two
 * texts that do not match may still be the same. They are different if both are masked in one way, if one is
 * whole, or if their e-mail addresses begin with different letters.
 */
export function areDifferent(left: Destined, right: Destined): boolean {
  if (canBeSame(left, right)) return false;
  const [one, other] = [left.destination, right.destination];
  if (!isMasked(one) && !isMasked(other)) return true;
  if (!isMasked(one) || !isMasked(other)) {
    const [masked, whole] = isMasked(one) ? [one, other] : [other, one];
    const { prefix, suffix } = shownEnds(masked);
    return !(whole.startsWith(prefix) && whole.endsWith(suffix));
  }
  const shapeOf = (text: string) => text.replace(/[0-9a-z]/gi, 'x');
  const areAddresses = [one, other].every((text) => /^[0-9a-z].*@/i.test(text));
  return shapeOf(one) === shapeOf(other) || (areAddresses && one[0] !== other[0]);
}

/**
 * The shown ends of a masked destination. A dot beside the hidden part belongs to the mask; a dot in a domain
 * is shown.
 */
function shownEnds(masked: string): { prefix: string; suffix: string } {
  const shown = masked.split(/\.*(?:[*•…]|\.{3})+\.*/);
  return { prefix: shown[0]!, suffix: shown.at(-1)! };
}

/** Whether a mask shows the beginning and the end of the other text. If that is masked, too, a part of it suffices. */
function matches(masked: string, other: string): boolean {
  if (!isMasked(masked)) return false;
  if (isMasked(other)) {
    const [less, more] = [masked, other].map((text) => text.replace(/[^0-9a-z]/gi, '')) as [string, string];
    return less.length >= 4 && more.includes(less);
  }
  const { prefix, suffix } = shownEnds(masked);
  return prefix.length + suffix.length >= 4 && other.startsWith(prefix) && other.endsWith(suffix);
}
