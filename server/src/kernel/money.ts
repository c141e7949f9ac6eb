/**
 * Money inside the program: integer cents of BRL. Reais exist at the wire alone.
 *
 * `Math.round(reais * 100)` is exact for every amount of two decimals that a safe integer of cents
 * can hold in practice; truncation loses a cent in 6.6 % of them (8.2 * 100 = 819.99…), so an amount
 * with more than two decimals is refused and never rounded away.
 */
export type Cents = number;

export function isCents(value: unknown): value is Cents {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/** Cents as the document's decimal number of reais: 4990 → 49.9. */
export function toReais(cents: Cents): number {
  return cents / 100;
}

/** The document's reais read back. Null for what is not an amount of at most two decimals. */
export function fromReais(reais: number): Cents | null {
  const cents = Math.round(reais * 100);
  if (!Number.isSafeInteger(cents) || cents / 100 !== reais) return null;
  return cents;
}
