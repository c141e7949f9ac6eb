// Node 20 cannot run TypeScript, and tsx started by `--import` does not reach a worker. This file lets
// the worker start from its source; the build leaves it out and starts pglite-worker.js.
import { register } from 'tsx/esm/api';

register();
await import('./pglite-worker.ts');
