/** Money inside the program: integer cents of BRL. Reais and fractions exist at the wire alone. */
export type Cents = number;

export function isCents(value: unknown): value is Cents {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
