/** Reads a percentage with at most two decimals as basis points; null for any other text, and from 1000 % on. */
export function basisPointsOf(text: string): number | null {
  const [, whole, decimals = ''] = /^(\d{1,3})(?:\.(\d{1,2}))?$/.exec(text) ?? [];
  return whole === undefined ? null : Number(whole) * 100 + Number(decimals.padEnd(2, '0'));
}

/** Writes basis points as a percentage, without trailing zeros: `33.3`. */
export function percentText(basisPoints: number): string {
  return String(basisPoints / 100);
}
