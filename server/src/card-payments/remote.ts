import type { Asker } from '../kernel/asker.ts';
import type { Tenant } from '../kernel/tenant.ts';
import type { Facade } from '../upstream/facade.ts';
import type { Look } from '../upstream/intents.ts';
import type { Sighting } from '../upstream/sighting.ts';
import type { Errand } from '../upstream/upstream.ts';
import type { Poller } from '../upstream/watch.ts';
import type { CardPaymentService, SoldProduct } from './model.ts';

export interface RemoteCardPayments {
  serviceFor(asker: Asker): CardPaymentService;
  poll: Poller;
  refresh(tenant: Tenant, ids: readonly string[], errand: Errand): Promise<void>;
  /** What a webhook says, where it speaks of a card payment. */
  sighting(payload: unknown): Sighting | null;
  looks: Readonly<Record<string, Look>>;
}

export function createRemoteCardPayments(
  _facade: Facade & {
    /** Where the service is to send a payment's webhook; null where it can reach none of ours, which must be public https. */
    callbackUrl: string | null;
    /** What a checkout token sells; null once it was deleted. */
    findProduct: (tenant: Tenant, id: string, asker: Asker) => Promise<SoldProduct | null>;
  },
): RemoteCardPayments {
  throw new Error('not built yet');
}
