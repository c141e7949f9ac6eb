/**
 * The families of resources whose requests may be sent to another service in the form of this project's own
 * service.
 */
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
