export const ENVIRONMENTS = ['live', 'sandbox'] as const;
/** The environment, which the prefix of an API key selects. Data of the two never mix. */
export type Environment = (typeof ENVIRONMENTS)[number];

/** The owner of data: one account in one environment. Every row and every query belongs to one tenant. */
export interface Tenant {
  readonly accountId: string;
  readonly environment: Environment;
}

/** The tenant as one string, for maps and notifications. */
export function tenantKey({ accountId, environment }: Tenant): string {
  return `${accountId}/${environment}`;
}
