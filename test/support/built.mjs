import { createRequire } from 'node:module';

/**
 * The modules of the built server, for programs that assemble a server of their own: they load in a fraction of the time
 * of the sources. A program that replaces something in `pg` must take `pg` from here: the bundle has its own copy.
 * PSA_BUILT_SERVER is the file of another build, with which the benchmark compares this one.
 */
export const { modules } = /** @type {typeof import('../../server/src/programs/bundle.ts')} */ (
  createRequire(import.meta.url)(process.env.PSA_BUILT_SERVER ?? '../../server/dist/server.js')
);
