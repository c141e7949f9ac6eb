import { sql } from 'kysely';
import { inject } from 'vitest';
import { createSystemClock } from '../../server/src/kernel/clock.ts';
import { openPglite } from '../../server/src/state/db/pglite.ts';
import { type Backend, startBackend } from '../../server/src/state/db/pglite-backend.ts';
import { emptyTables, onFatal, readShape, silent } from './templates.ts';

/** A PGlite in memory that runs in its worker, with the fingerprint of its tables. */
interface Running {
  backend: Backend;
  shape: string;
}

const released: Running[] = [];

/**
 * Takes a migrated PGlite in memory that no other test uses. Its start takes a second of CPU time; one that an
 * earlier test of this process has released is emptied in a hundredth of that. Closing it releases it.
 */
export async function takePglite(): Promise<Backend> {
  const running = released.pop() ?? (await start());
  const { backend } = running;
  return {
    ...backend,
    async close() {
      if (await empty(running)) released.push(running);
      else await backend.close();
    },
  };
}

async function start(): Promise<Running> {
  const { worker, seed = null } = inject('templates').pglite;
  const backend = await startBackend(worker!, { dataDir: null, seed }, onFatal);
  return { backend, shape: await withDatabase(backend, (database) => readShape(database.sql)) };
}

/** Empties a PGlite. Returns false if it has other tables than at its start, or has ended, and cannot be reused. */
async function empty({ backend, shape }: Running): Promise<boolean> {
  try {
    return await withDatabase(backend, async ({ sql: connection }) => {
      if ((await readShape(connection)) !== shape) return false;
      await emptyTables(connection);
      // PGlite has one session, whose settings and prepared statements the next test would find.
      await sql`discard all`.execute(connection);
      return true;
    });
  } catch {
    return false;
  }
}

async function withDatabase<Result>(
  backend: Backend,
  work: (database: Awaited<ReturnType<typeof openPglite>>) => Promise<Result>,
): Promise<Result> {
  const database = await openPglite({
    dataDir: 'memory',
    backend: { ...backend, close: async () => undefined },
    clock: createSystemClock(),
    log: silent,
    onFatal,
  });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}
