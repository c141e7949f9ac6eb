import { ltc } from './ltc.ts';
import type { MethodRecord } from './method.ts';
import { pix } from './pix.ts';
import { pixTurbo } from './pix-turbo.ts';
import { usd } from './usd.ts';

/**
 * The payout methods of the main account by their names on the wire (the document's 6.1), in the order of every list.
 * A new method needs a file in this folder, a line here, and a migration for its fee and for the checks that name the
 * methods.
 */
export const METHODS = {
  pix,
  pix_turbo: pixTurbo,
  ltc,
  usd,
} satisfies Record<string, MethodRecord>;

/** The name of a payout method on the wire and in the database; `usd` is USDT. */
export type PayoutMethod = keyof typeof METHODS;

/** The names of all payout methods of the main account, in the order of every list. */
export const PAYOUT_METHODS = Object.keys(METHODS) as readonly PayoutMethod[];

/** The record of a method: everything in which it differs from the others. */
export function methodOf(method: PayoutMethod): MethodRecord {
  return METHODS[method];
}

/** Builds a record with a value for each method. */
export function byMethod<Value>(toValue: (method: PayoutMethod) => Value): Record<PayoutMethod, Value> {
  const entries = PAYOUT_METHODS.map((method) => [method, toValue(method)] as const);
  return Object.fromEntries(entries) as Record<PayoutMethod, Value>;
}
