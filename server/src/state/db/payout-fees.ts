import { METHODS, type PayoutMethod } from '../../kernel/payout-methods/registry.ts';

// The table of accounts has a column for the fee of each payout method.

const METHOD_NAMES = Object.keys(METHODS) as PayoutMethod[];

export type PayoutFeeColumn = `payout_fee_${PayoutMethod}_cents`;

function columnOf<Method extends PayoutMethod>(method: Method) {
  return `payout_fee_${method}_cents` as const;
}

/** The fees as columns; undefined for a method whose fee is not given. */
export function toFeeColumns<Fees extends { [Method in PayoutMethod]?: number | undefined }>(
  fees: Fees,
): { [Method in PayoutMethod as `payout_fee_${Method}_cents`]: Fees[Method] } {
  const entries = METHOD_NAMES.map((method) => [columnOf(method), fees[method]]);
  return Object.fromEntries(entries);
}

/** The fees in an account's row, by payout method. */
export function readFees(row: Readonly<Record<PayoutFeeColumn, number>>): Record<PayoutMethod, number> {
  const entries = METHOD_NAMES.map((method) => [method, row[columnOf(method)]]);
  return Object.fromEntries(entries) as Record<PayoutMethod, number>;
}
