import type { Environment } from '../../kernel/tenant.ts';

/** The columns that name the tenant of a row. */
export interface TenantTable {
  account_id: string;
  environment: Environment;
}
