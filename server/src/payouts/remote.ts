import type { Asker } from '../kernel/asker.ts';
import type { Tenant } from '../kernel/tenant.ts';
import type { Facade } from '../upstream/facade.ts';
import type { Look } from '../upstream/intents.ts';
import type { Sighting } from '../upstream/sighting.ts';
import type { Errand } from '../upstream/upstream.ts';
import type { Poller } from '../upstream/watch.ts';
import type { PayoutService } from './model.ts';

export interface RemotePayouts {
  serviceFor(asker: Asker): PayoutService;
  poll: Poller;
  refresh(tenant: Tenant, ids: readonly string[], errand: Errand): Promise<void>;
  /** What a webhook says, where it speaks of a payout. */
  sighting(payload: unknown): Sighting | null;
  looks: Readonly<Record<string, Look>>;
}

export function createRemotePayouts(_facade: Facade): RemotePayouts {
  throw new Error('not built yet');
}
