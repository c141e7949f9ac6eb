import type { Committer } from '../commit/commit.ts';
import type { Database } from '../db/database.ts';
import type { Route } from '../http/routes.ts';
import type { Environment, Tenant } from '../kernel/tenant.ts';
import type { MirroredResource } from '../upstream/mirror-store.ts';
import type { Sighting } from '../upstream/sighting.ts';
import type { TaskHandler } from '../work/queue.ts';

export interface Receiver {
  routes: Route[];
  tasks: Readonly<Record<string, TaskHandler>>;
}

export function createReceiver(_: {
  database: Database;
  committer: Committer;
  /** Any of them verifies; with none, everything is refused. */
  secrets: readonly string[];
  tenantOf: (environment: Environment) => Tenant;
  /** Each slice's reading of a payload; the first that knows it. */
  sightings: readonly ((payload: unknown) => Sighting | null)[];
  /** Asks the service for what a webhook has claimed, as far as the budget allows. */
  refresh: (tenant: Tenant, resource: MirroredResource, reference: string) => Promise<void>;
  /** Something has changed. */
  nudge: (tenant: Tenant, resource: MirroredResource) => void;
  onFault: (fault: unknown) => void;
}): Receiver {
  throw new Error('not built yet');
}
