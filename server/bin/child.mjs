// The server of `start()`: it ends with the process that has started it, however that ends.
import { endWithParent } from './starting.mjs';

endWithParent();
await import('./psa.mjs');
