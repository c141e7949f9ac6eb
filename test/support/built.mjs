import { createRequire } from 'node:module';

/**
 * The modules of the built server, for programs that assemble one of their own: it starts in a fraction of the time that
 * its sources take. A program that replaces something in `pg` must take it from here: the bundle has its own copy.
 */
export const { modules } = /** @type {typeof import('../../server/src/bundle.ts')} */ (
  createRequire(import.meta.url)('../../server/dist/server.js')
);
