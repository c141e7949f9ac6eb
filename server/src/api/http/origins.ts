/** The operations that the document names with method and path. */
const NAMED = [
  'POST /v1/payments',
  'POST /v1/charges',
  'POST /v1/card-payments',
  'GET /v1/card-payments/{orderCode}',
  'DELETE /v1/products/{id}',
  'GET /v1/wallet',
  'POST /v1/payouts',
  'GET /v1/payouts',
  'POST /v1/subaccounts/{id}/payout',
  'GET /v1/subaccounts/{id}/payouts/{payoutId}',
  'GET /v1/sandbox/wallet',
];

/**
 * The operations that the document's text requires without naming them; together they are its 29. Their shapes are decided
 * here.
 */
const NEEDED = [
  'GET /v1/payments/{id}',
  'GET /v1/charges/{id}',
  'POST /v1/subscriptions',
  'GET /v1/subscriptions/{id}',
  'DELETE /v1/subscriptions/{id}',
  'POST /v1/products',
  'GET /v1/products',
  'GET /v1/store/products',
  'POST /v1/deliveries',
  'GET /v1/deliveries',
  'GET /v1/disputes',
  'GET /v1/disputes/{id}',
  'POST /v1/disputes/{id}/evidence',
  'POST /v1/subaccounts',
  'GET /v1/subaccounts/{id}',
  'GET /v1/subaccounts/{id}/statement',
  'POST /v1/subaccounts/{id}/transfers',
  'POST /v1/sandbox/payments',
];

/** The origin of an operation. A client that follows the document calls no extension. */
export type Origin = 'document' | 'decided' | 'extension';

export function originOf({ method, path }: { method: string; path: string }): Origin {
  const name = `${method} ${path}`;
  if (NAMED.includes(name)) return 'document';
  return NEEDED.includes(name) ? 'decided' : 'extension';
}
