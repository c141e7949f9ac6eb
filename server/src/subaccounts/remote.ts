import type { Asker } from '../kernel/asker.ts';
import type { Tenant } from '../kernel/tenant.ts';
import type { Facade } from '../upstream/facade.ts';
import type { Look } from '../upstream/intents.ts';
import type { Sighting } from '../upstream/sighting.ts';
import type { Errand } from '../upstream/upstream.ts';
import type { Poller } from '../upstream/watch.ts';
import type { SubaccountPayoutService, SubaccountService } from './model.ts';

export interface RemoteSubaccounts {
  serviceFor(asker: Asker): SubaccountService & SubaccountPayoutService;
  poll: Poller;
  refresh(tenant: Tenant, ids: readonly string[], errand: Errand): Promise<void>;
  /** What a webhook says, where it speaks of a subaccount's payout. */
  sighting(payload: unknown): Sighting | null;
  looks: Readonly<Record<string, Look>>;
}

export function createRemoteSubaccounts(_facade: Facade): RemoteSubaccounts {
  throw new Error('not built yet');
}
