/** The families of resources whose requests another service may take in the form of this project's own service. */
export const UPSTREAM_FAMILIES = [
  'payments',
  'charges',
  'subscriptions',
  'deliveries',
  'store',
  'disputes',
  'refunds',
] as const;
export type UpstreamFamily = (typeof UPSTREAM_FAMILIES)[number];
