/** The families of resources whose requests another service may take in the form of this project's own service. */
export const UPSTREAM_FAMILIES = ['payments', 'refunds', 'store'] as const;
export type UpstreamFamily = (typeof UPSTREAM_FAMILIES)[number];
