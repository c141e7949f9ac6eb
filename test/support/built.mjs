import { createRequire } from 'node:module';

/**
 * The modules of the built server, for programs that assemble a server of their own: they load in a fraction of the time
 * of the sources. A program that replaces something in `pg` must take `pg` from here: the bundle has its own copy.
 */
export const { modules } = /** @type {typeof import('../../server/src/programs/bundle.ts')} */ (
  createRequire(import.meta.url)('../../server/dist/server.js')
);
