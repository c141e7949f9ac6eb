import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '../../kernel/clock.ts';
import { OutageError } from '../../kernel/errors.ts';
import { type Tenant, tenantKey } from '../../kernel/tenant.ts';
import { bindContext, withSpan } from '../../kernel/traces.ts';
import { type Database, NoConnection } from '../db/database.ts';
import type { Command, CommittedGroup, CommittedOfTenant, Committer, Outbox } from './commit.ts';
import { decideAll } from './group.ts';
import { createLane, type Lane, laneNumberOf, type Waiting } from './lanes.ts';

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
  const shared = Array.from({ length: database.lanes }, () => createLane());
  /** The lanes of tenants that another instance has locked: each waits for its lock, and no other tenant does. */
  const own = new Map<string, Lane>();
  const draining = new Map<Lane, Promise<void>>();

  function laneOf(tenant: Tenant): Lane {
    return own.get(tenantKey(tenant)) ?? shared[laneNumberOf(tenant, shared.length)]!;
  }

  function drainSoon(lane: Lane): void {
    if (!draining.has(lane)) draining.set(lane, drain(lane));
  }

  async function drain(lane: Lane): Promise<void> {
    while (!lane.isEmpty) {
      const group = lane.takeGroup();
      const failure = await group[0]!.inTrace(() => settle(group, lane));
      // Each waiting command would wait in vain for a connection, one group after the other.
      if (failure instanceof NoConnection) for (const waiting of lane.takeAll()) waiting.reject(failure);
      // A caller that has its outcome and sends its next command at once is in the next group, not the one
      // after it.
      await turn();
    }
    draining.delete(lane);
    if (lane.of !== null) own.delete(lane.of);
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
    const apart = createLane(tenant);
    own.set(tenant, apart);
    for (const waiting of [...commands, ...lane.takeOf(tenant)]) apart.add(waiting);
    drainSoon(apart);
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
      const lane = laneOf(command.tenant);
      lane.add(waiting);
      drainSoon(lane);
    });
  }

  return {
    change: <Outcome>(command: Command<Outcome>) => withSpan('change', {}, () => enqueue(command)),
    async idle() {
      while (draining.size > 0) await Promise.all(draining.values());
    },
  };
}
