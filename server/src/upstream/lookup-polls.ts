import { isAhead, plusMs } from '../kernel/clock.ts';
import type { Tenant } from '../kernel/tenant.ts';
import type { MirroredResource } from '../kernel/upstream-family.ts';
import type { UpstreamDependencies } from './dependencies.ts';
import { type MirroredRow, selectOfBefore, selectOpen } from './mirror-store.ts';
import { claimPoll } from './poll-store.ts';
import type { Poll } from './poller.ts';

/** The time between polls in which resources were looked up. */
export const APART_MS = 3_000;
/** The delay after a poll that could not reach the service. */
export const LATER_MS = 5_000;
/**
 * The interval for a resource that ended before a restore: it is looked up once, and again if the service did
 * not confirm it.
 */
const OF_BEFORE_MS = 10 * 60_000;

/**
 * Creates the poll of resources that are looked up one by one: the open ones that are followed, and those
 * that ended before a restore.
 */
export function createLookupPoll(
  { database: { sql }, clock, records }: Pick<UpstreamDependencies, 'database' | 'clock' | 'records'>,
  {
    resource,
    statuses,
    keyOf = ({ id }) => id,
    intervalOf,
    canBeCorrected = () => true,
    lookUp,
    askedAgainAt = () => null,
    perPoll,
    idleMs,
  }: {
    resource: MirroredResource;
    /** The statuses for which `intervalOf` may return a time; by default all. */
    statuses?: readonly string[] | undefined;
    /** The name of a resource that may have several rows; by default the row's id. */
    keyOf?: (row: MirroredRow) => string;
    /** The interval of an open resource, among `count`; null if polling can find nothing new. */
    intervalOf: (row: MirroredRow, now: Date, count: number) => number | null;
    /** Whether the service may have corrected a resource since a restore. */
    canBeCorrected?: (row: MirroredRow) => boolean;
    /** Looks a resource up. @throws RateLimitError, UpstreamFault, PaymentError */
    lookUp: (tenant: Tenant, row: MirroredRow) => Promise<'shown' | 'stale' | 'unsupported'>;
    /** The time at which lookups are tried again where they are not supported; null if only webhooks report changes. */
    askedAgainAt?: (tenant: Tenant) => Date | null;
    /** The most lookups in one poll. */
    perPoll: number;
    /** The longest interval if all are followed: another resource may be created or read elsewhere. */
    idleMs: number;
  },
): Poll {
  /** The time of the last known poll of each resource, by this instance or another. */
  const polledAt = new Map<string, Date>();

  return async (tenant, { all, ids }) => {
    const now = clock.now();
    const idleAt = all ? plusMs(now, idleMs) : null;
    const rows = await selectOpen(sql, tenant, resource, all ? 'all' : ids, statuses);
    const open = [...new Map(rows.map((row) => [keyOf(row), row]))];
    const followed = open.flatMap(([key, row]) => {
      const everyMs = intervalOf(row, now, open.length);
      if (everyMs === null) return [];
      const known = [row.observedAt, polledAt.get(key) ?? row.observedAt];
      const last = Math.max(0, ...known.filter((at) => !isAhead(at, now)).map((at) => at.getTime()));
      return [{ key, row, everyMs, at: last + everyMs }];
    });
    followed.sort((left, right) => left.row.observedAt.getTime() - right.row.observedAt.getTime());
    const isFollowed = new Set(followed.map(({ key }) => key));
    const ofBefore = await selectOfBefore(sql, tenant, resource, all ? 'all' : ids, records.lastKnown());
    for (const row of ofBefore) {
      const key = keyOf(row);
      if (isFollowed.has(key) || !canBeCorrected(row)) continue;
      isFollowed.add(key);
      const last = polledAt.get(key);
      const at = last && !isAhead(last, now) ? last.getTime() + OF_BEFORE_MS : now.getTime();
      followed.push({ key, row, everyMs: OF_BEFORE_MS, at });
    }
    for (const key of polledAt.keys()) if (!isFollowed.has(key)) polledAt.delete(key);
    const due = followed.filter(({ at }) => at <= now.getTime());
    const turn = due.slice(0, perPoll);
    for (const { key, row, everyMs } of turn) {
      polledAt.set(key, now);
      // Another instance has just polled; its result arrives through the log.
      const claim = { name: `${resource} ${key}`, now, intervalMs: everyMs };
      if (!(await claimPoll(sql, tenant, claim))) continue;
      const result = await lookUp(tenant, row);
      // Without lookups only webhooks report a change.
      if (result === 'unsupported') return askedAgainAt(tenant) ?? idleAt;
      if (result === 'stale') return plusMs(now, LATER_MS);
    }
    if (followed.length === 0) return idleAt;
    const asked = new Set(turn);
    const next = Math.min(
      idleAt?.getTime() ?? Number.POSITIVE_INFINITY,
      ...followed.map((each) => (asked.has(each) ? now.getTime() + each.everyMs : each.at)),
    );
    return new Date(Math.max(next, now.getTime() + (turn.length > 0 ? APART_MS : 0)));
  };
}
