import { onTestFinished } from 'vitest';
import type { Tenant } from '../../server/src/kernel/tenant.ts';
import type { UpstreamFamily } from '../../server/src/kernel/upstream-family.ts';
import type { MoneyReaders } from '../../server/src/money-out/wallet/remote/sighting-collections.ts';
import { MONEY_READERS, snapshots } from '../../server/src/programs/modes/parts.ts';
import { createCommitter } from '../../server/src/state/commit/committer.ts';
import type { Database } from '../../server/src/state/db/database.ts';
import { createRecords, type Records } from '../../server/src/state/db/records.ts';
import { createLogTailer, type LogTailer } from '../../server/src/state/events/log-tailer.ts';
import { createWorkQueue, type WorkQueue } from '../../server/src/state/work/queue.ts';
import { createBudget } from '../../server/src/upstream/budget/budget.ts';
import { createUpstream } from '../../server/src/upstream/client.ts';
import type { UpstreamDependencies } from '../../server/src/upstream/dependencies.ts';
import { createIntents } from '../../server/src/upstream/intents/coordinator.ts';
import type { RequestKind } from '../../server/src/upstream/intents/operations.ts';
import type { Correction } from '../../server/src/upstream/mirror.ts';
import { createMirrorWriter } from '../../server/src/upstream/mirror-writer.ts';
import { createReads } from '../../server/src/upstream/reads.ts';
import { createServiceClock, type ServiceClock } from '../../server/src/upstream/service-clock.ts';
import type { Upstream, UpstreamAnswer } from '../../server/src/upstream/upstream.ts';
import { LIVE_KEY, TEST_KEY } from './app.ts';
import { createManualClock, type ManualClock } from './clock.ts';
import { openAccount } from './core.ts';
import { silent } from './templates.ts';

/** The dependencies of a slice's remote side, in front of any service. A test runs due work itself. */
export interface TestFacade extends UpstreamDependencies {
  readonly tenant: Tenant;
  readonly records: Records;
  readonly clock: ManualClock;
  readonly tailer: LogTailer;
  readonly work: WorkQueue;
  /** The kinds of requests by name; the test adds those of the slices that it creates. */
  readonly requests: Record<string, RequestKind>;
  readonly corrections: Correction[];
  /** The resources for which `pollNow` was called. */
  readonly polledResources: string[];
  readonly moneyReaders: MoneyReaders;
  readonly faults: unknown[];
}

/** Starts a facade in front of the service at `url`, or of `upstream`. It is closed at the end of the test. */
export async function startFacade({
  database: ownDatabase,
  clock = createManualClock(),
  url,
  upstream: ownUpstream,
  tenant: ownTenant,
  limit = 120,
  windowMs = 60_000,
  pace,
  families = [],
}: {
  database: Database;
  clock?: ManualClock;
  url?: string;
  upstream?: Upstream;
  tenant?: Tenant;
  limit?: number;
  windowMs?: number;
  pace?: number;
  /** The families whose requests the service accepts. */
  families?: readonly UpstreamFamily[];
}): Promise<TestFacade> {
  const tenant = ownTenant ?? (await openAccount(ownDatabase));
  const faults: unknown[] = [];
  const onFault = (fault: unknown) => faults.push(fault);
  const tailer = createLogTailer({ database: ownDatabase, snapshots, clock, onError: onFault });
  const ownCommitter = createCommitter({
    database: ownDatabase,
    clock,
    onCommit(committed) {
      for (const { tenant: changed, tasks, ...appended } of committed) {
        for (const task of tasks) work.wake(task);
        if (appended.events.length > 0) tailer.wake(changed, appended);
      }
    },
  });
  const serviceClock = createServiceClock(clock);
  const upstream = ownUpstream
    ? measuring(ownUpstream, serviceClock)
    : createUpstream({
        url: url!,
        keys: { live: LIVE_KEY, sandbox: TEST_KEY },
        budget: createBudget({
          ...{ database: ownDatabase, clock, limit, windowMs, accountKey: tenant.accountId, onFault },
        }),
        clock,
        serviceClock,
        onFault,
      });
  const requests: Record<string, RequestKind> = {};
  const corrections: Correction[] = [];
  const polledResources: string[] = [];
  const mirrorWriter = createMirrorWriter({
    database: ownDatabase,
    committer: ownCommitter,
    clock,
    gatherMs: 0,
    onMoved: () => polledResources.push('wallet'),
    onCorrection: (correction) => corrections.push(correction),
    onFault,
  });
  const { database, committer } = mirrorWriter;
  const records = createRecords({ database, clock, log: silent });
  const intents = createIntents({
    database,
    clock,
    committer,
    records,
    kinds: requests,
    onFault,
    ...(pace ? { pace } : {}),
  });
  const work = createWorkQueue({ database, clock, handlers: intents.tasks, onError: onFault });
  await tailer.start();
  onTestFinished(async () => {
    // After a failed test the clock stands still, and a task may wait for it.
    await Promise.all([work.close(), upstream.close()]);
    intents.close();
    await mirrorWriter.close();
    await committer.idle();
    await tailer.close();
    await database.sql.deleteFrom('task').where('account_id', '=', tenant.accountId).execute();
  });
  return {
    tenant,
    database,
    committer,
    mirrorWriter,
    records,
    clock,
    tailer,
    upstream,
    serviceClock,
    reads: createReads({ upstream, clock }),
    intents,
    families: new Set(families),
    work,
    requests,
    corrections,
    polledResources,
    pollNow: (_, resource) => polledResources.push(resource),
    moneyReaders: MONEY_READERS,
    faults,
    onFault,
  };
}

/** Wraps a service without HTTP: its answers show its clock, as those of the real client do. */
function measuring(upstream: Upstream, serviceClock: ServiceClock): Upstream {
  const noted = <Answer extends UpstreamAnswer>(answer: Answer): Answer => {
    serviceClock.note(answer);
    return answer;
  };
  return {
    ...upstream,
    send: async (request) => noted(await upstream.send(request)),
    get: async (request) => noted(await upstream.get(request)),
  };
}
