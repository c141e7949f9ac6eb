// Node runs no TypeScript with these imports, and tsx started by `--import` does not reach a worker. This file lets
// the worker start from its source; the built server starts pglite-worker.js.
import { register } from 'tsx/esm/api';

register();
await import('./pglite-worker.ts');
