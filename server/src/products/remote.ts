import type { Asker } from '../kernel/asker.ts';
import type { Facade } from '../upstream/facade.ts';
import type { ProductService } from './model.ts';

export interface RemoteProducts {
  serviceFor(asker: Asker): ProductService;
}

export function createRemoteProducts(_facade: Facade): RemoteProducts {
  throw new Error('not built yet');
}
