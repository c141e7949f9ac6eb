// Starts the server up to its database, so that the code cache of the build holds the functions that a start compiles.
// Without it the first start, and each one of a read-only installation, takes twice as long.
import { createRequire } from 'node:module';

/** `require` without types: the file does not exist before the build. */
const load = createRequire(import.meta.url);
/** @type {typeof import('../src/programs/bundle.ts')} */
const { modules } = load('../dist/server.js');
const [{ createApp }, { readConfig }, { createSystemClock }, { createLog }] = await Promise.all([
  modules.app(),
  modules.config(),
  modules['kernel/clock'](),
  modules['ops/log'](),
]);

class NoDatabaseError extends Error {}

await createApp({
  config: readConfig({ PORT: '0', PSA_DATA_DIR: 'memory' }),
  clock: createSystemClock(),
  log: createLog(),
  onFatal: () => undefined,
  testing: { open: () => Promise.reject(new NoDatabaseError()) },
}).catch((error) => {
  if (!(error instanceof NoDatabaseError)) throw error;
});
// A start loads this module once the database is open.
await modules['modes/embedded']();

// The loader writes the caches when the process ends.
process.argv.splice(2, process.argv.length, '--help');
load('../dist/psa.js');
