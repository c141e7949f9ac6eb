import { type Clock, plusMs } from '../../kernel/clock.ts';
import { NotFoundError } from '../../kernel/errors.ts';
import type { Environment, Tenant } from '../../kernel/tenant.ts';
import type { Database } from '../../state/db/database.ts';
import { DECIDED_LAWS } from './laws/all.ts';
import type { Law } from './laws/law.ts';
import { MIRROR_LAWS } from './laws/mirror.ts';
import type { Verifier } from './model.ts';
import { countTransactions, createPace } from './pace.ts';
import { createPatience, type Read } from './patience.ts';
import { createRun } from './run.ts';
import { digestOf } from './statement.ts';
import { saveCheckpoint, saveVerified, selectCheckpoint } from './store.ts';
import { lookAtTenant } from './tenant.ts';

/** Creates the service that decides the laws of the books by short statements: each sees one moment. */
export function createVerifier({
  database,
  clock,
  isFacade,
  pause = (ms) =>
    new Promise<void>((resolve) => {
      clock.schedule(plusMs(clock.now(), ms), resolve);
    }),
}: {
  database: Pick<Database, 'sql' | 'engine' | 'transaction' | 'maintenance'>;
  clock: Clock;
  /** Whether another service has the books. */
  isFacade: boolean;
  pause?: (ms: number) => Promise<void>;
}): Verifier & { stop(): void } {
  const { sql } = database;
  let stopped = false;
  const isStopped = () => stopped;

  return {
    stop() {
      stopped = true;
    },
    async verify({ accountId, law, sinceLast }) {
      const named = DECIDED_LAWS.find(({ name }) => name === law) ?? null;
      const here = DECIDED_LAWS.filter((each) => isHere(each, isFacade));
      const laws = here.filter((each) => (named ? each === named : !each.onRequest));
      const pace = createPace({
        countTransactions: database.engine === 'pglite' ? null : () => countTransactions(sql),
        ...{ clock, pause },
      });
      const patiently = createPatience({ clock, pause, isStopped });
      const read: Read = (work) =>
        patiently(() => {
          pace.count();
          return work(sql);
        });
      const tenants = await read(() => selectTenants(database, accountId));
      const run = createRun({ database, clock, pace, pause, patiently, laws, isStopped });
      const apart = named ? [named] : DECIDED_LAWS.filter((each) => !MIRROR_LAWS.includes(each));
      const left = apart.filter((each) => !here.includes(each));
      if (left.length > 0) run.leaveOut(left, `not in this mode: ${WHERE[isFacade ? 'remote' : 'embedded']}`);
      const looked = { tenants: tenants.length, transactions: 0, events: 0, resources: 0 };
      const digest = digestOf(laws);
      let hasGoneOn = false;
      for (const { tenant, keptFrom } of tenants) {
        const looker = run.lookerOf(tenant);
        // A law that is asked for by its name is decided on everything.
        const last =
          sinceLast && named === null ? await read(() => selectCheckpoint(sql, tenant, digest)) : null;
        // Events that are gone would have named what has changed.
        const checkpoint = last && last.version >= keptFrom ? last : null;
        hasGoneOn ||= checkpoint !== null;
        const isWhole = named === null;
        const reached = await lookAtTenant(tenant, {
          ...{ read, looker, pace, looked, checkpoint, isFacade, isWhole },
        });
        const isBroken = looker.isBroken();
        // Where something was merely not decided, the checkpoint before it still holds.
        if (isWhole && isBroken !== null)
          await read(() => saveCheckpoint(sql, tenant, isBroken ? null : { ...reached, laws: digest }));
      }
      const result = run.result(looked);
      if (accountId === undefined && !stopped)
        await read(() => saveVerified(sql, run.verified(result.endedAt), { isWhole: !hasGoneOn }));
      return result;
    },
  };
}

const WHERE = {
  remote: 'the service behind this server has the books',
  embedded: 'this server has the books itself, and no mirror',
};

/** Whether a law is about what this server has. The log is both modes'. */
function isHere(law: Law, isFacade: boolean): boolean {
  const isOfFacade = MIRROR_LAWS.includes(law);
  return law.name === 'log-versions' || law.name === 'log-head' || isOfFacade === isFacade;
}

async function selectTenants(
  { sql }: Pick<Database, 'sql'>,
  accountId: string | undefined,
): Promise<{ tenant: Tenant; keptFrom: number }[]> {
  if (accountId !== undefined) {
    const account = await sql
      .selectFrom('account')
      .select('id')
      .where('id', '=', accountId)
      .executeTakeFirst();
    if (!account) throw new NotFoundError(`Account ${accountId} not found`);
  }
  const rows = await sql
    .selectFrom('stream')
    .select(['account_id', 'environment', 'kept_from'])
    .$if(accountId !== undefined, (query) => query.where('account_id', '=', accountId!))
    .orderBy('account_id')
    .orderBy('environment')
    .execute();
  return rows.map((row) => ({
    tenant: { accountId: row.account_id, environment: row.environment as Environment },
    keptFrom: row.kept_from,
  }));
}
