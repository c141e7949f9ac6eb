import type { Asker } from '../kernel/asker.ts';
import type { Facade } from '../upstream/facade.ts';
import type { SandboxService } from './model.ts';

export interface RemoteSandbox {
  serviceFor(asker: Asker): SandboxService;
}

export function createRemoteSandbox(_facade: Facade): RemoteSandbox {
  throw new Error('not built yet');
}
