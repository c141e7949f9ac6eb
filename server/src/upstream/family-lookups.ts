import { isUnchanged } from '../kernel/objects.ts';
import type { Requester } from '../kernel/requester.ts';
import { type Tenant, tenantKey } from '../kernel/tenant.ts';
import { requestOptionsFor, type UpstreamDependencies } from './dependencies.ts';
import type { Endpoint, Endpoints } from './endpoint-availability.ts';
import type { Family, FamilyMirror } from './family-mirror.ts';
import { createLookupPoll, LATER_MS } from './lookup-polls.ts';
import { isFromBefore, type MirroredRow, selectMirroredWithHead } from './mirror-store.ts';
import type { Poll } from './poller.ts';
import { serviceLimit } from './rate-limits.ts';
import type { Read, ReadOptions } from './reads.ts';
import {
  cannotAsk,
  isInconclusive,
  isPageFault,
  isRetryable,
  isSuccess,
  refusalOf,
  saysNotFound,
  unreadable,
  withUpstreamErrors,
} from './responses.ts';
import type { RequestOptions } from './upstream.ts';

/** The life of a cached response: for merchants, and for payers, because thousands of them may ask. */
const MAX_AGE_MS = { merchant: 2_000, payer: 10_000 } as const;
/** The most lookups in one poll: of the 60 a minute for all polling, 40. */
const MAX_PER_POLL = 2;
/** The longest interval if all are followed. */
const IDLE_MS = 30_000;

/**
 * The lookups of single resources of one family: at the service, or from the mirror if the service cannot be
 * reached.
 */
export interface FamilyLookups<R> {
  /**
   * Looks up a known resource; an older answer does not suffice. @throws RateLimitError, UpstreamFault,
   * PaymentError
   */
  lookUp(
    tenant: Tenant,
    known: MirroredRow,
    by: { requestOptions: RequestOptions; requester: Requester },
  ): Promise<MirroredRow | null>;
  /** Finds resources, in the order of the ids; null for one that is not found. @throws PaymentError */
  findMany(tenant: Tenant, ids: readonly string[], requester: Requester): Promise<(R | null)[]>;
  /**
   * Finds a resource with the version of the log for which its state holds. If its end is from before a
   * restore, it is looked up first, because a stream would complete with it. @throws PaymentError
   */
  findWithVersion(
    tenant: Tenant,
    id: string,
    requester: Requester,
  ): Promise<{ version: number; resource: R } | null>;
  poll: Poll;
  /** @throws RateLimitError, UpstreamFault, PaymentError */
  refresh(tenant: Tenant, ids: readonly string[], requestOptions: RequestOptions): Promise<void>;
}

export function createFamilyLookups<
  R extends { version: number; status: string },
  C extends { status: string | null },
>({
  database,
  clock,
  reads,
  records,
  mirrorWriter,
  endpoints,
  endpoint,
  pathOf,
  family,
  mirror,
  isId,
  isPossible,
  readClaim,
  onNotFound,
  pollInterval,
  polledStatuses,
}: Pick<UpstreamDependencies, 'database' | 'clock' | 'reads' | 'records' | 'mirrorWriter'> & {
  endpoints: Endpoints;
  /** The endpoint of a lookup. */
  endpoint: Endpoint;
  pathOf: (id: string) => `/v1/${string}`;
  family: Family<R, C>;
  mirror: FamilyMirror<C>;
  /** Whether a text can be an id: other texts are not looked up. */
  isId: (text: string) => boolean;
  /** Whether an environment can have resources of this family: if not, no request is needed. */
  isPossible: (environment: Tenant['environment']) => boolean;
  /** Reads a response; null if it shows no resource. */
  readClaim: (body: unknown) => C | null;
  /**
   * Called if the service finds no such resource and this server knows none. @throws what its lookup then
   * throws
   */
  onNotFound?: (tenant: Tenant, requestOptions: RequestOptions) => Promise<void>;
  /** The time until the next poll of a followed resource; null if polling can find nothing new. */
  pollInterval: (known: R, now: Date) => number | null;
  /** The statuses for which `pollInterval` may return a time; by default all. */
  polledStatuses?: readonly R['status'][];
}): FamilyLookups<R> {
  const { sql } = database;
  const { resource } = family;
  const resourceOf = ({ snapshot }: MirroredRow) => family.fromJson(snapshot);
  /**
   * The state of the mirror after each answer was merged. While the mirror still has that state, a cached
   * answer has nothing new, and is not merged again.
   */
  const statesAfter = new WeakMap<object, { of: string; snapshot: unknown }>();
  // The state is the whole snapshot, not the version: a card payment's amount under refund changes without a
  // new version.
  const isStateAfter = (answer: object, tenant: Tenant, { snapshot }: MirroredRow) => {
    const after = statesAfter.get(answer);
    return after?.of === tenantKey(tenant) && isUnchanged(after.snapshot, snapshot);
  };

  /** @throws RateLimitError, UpstreamFault, UpstreamError (there is no such endpoint) */
  function ask({ environment }: Tenant, id: string, options: ReadOptions): Promise<Read> {
    return endpoints.ask(environment, endpoint, () => reads.get(environment, pathOf(id), options));
  }

  /** Looks a resource up; null if there is no such endpoint. @throws RateLimitError, UpstreamFault */
  function askIfSupported({ environment }: Tenant, id: string, options: ReadOptions): Promise<Read | null> {
    return endpoints.callIfSupported(environment, endpoint, () =>
      reads.get(environment, pathOf(id), options),
    );
  }

  /**
   * Merges the response to a lookup and returns the known state; null if there is no such resource. `merge`:
   * `show` for a query that decides nothing.
   * @throws UpstreamFault, PaymentError
   */
  async function take(
    tenant: Tenant,
    id: string,
    known: MirroredRow | null,
    {
      read,
      requestOptions,
      merge = mirror.record,
    }: {
      read: Read;
      requestOptions: RequestOptions;
      merge?: FamilyMirror<C>['record'];
    },
  ): Promise<MirroredRow | null> {
    if (isSuccess(read)) {
      const answer = typeof read.body === 'object' ? read.body : null;
      if (known && answer && isStateAfter(answer, tenant, known)) return known;
      const claim = readClaim(read.body);
      if (!claim || family.idOf(claim) !== id) throw unreadable();
      const now = await merge(tenant, known, claim, read.at);
      if (!now) throw unreadable();
      if (answer) statesAfter.set(answer, { of: tenantKey(tenant), snapshot: now.snapshot });
      return now;
    }
    // The resource was not found, or this is no id of the service: one that was once seen still exists.
    if (read.status !== 404 && read.status !== 400) throw refusalOf(read);
    if (!known) await onNotFound?.(tenant, requestOptions);
    const denial =
      known && saysNotFound(read) && isWebhooksAlone(known) ? family.openClaimOf?.(id) : undefined;
    return denial ? merge(tenant, known, denial, read.at) : known;
  }

  /**
   * The options of a lookup. The start of a payment takes precedence over a payer's look at a known payment,
   * whose last known state can be shown.
   */
  function readOptionsFor(requester: Requester, known: MirroredRow | null): RequestOptions {
    const wanted = requestOptionsFor(requester);
    return wanted.priority === 'payer' && known ? { ...wanted, priority: 'payer_read' } : wanted;
  }

  /** Finds a resource at the service, or its last known state if the service cannot be reached. */
  async function findOne(
    tenant: Tenant,
    id: string,
    known: MirroredRow | null,
    requester: Requester,
    { asksEnded }: { asksEnded: boolean },
  ): Promise<R | null> {
    if (known?.final && !asksEnded) return resourceOf(known);
    const requestOptions = readOptionsFor(requester, known);
    try {
      const read = await ask(tenant, id, { requestOptions, maxAgeMs: MAX_AGE_MS[requester.priority] });
      const now = await take(tenant, id, known, { read, requestOptions, merge: mirror.show });
      requester.onRead(now && now.observedAt > read.at ? now.observedAt : read.at, read.stale);
      return now && resourceOf(now);
    } catch (error) {
      // The page may come from a service without this family.
      if (!known && isPageFault(error)) await onNotFound?.(tenant, requestOptions);
      if (!known || !isInconclusive(error)) throw error;
      requester.onRead(known.observedAt, true);
      return resourceOf(known);
    }
  }

  async function findMany(tenant: Tenant, ids: readonly string[], requester: Requester) {
    if (!isPossible(tenant.environment)) return ids.map(() => null);
    const possible = [...new Set(ids)].filter(isId);
    // The service may correct an ended resource. It is asked only for a single one: for a list, each would
    // cost a request.
    const asksEnded = possible.length === 1;
    return mirrorWriter.holding(tenant, { resource, ids: possible }, async (rows) => {
      const known = new Map(rows.map((each) => [each.id, each]));
      const found = await withUpstreamErrors(
        Promise.all(
          possible.map((id) => findOne(tenant, id, known.get(id) ?? null, requester, { asksEnded })),
        ),
      );
      const byId = new Map(possible.map((id, index) => [id, found[index]!]));
      return ids.map((id) => byId.get(id) ?? null);
    });
  }

  async function lookUp(
    tenant: Tenant,
    known: MirroredRow,
    { requestOptions, requester }: { requestOptions: RequestOptions; requester: Requester },
  ): Promise<MirroredRow | null> {
    const read = await ask(tenant, known.id, { requestOptions, maxAgeMs: MAX_AGE_MS[requester.priority] });
    // A stale answer only repeats what is known.
    if (read.stale) throw cannotAsk();
    return take(tenant, known.id, known, { read, requestOptions });
  }

  /**
   * Looks up a resource from before a restore. If it is still polled, its known state may be shown. @throws
   * PaymentError
   */
  async function askForEnd(tenant: Tenant, known: MirroredRow, requester: Requester): Promise<void> {
    const requestOptions = readOptionsFor(requester, known);
    await withUpstreamErrors(lookUp(tenant, known, { requestOptions, requester })).catch((error: unknown) => {
      const isPolled = !known.final && pollInterval(resourceOf(known), clock.now()) !== null;
      if (!isInconclusive(error) || (isRetryable(error) && !isPolled)) throw error;
    });
  }

  const poll = createLookupPoll(
    { database, clock, records },
    {
      resource,
      statuses: polledStatuses,
      intervalOf: (row, now) => pollInterval(resourceOf(row), now),
      async lookUp(tenant, row) {
        const requestOptions: RequestOptions = { priority: 'poll' };
        const read = await askIfSupported(tenant, row.id, { requestOptions, maxAgeMs: 0 });
        if (!read) return 'unsupported';
        if (read.stale) return 'stale';
        await take(tenant, row.id, row, { read, requestOptions });
        return 'shown';
      },
      askedAgainAt: ({ environment }) => endpoints.askedAgainAt(environment, endpoint),
      perPoll: MAX_PER_POLL,
      idleMs: IDLE_MS,
    },
  );

  return {
    lookUp,

    findMany,

    async findWithVersion(tenant, id, requester) {
      if (!isId(id)) return null;
      const read = () => selectMirroredWithHead(sql, tenant, resource, id);
      let found = await read();
      if (!found && (await findMany(tenant, [id], requester))[0]) found = await read();
      if (found && isFromBefore(found.observed, records.lastKnown()) && isPossible(tenant.environment)) {
        await askForEnd(tenant, found.observed, requester);
        found = await read();
      }
      return found && { version: found.head, resource: resourceOf(found.observed) };
    },

    poll: async (tenant, targets) => (isPossible(tenant.environment) ? poll(tenant, targets) : null),

    async refresh(tenant, ids, requestOptions) {
      if (!isPossible(tenant.environment)) return;
      for (const id of ids.filter(isId)) {
        const read = await ask(tenant, id, { requestOptions, maxAgeMs: 0, isOwnRequest: true });
        if (read.stale) throw serviceLimit('requests to the payments service', LATER_MS / 1_000);
        await take(tenant, id, await mirror.find(tenant, id), { read, requestOptions });
      }
    },
  };
}

/** Whether only a webhook says that a payment was paid. */
function isWebhooksAlone({ status, snapshot }: MirroredRow): boolean {
  return status === 'paid' && (snapshot as { claimedAt?: unknown }).claimedAt !== undefined;
}
