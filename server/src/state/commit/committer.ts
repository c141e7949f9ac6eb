import { setImmediate as turn } from 'node:timers/promises';
import { type Batches, createBatches } from '../../kernel/batches.ts';
import type { Clock } from '../../kernel/clock.ts';
import { OutageError } from '../../kernel/errors.ts';
import { tenantKey } from '../../kernel/tenant.ts';
import { bindContext, withSpan } from '../../kernel/traces.ts';
import { type Database, NoConnection } from '../db/database.ts';
import type { Command, CommittedGroup, CommittedOfTenant, Committer, Outbox } from './commit.ts';
import { decideAll } from './group.ts';
import { createLane, type Lane, MAX_GROUP, type Waiting } from './lanes.ts';

/** Commands that wait, and the transactions that take them. */
interface Queue {
  readonly lane: Lane;
  readonly batches: Batches;
}

export function createCommitter({
  database,
  clock,
  outbox = async () => [],
  onGroup,
  onCommit,
}: {
  database: Database;
  clock: Clock;
  outbox?: Outbox;
  /** Called after each commit. Must not throw. */
  onGroup?: (group: CommittedGroup) => void;
  /** Called after each commit that has written events or tasks, with those of each tenant. Must not throw. */
  onCommit: (committed: readonly CommittedOfTenant[]) => void;
}): Committer {
  /** The tenants of the groups of the shared lane that are under way: none of them is in two groups at once. */
  const underWay = new Set<string>();
  const shared = createQueue(null);
  /** The queues of tenants that another instance has locked: each waits for its lock, and no other tenant does. */
  const own = new Map<string, Queue>();

  /**
   * Creates the queue of all tenants, or of one. A further transaction begins only if a whole group waits, since fewer groups
   * cost less, or if those under way are late.
   */
  function createQueue(of: string | null): Queue {
    const lane = createLane(of);
    const apart = of === null ? underWay : undefined;
    const batches = createBatches<Waiting>({
      clock,
      most: of === null ? database.lanes : 1,
      isWhole: () => lane.size >= MAX_GROUP && lane.sizeWithout(underWay) >= MAX_GROUP,
      take() {
        const group = lane.takeGroup(apart);
        if (of !== null && group.length === 0) own.delete(of);
        return group;
      },
      async run(group) {
        const tenants = new Set(group.map(({ command }) => tenantKey(command.tenant)));
        for (const tenant of tenants) apart?.add(tenant);
        const failure = await group[0]!.inTrace(() => settle(group, lane));
        for (const tenant of tenants) apart?.delete(tenant);
        // Each waiting command would wait in vain for a connection, one group after the other.
        if (failure instanceof NoConnection) for (const waiting of lane.takeAll()) waiting.reject(failure);
        // A caller that has its outcome and sends its next command at once is in the next group, not the one
        // after it.
        await turn();
      },
    });
    return { lane, batches };
  }

  /** Settles every command of the group. Returns the last outage that prevented some of them, if there was one. */
  async function settle(group: readonly Waiting[], lane: Lane): Promise<OutageError | null> {
    let parts = [group];
    let outage: OutageError | null = null;
    for (let part = parts.shift(); part; part = parts.shift()) {
      const { failure, locked } = await run(part, lane);
      if (failure instanceof OutageError) outage = failure;
      // Nothing was changed: the group is retried by halves, so that the error reaches its own caller and
      // costs the others little.
      if (failure && !(failure instanceof OutageError) && part.length > 1) {
        const half = Math.ceil(part.length / 2);
        parts.unshift(part.slice(0, half), part.slice(half));
      } else if (failure) for (const waiting of part) waiting.reject(failure);
      for (const tenant of locked) {
        const isOf = ({ command }: Waiting) => tenantKey(command.tenant) === tenant;
        leave(
          lane,
          tenant,
          [part, ...parts].flatMap((each) => each.filter(isOf)),
        );
        parts = parts
          .map((each) => each.filter((waiting) => !isOf(waiting)))
          .filter(({ length }) => length > 0);
      }
    }
    return outage;
  }

  /** Gives a tenant a lane of its own, with its commands of a group and, behind them, those that wait. */
  function leave(lane: Lane, tenant: string, commands: readonly Waiting[]): void {
    const apart = createQueue(tenant);
    own.set(tenant, apart);
    for (const waiting of [...commands, ...lane.takeOf(tenant)]) apart.lane.add(waiting);
    apart.batches.begin();
  }

  /** Runs a group in one transaction, and settles the commands whose tenants no other instance has locked. */
  async function run(
    group: readonly Waiting[],
    lane: Lane,
  ): Promise<{ failure: Error | null; locked: ReadonlySet<string> }> {
    const begunAt = clock.ms();
    let done: Awaited<ReturnType<typeof decideAll>>;
    try {
      const options = { clock, outbox, waits: lane.of !== null };
      done = await database.transaction((sql) => decideAll(sql, group, options));
    } catch (error) {
      return { failure: error as Error, locked: new Set() };
    }
    // The transaction is committed: from here on nothing of it may run again.
    const { answers, committed, posted, locked } = done;
    for (const answer of answers) answer();
    if (answers.length > 0)
      onGroup?.({
        commands: answers.length,
        ...posted,
        events: committed.reduce((sum, { events }) => sum + events.length, 0),
        ms: clock.ms() - begunAt,
      });
    if (committed.length > 0) onCommit(committed);
    return { failure: null, locked };
  }

  function enqueue<Outcome>(command: Command<Outcome>): Promise<Outcome> {
    return new Promise<Outcome>((resolve, reject) => {
      const waiting = { inTrace: bindContext(), command, resolve, reject } as Waiting;
      const { lane, batches } = own.get(tenantKey(command.tenant)) ?? shared;
      lane.add(waiting);
      batches.begin();
    });
  }

  return {
    change: <Outcome>(command: Command<Outcome>) => withSpan('change', {}, () => enqueue(command)),
    async idle() {
      const busy = () => [shared, ...own.values()].filter(({ batches }) => !batches.isIdle);
      for (let all = busy(); all.length > 0; all = busy())
        await Promise.all(all.map(({ batches }) => batches.idle()));
    },
  };
}
