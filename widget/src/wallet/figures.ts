import type { Wallet } from './operations.ts';

/** The figures, by the names that the attribute has, in their order. */
export const FIGURES = {
  available: ({ withdrawableCents }: Wallet) => withdrawableCents,
  balance: ({ balanceCents }: Wallet) => balanceCents,
  pending: ({ pendingReleaseCents }: Wallet) => pendingReleaseCents,
  blocked: ({ disputeBlockedCents }: Wallet) => disputeBlockedCents,
  subaccounts: ({ subaccountsBalanceCents }: Wallet) => subaccountsBalanceCents,
  ltc: ({ cryptoBalanceLtc }: Wallet) => cryptoBalanceLtc,
  receivable: ({ receivableCents }: Wallet) => receivableCents,
};

export type Figure = keyof typeof FIGURES;

/** Reads the attribute `figures`. Unknown names are left out; without one that is known, all figures are shown. */
export function readFigures(text: string | null | undefined): Figure[] {
  const all = Object.keys(FIGURES) as Figure[];
  const named: string[] = text?.match(/\w+/g) ?? [];
  const chosen = all.filter((name) => named.includes(name));
  return chosen[0] ? chosen : all;
}

/** Reads the attribute `history`, such as `30d`: 0 to 366 days. */
export function readDays(text: string | null | undefined): number {
  const days = Number(/^\s*(\d{1,3})\s*d\s*$/.exec(text ?? '')?.[1] ?? 0);
  return Math.min(366, days);
}
