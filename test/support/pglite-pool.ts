import { sql } from 'kysely';
import { inject } from 'vitest';
import { type Backend, openPglite, startBackend } from '../../server/src/db/pglite.ts';
import { createSystemClock } from '../../server/src/kernel/clock.ts';
import { emptyTables, onFatal, readShape, silent } from './templates.ts';

/** One in memory that runs in its worker, and what its tables are like. */
interface Running {
  backend: Backend;
  shape: string;
}

const released: Running[] = [];

/**
 * A migrated PGlite in memory that nobody else has. To start one takes a second of CPU time; emptying one that an earlier
 * test of this process is done with, a hundredth of that. Closed, it is for the next test.
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
  return { backend, shape: await inside(backend, (database) => readShape(database.sql)) };
}

/** Whether it is as it was when it started. One that has other tables, or has ended, is given up. */
async function empty({ backend, shape }: Running): Promise<boolean> {
  try {
    return await inside(backend, async ({ sql: connection }) => {
      if ((await readShape(connection)) !== shape) return false;
      await emptyTables(connection);
      // PGlite has one session: what was prepared in it, and set, would be there for the next test.
      await sql`discard all`.execute(connection);
      return true;
    });
  } catch {
    return false;
  }
}

async function inside<Result>(
  backend: Backend,
  work: (database: Awaited<ReturnType<typeof openPglite>>) => Promise<Result>,
): Promise<Result> {
  const kept = { ...backend, close: async () => undefined };
  const database = await openPglite({
    dataDir: 'memory',
    backend: kept,
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
