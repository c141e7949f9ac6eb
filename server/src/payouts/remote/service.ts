import { plusMs } from '../../kernel/clock.ts';
import { createCoalescedReads } from '../../kernel/coalesce.ts';
import type { Requester } from '../../kernel/requester.ts';
import { type Tenant, tenantKey } from '../../kernel/tenant.ts';
import {
  type RemoteSlice,
  requestOptionsFor,
  type UpstreamDependencies,
} from '../../upstream/dependencies.ts';
import { createEndpoints } from '../../upstream/endpoint-availability.ts';
import { claimPoll, type MirroredRow, selectOpen } from '../../upstream/mirror-store.ts';
import {
  cannotAsk,
  isRetryable,
  isSuccess,
  refusalOf,
  unreadable,
  withUpstreamErrors,
} from '../../upstream/responses.ts';
import {
  createStableOffsetList,
  LARGEST_PAGE,
  type OffsetPage,
  type StableFilter,
  tooManyPages,
} from '../../upstream/stable-list.ts';
import { type RequestOptions, UpstreamFault } from '../../upstream/upstream.ts';
import type { Wallet } from '../../wallet/model.ts';
import { fingerprintOf, isSettled, type Payout, type PayoutFilter, type PayoutService } from '../model.ts';
import { readPayout, readPayoutEvent, readPayoutList } from '../wire.ts';
import { createPayoutRequests, LIST, PAYOUTS, SKEW_MS } from './commands.ts';
import { mirrorPayouts, observationOf, payoutIn } from './mirror.ts';

const GET = { name: 'GET /v1/payouts/{id}', inWords: 'looking a payout up' };

/** A query within so long after another of the same page is answered from memory. */
const KEPT_MS = 2_000;
/** Pages and single payouts that one search may cost. */
const SEARCH = { pages: 5, singles: 5 };
/** How often what lies behind the newest page is searched while it is followed. */
const BEHIND_MS = 60_000;

/** On whose behalf the service is asked. Without an requester, only what it says now counts. */
interface Where {
  tenant: Tenant;
  requestOptions: RequestOptions;
  keepMs: number;
  requester: Requester | null;
}

interface Page extends OffsetPage<Payout> {
  stale: boolean;
}

/** Payouts of the main account over HTTP. All that is seen of them, by whatever way, is kept in the mirror. */
export function createRemotePayouts(
  facade: UpstreamDependencies & {
    /** For the figures of a refusal. */
    readWallet: (tenant: Tenant) => Promise<Wallet>;
  },
): RemoteSlice<PayoutService> {
  const { database, clock, reads } = facade;
  const endpoints = createEndpoints(clock);
  const mirror = mirrorPayouts(facade);
  const requests = createPayoutRequests({ ...facade, endpoints, mirror });
  /** By what was read, which is shared: it is taken over once. */
  const takenOver = new WeakMap<object, Promise<(Payout | null)[]>>();

  /** However many webhooks come at once, one reading is under way, and one more for those that came meanwhile. */
  const refreshed = createCoalescedReads<Page>();

  const ranked = createStableOffsetList<Where, Payout>({
    keyOf: ({ tenant }) => tenantKey(tenant),
    idOf: ({ withdrawalId }) => withdrawalId!,
    fetchPage: readPage,
    isKept: isSettled,
  });

  // ── What is read ──────────────────────────────────────────────────────────────────────────────

  /** @throws RateLimitError, UpstreamFault, and a PaymentError for a refusal */
  async function readPage(
    { tenant, requestOptions, keepMs, requester }: Where,
    { limit, offset }: { limit: number; offset: number },
  ): Promise<Page> {
    const { environment } = tenant;
    const path = `${PAYOUTS}?limit=${limit}&offset=${offset}` as const;
    const read = await endpoints.ask(environment, LIST, () =>
      reads.get(environment, path, { requestOptions, keepMs }),
    );
    const { at, stale } = read;
    if (!isSuccess(read)) throw refusalOf(read);
    // Nobody was asked, or nobody answered.
    if (stale && requester === null) throw new UpstreamFault('unreachable', 'no');
    const list = readPayoutList(read.body);
    if (!list) throw unreadable();
    const body = read.body as object;
    const before = takenOver.get(body);
    const taking = before ?? mirror.takeOver(tenant, list.items, at);
    takenOver.set(body, taking);
    taking.catch(() => takenOver.delete(body));
    // Of what comes from memory a webhook may have told more since.
    const items = before ? await mirror.asKnown(tenant, await before) : await taking;
    requester?.onRead(at, stale);
    return { items, total: list.total, at, stale };
  }

  /** By any name, and whether what was not found is certainly not there. @throws as `readPage` */
  async function searchFor(
    given: Where,
    names: readonly string[],
  ): Promise<{ found: Map<string, Payout>; complete: boolean; readable: boolean }> {
    let isStale = false;
    const { requester } = given;
    const where: Where = {
      ...given,
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
    const { items, complete, readable } = await ranked.find(where, {
      wants: (payout) => namesOf(payout).some((name) => isWanted.has(name)),
      limit: isWanted.size,
      pages: SEARCH.pages,
    });
    items.forEach(add);
    // What was not there when the service was last asked may be there now.
    if (complete && isStale && names.some((name) => !found.has(name))) throw cannotAsk();
    if (complete) return { found, complete, readable };
    for (const name of names.filter((each) => !found.has(each)).slice(0, SEARCH.singles)) {
      const payout = await readOne(where, name);
      if (payout) add(payout);
    }
    return { found, complete: names.every((name) => found.has(name)), readable };
  }

  /** Not in the document: where it is not there, that says nothing. */
  async function readOne(
    { tenant, requestOptions, keepMs, requester }: Where,
    name: string,
  ): Promise<Payout | null> {
    const { environment } = tenant;
    const path = `${PAYOUTS}/${encodeURIComponent(name)}` as const;
    const read = await endpoints.callIfSupported(environment, GET, () =>
      reads.get(environment, path, { requestOptions, keepMs }),
    );
    const claim = read && isSuccess(read) ? readPayout(read.body) : null;
    if (!read || !claim || (claim.withdrawalId !== name && claim.code !== name)) return null;
    requester?.onRead(read.at, read.stale);
    return (await mirror.takeOver(tenant, [claim], read.at))[0] ?? null;
  }

  async function findMany(
    tenant: Tenant,
    references: readonly string[],
    requester: Requester,
  ): Promise<(Payout | null)[]> {
    const names = [...new Set(references.filter(canBeReference))];
    const known = await mirror.findNamed(tenant, names);
    const open = names.filter((name) => !isConfirmed(known.get(name)) && !isOfRequest(known.get(name)));
    let found = new Map<string, Payout>();
    if (open.length > 0)
      try {
        const searched = await searchFor(whereOf(tenant, requester), open);
        found = searched.found;
        if (!searched.complete && open.some((name) => !known.has(name) && !found.has(name)))
          throw searched.readable ? tooManyPages(SEARCH.pages) : unreadable();
      } catch (error) {
        // Of one that was never seen nothing is known; the others are as they were seen last.
        if (!isRetryable(error) || open.some((name) => !known.has(name))) throw error;
      }
    return references.map((reference) => {
      const before = known.get(reference);
      const payout = found.get(reference);
      if (payout || !before) return payout ?? null;
      if (!before.final) requester.onRead(before.observedAt, true);
      return payoutIn(before);
    });
  }

  /** Those in doubt stand before the rest, for no list of the service has them yet; the newest first. */
  async function listDoubts(
    tenant: Tenant,
    { after, before, ...filter }: PayoutFilter & { after: number | undefined; before: number | undefined },
  ): Promise<{ place: number; payout: Payout }[]> {
    const { wants } = rankedFilter(filter);
    return (await mirror.inDoubt(tenant))
      .filter((payout) => wants?.(payout) ?? true)
      .map((payout) => ({ place: placeOfDoubt(payout), payout }))
      .filter(
        ({ place }) =>
          (after === undefined || isBehind(place, after)) &&
          (before === undefined || isBehind(before, place)),
      );
  }

  const whereOf = (tenant: Tenant, requester: Requester): Where => ({
    tenant,
    requestOptions: requestOptionsFor(requester),
    keepMs: KEPT_MS,
    requester,
  });
  const now = (tenant: Tenant, requestOptions: RequestOptions): Where => ({
    tenant,
    requestOptions,
    keepMs: 0,
    requester: null,
  });

  return {
    serviceFor: (requester) => ({
      request: requests.request,
      // The service knows what it issues.
      assertNames: () => undefined,
      find: async (tenant, reference) =>
        (await withUpstreamErrors(findMany(tenant, [reference], requester)))[0] ?? null,
      findMany: (tenant, references) => withUpstreamErrors(findMany(tenant, references, requester)),
      async findWithVersion(tenant, id) {
        const known = await mirror.findWithVersion(tenant, id);
        if (known) return known;
        await withUpstreamErrors(findMany(tenant, [id], requester));
        return mirror.findWithVersion(tenant, id);
      },
      async list(tenant, { end, limit, after, before, ...filter }) {
        const doubts = await listDoubts(tenant, { after, before, ...filter });
        const isRank = (place: number | undefined) => place === undefined || place > 0;
        // Whether the rest lies in the range: behind a place among those in doubt all of it, before one none of it.
        const readRest = async (most: number) => {
          if (before !== undefined && !isRank(before)) return { items: [], more: false };
          const range = {
            end,
            limit: most,
            after: isRank(after) ? after : undefined,
            before,
            ...rankedFilter(filter),
          };
          const { items, more } = await withUpstreamErrors(ranked.list(whereOf(tenant, requester), range));
          const asKnown = await mirror.asKnown(
            tenant,
            items.map(({ item }) => item),
          );
          return { items: items.map(({ place }, index) => ({ place, payout: asKnown[index]! })), more };
        };
        if (end === 'first') {
          if (doubts.length > limit) return { items: doubts.slice(0, limit), more: true };
          const rest = await readRest(Math.max(1, limit - doubts.length));
          const items = [...doubts, ...rest.items];
          return { items: items.slice(0, limit), more: rest.more || items.length > limit };
        }
        const rest = await readRest(limit);
        const items = [...doubts, ...rest.items];
        return { items: items.slice(-limit), more: rest.more || items.length > limit };
      },
      async listPage(tenant, page) {
        const { items, total } = await withUpstreamErrors(readPage(whereOf(tenant, requester), page));
        return { items: items.filter((item) => item !== null), total };
      },
      async count(tenant, filter) {
        const doubts = await listDoubts(tenant, { after: undefined, before: undefined, ...filter });
        return (
          doubts.length +
          (await withUpstreamErrors(ranked.count(whereOf(tenant, requester), rankedFilter(filter))))
        );
      },
      async recheck(tenant, withdrawalId) {
        const { found } = await withUpstreamErrors(
          searchFor(now(tenant, requestOptionsFor(requester)), [withdrawalId]),
        );
        const payout = found.get(withdrawalId);
        return payout !== undefined && !isSettled(payout);
      },
    }),

    async poll(tenant, { all, ids, isChanged: nudged }) {
      const followed = all ? 'all' : await mirror.withdrawalsOf(tenant, ids);
      const at = clock.now();
      const open = await selectOpen(database.sql, tenant, 'payout', followed);
      if (!all && open.length === 0) return null;
      // Its request is looked after elsewhere; once its payout is known, that is polled. This asks our own database alone.
      if (!all && open.every(isOfRequest)) return plusMs(at, EACH_FRESH_MS);
      const intervalMs = intervalOf(open.map(payoutIn), at);
      const claim = { name: 'payout', now: at, intervalMs: nudged ? NUDGED_MS : intervalMs };
      if (!(await claimPoll(database.sql, tenant, claim))) return plusMs(at, intervalMs);

      const where = now(tenant, { priority: 'poll' });
      const { items } = await readPage(where, { limit: LARGEST_PAGE, offset: 0 });
      const seen = new Set(items.map((payout) => payout?.withdrawalId));
      const behind = open.filter((one) => !isOfRequest(one) && !seen.has(one.id)).map(({ id }) => id);
      const searches = { name: 'payout behind', now: at, intervalMs: BEHIND_MS };
      if (behind.length > 0 && (await claimPoll(database.sql, tenant, searches)))
        await searchFor(where, behind);

      const still = await selectOpen(database.sql, tenant, 'payout', followed);
      return !all && still.length === 0 ? null : plusMs(at, intervalOf(still.map(payoutIn), at));
    },

    async refresh(tenant, ids, requestOptions) {
      const { items } = await refreshed(tenantKey(tenant), () => {
        // There is news: what was read before, or is being read, may not have it.
        reads.forget(tenant.environment);
        return readPage(now(tenant, requestOptions), { limit: LARGEST_PAGE, offset: 0 });
      });
      const seen = new Set<string | null>(
        items.flatMap((payout) => (payout ? [payout.withdrawalId, payout.code] : [])),
      );
      const behind = ids.filter((id) => !seen.has(id) && canBeReference(id));
      if (behind.length > 0) await searchFor({ ...now(tenant, requestOptions), keepMs: KEPT_MS }, behind);
    },

    readWebhook(payload) {
      const claim = readPayoutEvent(payload);
      if (!claim) return null;
      const { withdrawalId, method, amountCents, destination } = claim;
      return {
        resource: 'payout',
        reference: withdrawalId,
        observation: observationOf(claim, null),
        inputHash: amountCents === null ? null : fingerprintOf(method ?? 'unknown', amountCents, destination),
      };
    },

    requests: requests.kinds,
  };
}

/** It has no withdrawal of the service's: its request is in doubt, or was never made. */
function isOfRequest(known: MirroredRow | undefined): boolean {
  return known !== undefined && payoutIn(known).withdrawalId === null;
}

// ── Places of those in doubt ────────────────────────────────────────────────────────────────────

/** Below 0, the newest lowest; those of the rest are ranks, from 1. */
function placeOfDoubt(payout: Payout): number {
  return -payout.requestedAt!.getTime();
}

/** Whether one place of the list comes behind another, newest first. */
function isBehind(place: number, other: number): boolean {
  if (place < 0 && other < 0) return place > other;
  if (place < 0 || other < 0) return other < 0;
  return place < other;
}

/** The service itself has told its end since it came; a webhook tells less of it. */
function isConfirmed(known: MirroredRow | undefined): boolean {
  if (!known?.final) return false;
  const { processedAt } = payoutIn(known);
  return processedAt === null || known.observedAt > processedAt;
}

// ── How often ───────────────────────────────────────────────────────────────────────────────────

const NUDGED_MS = 1_000;
const FRESH_MS = 10 * 60_000;
const TURBO_MS = 2_000;
const EACH_FRESH_MS = 5_000;
const SELDOM_MS = 60_000;
/** Where nobody says how old it is. */
const AGELESS_MS = 15_000;
/** All are followed, and nothing is open: something may be requested elsewhere. */
const IDLE_MS = 30_000;

/** As the most urgent of these wants it. */
function intervalOf(open: readonly Payout[], now: Date): number {
  return Math.min(...(open.length === 0 ? [IDLE_MS] : open.map((payout) => patienceWith(payout, now))));
}

/** No webhook reports that a turbo payout has left. With age it grows, in ten minutes to 10 s and in an hour to 60 s. */
function patienceWith({ method, requestedAt }: Payout, now: Date): number {
  if (!requestedAt) return AGELESS_MS;
  const ageMs = now.getTime() - requestedAt.getTime();
  if (ageMs < FRESH_MS) return method === 'pix_turbo' || method === 'unknown' ? TURBO_MS : EACH_FRESH_MS;
  return Math.min(SELDOM_MS, ageMs / 60);
}

// ── Filters and errors ──────────────────────────────────────────────────────────────────────────

function rankedFilter({
  status,
  method,
  requestedAfter,
  requestedBefore,
}: PayoutFilter): StableFilter<Payout> {
  if (!status && !method && !requestedAfter && !requestedBefore) return {};
  const isOneOf = (values: readonly string[] | undefined, value: string) => !values || values.includes(value);
  return {
    wants: (payout) =>
      isOneOf(status, payout.status) &&
      isOneOf(method, payout.method) &&
      (!requestedAfter || (payout.requestedAt !== null && payout.requestedAt >= requestedAfter)) &&
      (!requestedBefore || (payout.requestedAt !== null && payout.requestedAt < requestedBefore)),
    // Two that come at once may stand in either order.
    isBeyond: ({ requestedAt }) =>
      requestedAfter !== undefined && requestedAt !== null && requestedAt < plusMs(requestedAfter, -SKEW_MS),
  };
}

/** What is none, no service need be asked for. */
function canBeReference(text: string): boolean {
  return /^[\x21-\x7e]{1,128}$/.test(text) && !/^\.{1,2}$/.test(text);
}
