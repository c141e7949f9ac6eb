import type { Asker } from '../kernel/asker.ts';
import type { Tenant } from '../kernel/tenant.ts';
import type { Facade } from '../upstream/facade.ts';
import type { Errand } from '../upstream/upstream.ts';
import type { Poller } from '../upstream/watch.ts';
import type { WalletService } from './model.ts';

export interface RemoteWallet {
  serviceFor(asker: Asker): WalletService;
  poll: Poller;
  refresh(tenant: Tenant, ids: readonly string[], errand: Errand): Promise<void>;
}

export function createRemoteWallet(_facade: Facade): RemoteWallet {
  throw new Error('not built yet');
}
