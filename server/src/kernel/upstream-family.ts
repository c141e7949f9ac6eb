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

/** The kinds of resources of another service that are mirrored. */
export const MIRRORED_RESOURCES = [
  'card_payment',
  'charge',
  'dispute',
  'payment',
  'payout',
  'refund',
  'subaccount_payout',
  'subscription',
  'wallet',
] as const;
export type MirroredResource = (typeof MIRRORED_RESOURCES)[number];
