import { plusMs } from '../../../kernel/clock.ts';
import { createCoalescedReads } from '../../../kernel/coalesce.ts';
import { type ListRange, withoutExtra } from '../../../kernel/list-range.ts';
import type { Requester } from '../../../kernel/requester.ts';
import { type Tenant, tenantKey } from '../../../kernel/tenant.ts';
import {
  type RemoteSlice,
  requestOptionsFor,
  type UpstreamDependencies,
} from '../../../upstream/dependencies.ts';
import { createEndpoints } from '../../../upstream/endpoint-availability.ts';
import { listMirroredRange, totalsOfMirrored } from '../../../upstream/mirror-lists.ts';
import {
  isFromBefore,
  type MirroredRow,
  selectOfBefore,
  selectOpen,
} from '../../../upstream/mirror-store.ts';
import { claimPoll } from '../../../upstream/poll-store.ts';
import {
  assertUnfiltered,
  cannotAsk,
  isInconclusive,
  isSuccess,
  refusalOf,
  unreadable,
  withUpstreamErrors,
} from '../../../upstream/responses.ts';
import {
  createStableOffsetList,
  LARGEST_PAGE,
  type OffsetPage,
  type StableFilter,
  tooManyPages,
} from '../../../upstream/stable-list.ts';
import { type RequestOptions, UpstreamFault } from '../../../upstream/upstream.ts';
import type { Wallet } from '../../wallet/model.ts';
import { fingerprintOf } from '../destinations.ts';
import { isSettled, matchesFilter, type Payout, type PayoutFilter, type PayoutService } from '../model.ts';
import { readPayout, readPayoutEvent, readPayoutList } from '../wire.ts';
import { createPayoutsByExternalId, hasExternalId, mirrorFilter } from './by-external-id-service.ts';
import { createPayoutRequests, LIST, PAYOUTS, SKEW_MS } from './commands.ts';
import { mirrorPayouts, observationOf, payoutIn } from './mirror.ts';
import { listOfAmounts } from './of-amounts-service.ts';
import { CHANGED_MS, EACH_FRESH_MS, pollInterval } from './poll-interval.ts';
import { assertCursorsOfList, isBehind, positionOfDoubt } from './positions.ts';

const GET = { name: 'GET /v1/payouts/{id}', inWords: 'looking a payout up' };

/** The time for which a page is served from the cache. */
const CACHED_MS = 2_000;
/** The most pages and single payouts that one search reads. */
const SEARCH = { pages: 5, singles: 5 };
/** The interval between searches for followed payouts that are not on the newest page. */
const SEARCH_EVERY_MS = 60_000;

/** The scope of a read. Without a requester, a stale answer is a fault. */
interface Scope {
  tenant: Tenant;
  requestOptions: RequestOptions;
  maxAgeMs: number;
  requester: Requester | null;
}

interface Page extends OffsetPage<Payout> {
  stale: boolean;
}

/** Creates the payouts of the main account over HTTP. Every answer and webhook about them is merged into the mirror. */
export function createRemotePayouts(
  dependencies: UpstreamDependencies & {
    /** Reads the wallet, whose figures a refusal contains. */
    readWallet: (tenant: Tenant) => Promise<Wallet>;
  },
): RemoteSlice<PayoutService> {
  const { database, clock, reads, intents, records } = dependencies;
  const endpoints = createEndpoints(clock);
  const mirror = mirrorPayouts(dependencies);
  const requests = createPayoutRequests({ ...dependencies, endpoints, mirror });
  /** The merges by the body of the answer. Several reads share a body, which is merged once. */
  const merges = new WeakMap<object, Promise<(Payout | null)[]>>();

  /** Coalesced refreshes: one read serves any number of webhooks, and a second one those that arrived during it. */
  const refreshes = createCoalescedReads<Page>();

  const stableList = createStableOffsetList<Scope, Payout>({
    keyOf: ({ tenant }) => tenantKey(tenant),
    idOf: ({ withdrawalId }) => withdrawalId!,
    fetchPage: readPage,
    isCacheable: isSettled,
  });

  // ── Reads ─────────────────────────────────────────────────────────────────────────────────────

  /** Reads a page and merges it. @throws RateLimitError, UpstreamFault, and a PaymentError for a refusal */
  async function readPage(
    { tenant, requestOptions, maxAgeMs, requester }: Scope,
    { limit, offset }: { limit: number; offset: number },
  ): Promise<Page> {
    const { environment } = tenant;
    const path = `${PAYOUTS}?limit=${limit}&offset=${offset}` as const;
    const read = await endpoints.ask(environment, LIST, () =>
      reads.get(environment, path, { requestOptions, maxAgeMs }),
    );
    const { at, stale } = read;
    if (!isSuccess(read)) throw refusalOf(read);
    // A stale answer means that the service was not asked, or did not answer.
    if (stale && requester === null) throw new UpstreamFault('unreachable', 'no');
    const list = readPayoutList(read.body);
    if (!list) throw unreadable();
    const body = read.body as object;
    const earlier = merges.get(body);
    const merge = earlier ?? mirror.merge(tenant, list.items, { at, isShown: requester !== null });
    merges.set(body, merge);
    merge.catch(() => merges.delete(body));
    // A webhook may have changed a payout since the cached page was read.
    const items = earlier ? await mirror.asKnown(tenant, await earlier) : await merge;
    requester?.onRead(at, stale);
    return { items, total: list.total, at, stale };
  }

  /**
   * Searches payouts by any of their names. `complete`: a payout that was not found does not exist. @throws
   * as `readPage`
   */
  async function searchFor(
    requestedScope: Scope,
    names: readonly string[],
  ): Promise<{ found: Map<string, Payout>; complete: boolean; readable: boolean }> {
    let isStale = false;
    const { requester } = requestedScope;
    const scope: Scope = {
      ...requestedScope,
      requester: requester && {
        ...requester,
        onRead(at, stale) {
          isStale ||= stale;
          requester.onRead(at, stale);
        },
      },
    };
    const found = new Map<string, Payout>();
    const namesOf = ({ withdrawalId, code }: Payout) => [withdrawalId, code].filter((name) => name !== null);
    const add = (payout: Payout) => {
      for (const name of namesOf(payout)) found.set(name, payout);
    };
    const isWanted = new Set(names);
    const { items, complete, readable } = await stableList.find(scope, {
      wants: (payout) => namesOf(payout).some((name) => isWanted.has(name)),
      limit: isWanted.size,
      pages: SEARCH.pages,
    });
    items.forEach(add);
    // A payout that is missing from a stale page may have been made since.
    if (complete && isStale && names.some((name) => !found.has(name))) throw cannotAsk();
    if (complete) return { found, complete, readable };
    for (const name of names.filter((each) => !found.has(each)).slice(0, SEARCH.singles)) {
      const payout = await readOne(scope, name);
      if (payout) add(payout);
    }
    return { found, complete: names.every((name) => found.has(name)), readable };
  }

  /** Reads one payout. The document has no such endpoint, so null does not mean that there is no payout. */
  async function readOne(
    { tenant, requestOptions, maxAgeMs, requester }: Scope,
    name: string,
  ): Promise<Payout | null> {
    const { environment } = tenant;
    const path = `${PAYOUTS}/${encodeURIComponent(name)}` as const;
    const read = await endpoints.callIfSupported(environment, GET, () =>
      reads.get(environment, path, { requestOptions, maxAgeMs }),
    );
    const upstream = read && isSuccess(read) ? readPayout(read.body) : null;
    if (!read || !upstream || (upstream.withdrawalId !== name && upstream.code !== name)) return null;
    requester?.onRead(read.at, read.stale);
    const merged = await mirror.merge(tenant, [upstream], { at: read.at, isShown: requester !== null });
    return merged[0] ?? null;
  }

  async function findMany(
    tenant: Tenant,
    references: readonly string[],
    requester: Requester,
  ): Promise<(Payout | null)[]> {
    const names = [...new Set(references.filter(canBeReference))];
    const known = await mirror.findNamed(tenant, names);
    const isEnd = (row: MirroredRow | undefined) =>
      isConfirmed(row) && !isFromBefore(row!, records.lastKnown());
    const open = names.filter((name) => !isEnd(known.get(name)) && !hasNoWithdrawal(known.get(name)));
    let found = new Map<string, Payout>();
    if (open.length > 0)
      try {
        const searched = await searchFor(cachedScope(tenant, requester), open);
        found = searched.found;
        if (!searched.complete && open.some((name) => !known.has(name) && !found.has(name)))
          throw searched.readable ? tooManyPages(SEARCH.pages) : unreadable();
      } catch (error) {
        // Known payouts are returned as they were last seen.
        if (!isInconclusive(error) || open.some((name) => !known.has(name))) throw error;
      }
    const isMissing = (name: string) => name.startsWith('int_') && !found.has(name) && !known.has(name);
    // The searched ids are this server's own: the service does not know them.
    if (names.some(isMissing)) await intents.assertNotMissing();
    return references.map((reference) => {
      const before = known.get(reference);
      const payout = found.get(reference);
      if (payout || !before) return payout ?? null;
      if (!isEnd(before)) requester.onRead(before.observedAt, true);
      return payoutIn(before);
    });
  }

  /** Whether the known state of a payout is an end that was last shown before a restore. */
  async function isEndOfBefore(tenant: Tenant, id: string): Promise<boolean> {
    const behind = records.lastKnown();
    const row = behind && (await mirror.findNamed(tenant, [id])).get(id);
    return !!row && row.final && isFromBefore(row, behind) && !hasNoWithdrawal(row);
  }

  /**
   * Lists the payouts in doubt, newest first. They precede the rest, because the service's list does not
   * contain them.
   */
  async function listDoubts(
    tenant: Tenant,
    { after, before, ...filter }: PayoutFilter & { after: number | undefined; before: number | undefined },
  ): Promise<{ position: number; payout: Payout }[]> {
    const { wants } = stableFilter(filter);
    return (await mirror.inDoubt(tenant))
      .filter(({ payout }) => wants?.(payout) ?? true)
      .map(({ row, payout }) => ({ position: positionOfDoubt(row), payout }))
      .filter(
        ({ position }) =>
          (after === undefined || isBehind(position, after)) &&
          (before === undefined || isBehind(before, position)),
      );
  }

  /** Lists a range of the service's list. @throws a PaymentError */
  async function listUpstream(tenant: Tenant, range: ListRange, filter: PayoutFilter, requester: Requester) {
    const { items, more } = await withUpstreamErrors(
      stableList.list(cachedScope(tenant, requester), { ...range, ...stableFilter(filter) }),
    );
    const asKnown = await mirror.asKnown(
      tenant,
      items.map(({ item }) => item),
    );
    return { items: items.map(({ position }, index) => ({ position, payout: asKnown[index]! })), more };
  }

  /**
   * The followed payouts that ended before a restore, which the service has to confirm. If all payouts are
   * followed, the newest page shows them.
   */
  async function endsOfBefore(tenant: Tenant, followed: readonly string[] | 'all'): Promise<MirroredRow[]> {
    if (followed === 'all') return [];
    const rows = await selectOfBefore(database.sql, tenant, 'payout', followed, records.lastKnown());
    return rows.filter((row) => row.final && !hasNoWithdrawal(row));
  }

  const byExternalId = createPayoutsByExternalId({
    ...{ database, clock, maxAgeMs: CACHED_MS },
    readNewest: (tenant, requester) =>
      readPage(cachedScope(tenant, requester), { limit: LARGEST_PAGE, offset: 0 }),
  });

  const cachedScope = (tenant: Tenant, requester: Requester): Scope => ({
    tenant,
    requestOptions: requestOptionsFor(requester),
    maxAgeMs: CACHED_MS,
    requester,
  });
  const freshScope = (tenant: Tenant, requestOptions: RequestOptions): Scope => ({
    tenant,
    requestOptions,
    maxAgeMs: 0,
    requester: null,
  });

  return {
    serviceFor: (requester) => ({
      request: requests.request,
      async findKept(tenant, ids) {
        const known = await mirror.findNamed(tenant, [...new Set(ids)]);
        return ids.map((id) => {
          const row = known.get(id);
          return row ? payoutIn(row) : null;
        });
      },
      async findByKey(tenant, idempotencyKey) {
        const known = await requests.findByKey(tenant, idempotencyKey);
        if (!known?.withdrawalId) return known;
        const [found] = await withUpstreamErrors(findMany(tenant, [known.withdrawalId], requester));
        // The id of the known payout may have a form that is not searched for.
        return found ?? known;
      },
      // Only the service knows the form of the names that it issues.
      assertNames: () => undefined,
      find: async (tenant, reference) =>
        (await withUpstreamErrors(findMany(tenant, [reference], requester)))[0] ?? null,
      findMany: (tenant, references) => withUpstreamErrors(findMany(tenant, references, requester)),
      async findWithVersion(tenant, id) {
        const known = await mirror.findWithVersion(tenant, id);
        if (!known) await withUpstreamErrors(findMany(tenant, [id], requester));
        else if (!(await isEndOfBefore(tenant, id))) return known;
        else {
          // A stream would complete with this end.
          const scope = freshScope(tenant, requestOptionsFor(requester));
          await withUpstreamErrors(searchFor(scope, [known.payout.withdrawalId!]));
        }
        return mirror.findWithVersion(tenant, id);
      },
      async list(tenant, { end, limit, after, before, ...filter }) {
        assertCursorsOfList({ after, before }, { inMirror: hasExternalId(filter) });
        const doubts = await listDoubts(tenant, { after, before, ...filter });
        const isDoubt = (position: number | undefined) => position !== undefined && position < 0;
        // All other payouts come after those in doubt.
        const readRest = async (restLimit: number) => {
          if (isDoubt(before)) return { items: [], more: false };
          const range = { end, limit: restLimit, after: isDoubt(after) ? undefined : after, before };
          return hasExternalId(filter)
            ? byExternalId.list(tenant, range, filter, requester)
            : listUpstream(tenant, range, filter, requester);
        };
        const isFirst = end === 'first';
        if (isFirst && doubts.length > limit) return { items: doubts.slice(0, limit), more: true };
        const rest = await readRest(isFirst ? Math.max(1, limit - doubts.length) : limit);
        const items = [...doubts, ...rest.items];
        const page = isFirst ? items.slice(0, limit) : items.slice(-limit);
        return { items: page, more: rest.more || items.length > limit };
      },
      async listKept(tenant, { end, limit, after, before, ...filter }) {
        const rows = await listMirroredRange(database.sql, tenant, 'payout', {
          ...{ ...mirrorFilter(filter), end, limit: limit + 1, after, before },
          ...{ allOf: null, isByNumber: true },
        });
        const { items, more } = withoutExtra(rows, { end, limit });
        return {
          items: items.map(({ position, observed }) => ({ position, payout: payoutIn(observed) })),
          more,
        };
      },
      listOfAmounts: (tenant, amounts, since) => listOfAmounts(dependencies, tenant, amounts, since),
      async listPage(tenant, { limit, offset, ...filter }) {
        assertUnfiltered(filter, 'payouts');
        const page = { limit, offset };
        const { items, total } = await withUpstreamErrors(readPage(cachedScope(tenant, requester), page));
        return { items: items.filter((item) => item !== null), total };
      },
      async count(tenant, filter) {
        const doubts = await listDoubts(tenant, { after: undefined, before: undefined, ...filter });
        const rest = hasExternalId(filter)
          ? byExternalId.count(tenant, filter, requester)
          : withUpstreamErrors(stableList.count(cachedScope(tenant, requester), stableFilter(filter)));
        return doubts.length + (await rest);
      },
      totals: (tenant, filter, groupBy) =>
        totalsOfMirrored(database.sql, tenant, 'payout', mirrorFilter(filter), groupBy),
      async recheck(tenant, withdrawalId) {
        const { found } = await withUpstreamErrors(
          searchFor(freshScope(tenant, requestOptionsFor(requester)), [withdrawalId]),
        );
        const payout = found.get(withdrawalId);
        return payout !== undefined && !isSettled(payout);
      },
    }),

    async poll(tenant, { all, ids, isChanged }) {
      const followed = all ? 'all' : await mirror.withdrawalsOf(tenant, ids);
      const at = clock.now();
      const open = [
        ...(await selectOpen(database.sql, tenant, 'payout', followed)),
        ...(await endsOfBefore(tenant, followed)),
      ];
      if (!all && open.length === 0) return null;
      // Requests in doubt are looked up by a task, so only our own database is read until one has its withdrawal.
      if (!all && open.every(hasNoWithdrawal)) return plusMs(at, EACH_FRESH_MS);
      const intervalMs = pollInterval(open.map(payoutIn), at);
      const claim = { name: 'payout', now: at, intervalMs: isChanged ? CHANGED_MS : intervalMs };
      if (!(await claimPoll(database.sql, tenant, claim))) return plusMs(at, intervalMs);

      const scope = freshScope(tenant, { priority: 'money_read' });
      const { items } = await readPage(scope, { limit: LARGEST_PAGE, offset: 0 });
      const seen = new Set(items.map((payout) => payout?.withdrawalId));
      const missing = open.filter((row) => !hasNoWithdrawal(row) && !seen.has(row.id)).map(({ id }) => id);
      const searches = { name: 'payout behind', now: at, intervalMs: SEARCH_EVERY_MS };
      if (missing.length > 0 && (await claimPoll(database.sql, tenant, searches)))
        await searchFor(scope, missing);

      const stillOpen = await selectOpen(database.sql, tenant, 'payout', followed);
      return !all && stillOpen.length === 0 ? null : plusMs(at, pollInterval(stillOpen.map(payoutIn), at));
    },

    async refresh(tenant, ids, requestOptions) {
      const { items } = await refreshes(tenantKey(tenant), () => {
        // A page that was read before, or is being read, may lack the change.
        reads.forget(tenant.environment);
        return readPage(freshScope(tenant, requestOptions), { limit: LARGEST_PAGE, offset: 0 });
      });
      const seen = new Set<string | null>(
        items.flatMap((payout) => (payout ? [payout.withdrawalId, payout.code] : [])),
      );
      const missing = ids.filter((id) => !seen.has(id) && canBeReference(id));
      if (missing.length > 0)
        await searchFor({ ...freshScope(tenant, requestOptions), maxAgeMs: CACHED_MS }, missing);
    },

    readWebhook(payload) {
      const upstream = readPayoutEvent(payload);
      if (!upstream) return null;
      const { withdrawalId, method, amountCents, destination } = upstream;
      return {
        resource: 'payout',
        reference: withdrawalId,
        observation: observationOf(upstream, null),
        inputHash: amountCents === null ? null : fingerprintOf(method ?? 'unknown', amountCents, destination),
      };
    },

    requests: requests.kinds,
  };
}

/** Whether a record has no withdrawal id: its request is in doubt, or never reached the service. */
function hasNoWithdrawal(known: MirroredRow | undefined): boolean {
  return known !== undefined && payoutIn(known).withdrawalId === null;
}

/** Whether the service itself has described the payout's end. A webhook then says nothing more. */
function isConfirmed(known: MirroredRow | undefined): boolean {
  if (!known?.final) return false;
  const { processedAt } = payoutIn(known);
  return processedAt === null || known.observedAt > processedAt;
}

// ── Filters and references ──────────────────────────────────────────────────────────────────────

function stableFilter(filter: PayoutFilter): StableFilter<Payout> {
  if (Object.values(filter).every((member) => member === undefined)) return {};
  const { requestedAfter } = filter;
  return {
    wants: (payout) => matchesFilter(payout, filter),
    // Payouts that were requested at about the same time may be in either order.
    isBeyond: ({ requestedAt }) =>
      requestedAfter !== undefined && requestedAt !== null && requestedAt < plusMs(requestedAfter, -SKEW_MS),
  };
}

/** Whether a text can be a reference; the service is not asked for other texts. */
function canBeReference(text: string): boolean {
  return /^[\x21-\x7e]{1,128}$/.test(text) && !/^\.{1,2}$/.test(text);
}
