import type { State, Writes } from '../commit/commit.ts';
import type { Asker } from '../kernel/asker.ts';
import { plusMs } from '../kernel/clock.ts';
import {
  IdempotencyError,
  InsufficientFundsError,
  type PaymentError,
  RateLimitError,
  type UpstreamError,
  ValidationError,
} from '../kernel/errors.ts';
import { reaisFromCents } from '../kernel/money.ts';
import { createSharedReads } from '../kernel/shared-reads.ts';
import { type Tenant, tenantKey } from '../kernel/tenant.ts';
import {
  hasNoEndpoint,
  isNotImplemented,
  isSuccess,
  messageOf,
  noEndpoint,
  refusalOf,
} from '../upstream/answers.ts';
import { createEndpoints } from '../upstream/endpoints.ts';
import { errandOf, type Facade } from '../upstream/facade.ts';
import { type Intent, type Look, unavailable } from '../upstream/intents.ts';
import { type Observation, observed, writesOfObserved } from '../upstream/mirror.ts';
import {
  claimPoll,
  listObserved,
  type Observed,
  selectKnownUpTo,
  selectObserved,
  selectObservedWithHead,
  selectOpen,
  selectReferences,
  touchObserved,
} from '../upstream/mirror-store.ts';
import {
  createRankedList,
  LARGEST_PAGE,
  type RankedFilter,
  type RankedPage,
  tooMuch,
} from '../upstream/ranked.ts';
import type { Sighting } from '../upstream/sighting.ts';
import { type Errand, type UpstreamAnswer, UpstreamFault } from '../upstream/upstream.ts';
import type { Poller } from '../upstream/watch.ts';
import type { Wallet } from '../wallet/model.ts';
import {
  canBeSame,
  isFinal,
  maskDestination,
  mergeClaim,
  type PayoutClaim,
  type PayoutFilter,
  type PayoutMethod,
  type PayoutService,
  payoutFromJson,
  type RequestPayoutInput,
  type ShownPayout,
} from './model.ts';
import { readPayout, readPayoutEvent, readPayoutList } from './wire.ts';

export interface RemotePayouts {
  serviceFor(asker: Asker): PayoutService;
  poll: Poller;
  refresh(tenant: Tenant, ids: readonly string[], errand: Errand): Promise<void>;
  /** What a webhook says, where it speaks of a payout. */
  sighting(payload: unknown): Sighting | null;
  looks: Readonly<Record<string, Look>>;
}

const REQUEST = 'requestPayout';
const LIST = '/v1/payouts';

/** A query within so long after another of the same page is answered from memory. */
const KEPT_MS = 2_000;
/** Pages and single payouts that one search may cost. */
const SEARCH = { pages: 5, singles: 5 };
/** How often what lies behind the newest page is searched while it is followed. */
const BEHIND_MS = 60_000;
/** By how much the service's clock may lie behind ours. */
const SKEW_MS = 60_000;

/** On whose behalf the service is asked. Without an asker, only what it says now counts. */
interface Where {
  tenant: Tenant;
  errand: Errand;
  keepMs: number;
  asker: Asker | null;
}

interface Page extends RankedPage<ShownPayout> {
  stale: boolean;
}

/** What an intent is recognised by: the document gives this request no key. */
interface Summary {
  method: PayoutMethod;
  amountCents: number;
  /** A PIX key masked, an address whole. */
  destination: string;
  /** The place in the mirror of the newest payout that was known before. */
  knownUpTo: number;
}

/** Payouts of the main account over HTTP. All that is seen of them, by whatever way, is kept in the mirror. */
export function createRemotePayouts({
  database,
  committer,
  clock,
  upstream,
  reads,
  intents,
  nudge,
  readWallet,
}: Facade & {
  /** For the figures of a refusal. */
  readWallet: (tenant: Tenant) => Promise<Wallet>;
}): RemotePayouts {
  /** By what was read, which is shared: it is taken over once. */
  const takenOver = new WeakMap<object, Promise<(ShownPayout | null)[]>>();
  /** Of an environment, whether payouts can be requested at all. */
  const endpoints = createEndpoints(clock);

  /** However many webhooks come at once, one reading is under way, and one more for those that came meanwhile. */
  const refreshed = createSharedReads<Page>();

  const ranked = createRankedList<Where, ShownPayout>({
    keyOf: ({ tenant }) => tenantKey(tenant),
    idOf: ({ withdrawalId }) => withdrawalId,
    fetchPage: readPage,
    isKept: ({ status }) => isFinal(status),
  });

  // ── What is read ──────────────────────────────────────────────────────────────────────────────

  /** @throws RateLimitError, UpstreamFault, and a PaymentError for a refusal */
  async function readPage(
    { tenant, errand, keepMs, asker }: Where,
    { limit, offset }: { limit: number; offset: number },
  ): Promise<Page> {
    const read = await reads
      .get(tenant.environment, `${LIST}?limit=${limit}&offset=${offset}`, { errand, keepMs })
      .catch((error: unknown) => {
        throw isNotImplemented(error) ? noEndpoint('payouts') : error;
      });
    const { at, stale } = read;
    if (hasNoEndpoint(read)) throw noEndpoint('payouts');
    if (!isSuccess(read)) throw refusalOf(read);
    // Nobody was asked, or nobody answered.
    if (stale && asker === null) throw new UpstreamFault('unreachable', 'no');
    const list = readPayoutList(read.body);
    if (!list) throw new UpstreamFault('unreadable', 'maybe');
    const body = read.body as object;
    const before = takenOver.get(body);
    const taking = before ?? takeOver(tenant, list.items, at);
    takenOver.set(body, taking);
    taking.catch(() => takenOver.delete(body));
    // Of what comes from memory a webhook may have told more since.
    const items = before ? await asKnown(tenant, await before) : await taking;
    asker?.saw(at, stale);
    return { items, total: list.total, at, stale };
  }

  /** All of a page in one transaction, or in none where nothing is new; each as it is known then. */
  async function takeOver(
    tenant: Tenant,
    claims: readonly (PayoutClaim | null)[],
    at: Date,
  ): Promise<(ShownPayout | null)[]> {
    const ids = [...new Set(claims.flatMap((claim) => claim?.withdrawalId ?? []))];
    const known = new Map(
      (await selectObserved(database.sql, tenant, 'payout', ids)).map((each) => [each.id, each]),
    );
    let taken = takeAll(claims, (id) => known.get(id) ?? null, at);
    if (taken.writes.length > 0)
      taken = await committer.change({
        tenant,
        read: (reader) => Promise.all(ids.map((id) => reader.load(observed.payout, id))),
        decide(state) {
          const outcome = takeAll(claims, (id) => state.get(observed.payout, id), at);
          return {
            outcome,
            writes: {
              records: outcome.writes.flatMap(({ records = [] }) => records),
              events: outcome.writes.flatMap(({ events = [] }) => events),
            },
          };
        },
      });
    await touchObserved(database.sql, tenant, 'payout', { ids, at });
    return taken.payouts;
  }

  /** Each as it is known now. */
  async function asKnown(
    tenant: Tenant,
    payouts: readonly (ShownPayout | null)[],
  ): Promise<(ShownPayout | null)[]> {
    const ids = payouts.flatMap((payout) => payout?.withdrawalId ?? []);
    const known = new Map(
      (await selectObserved(database.sql, tenant, 'payout', ids)).map((each) => [each.id, each]),
    );
    return payouts.map((payout) => {
      const record = payout && known.get(payout.withdrawalId);
      return record ? payoutIn(record) : payout;
    });
  }

  /** By withdrawal id or code, from the mirror. */
  async function mirrored(tenant: Tenant, names: readonly string[]): Promise<Map<string, Observed>> {
    const byName = await selectReferences(database.sql, tenant, 'payout', names);
    const ids = new Set(byName.map(({ id }) => id));
    const known = await selectObserved(database.sql, tenant, 'payout', [...ids]);
    return new Map(
      byName.flatMap(({ reference, id }) => {
        const found = known.find((each) => each.id === id);
        return found ? [[reference, found] as const] : [];
      }),
    );
  }

  /** By any name, and whether what was not found is certainly not there. @throws as `readPage` */
  async function searchFor(
    where: Where,
    names: readonly string[],
  ): Promise<{ found: Map<string, ShownPayout>; complete: boolean }> {
    const found = new Map<string, ShownPayout>();
    const add = (payout: ShownPayout) => found.set(payout.withdrawalId, payout).set(payout.code, payout);
    const isWanted = new Set(names);
    const { items, complete } = await ranked.find(where, {
      wants: ({ withdrawalId, code }) => isWanted.has(withdrawalId) || isWanted.has(code),
      limit: isWanted.size,
      pages: SEARCH.pages,
    });
    items.forEach(add);
    if (complete) return { found, complete };
    for (const name of names.filter((each) => !found.has(each)).slice(0, SEARCH.singles)) {
      const payout = await readOne(where, name);
      if (payout) add(payout);
    }
    return { found, complete: names.every((name) => found.has(name)) };
  }

  /** Not in the document: where it is not there, that says nothing. */
  async function readOne(
    { tenant, errand, keepMs, asker }: Where,
    name: string,
  ): Promise<ShownPayout | null> {
    const path = `${LIST}/${encodeURIComponent(name)}` as const;
    const read = await reads.get(tenant.environment, path, { errand, keepMs }).catch((error: unknown) => {
      if (isNotImplemented(error)) return null;
      throw error;
    });
    const claim = read && isSuccess(read) ? readPayout(read.body) : null;
    if (!read || !claim || (claim.withdrawalId !== name && claim.code !== name)) return null;
    asker?.saw(read.at, read.stale);
    return (await takeOver(tenant, [claim], read.at))[0] ?? null;
  }

  async function findMany(
    tenant: Tenant,
    references: readonly string[],
    asker: Asker,
  ): Promise<(ShownPayout | null)[]> {
    const names = [...new Set(references.filter(canBeReference))];
    const known = await mirrored(tenant, names);
    const open = names.filter((name) => !isConfirmed(known.get(name)));
    let found = new Map<string, ShownPayout>();
    if (open.length > 0)
      try {
        const searched = await searchFor(whereOf(tenant, asker), open);
        found = searched.found;
        if (!searched.complete && open.some((name) => !known.has(name) && !found.has(name)))
          throw tooMuch(SEARCH.pages);
      } catch (error) {
        // Of one that was never seen nothing is known; the others are as they were seen last.
        if (!isTemporary(error) || open.some((name) => !known.has(name))) throw error;
      }
    return references.map((reference) => {
      const before = known.get(reference);
      const payout = found.get(reference);
      if (payout || !before) return payout ?? null;
      if (!before.final) asker.saw(before.observedAt, true);
      return payoutIn(before);
    });
  }

  /** What is kept of it is polled for as long as it is followed. */
  async function withVersion(
    tenant: Tenant,
    withdrawalId: string,
  ): Promise<{ version: number; payout: ShownPayout } | null> {
    const known = await selectObservedWithHead(database.sql, tenant, 'payout', withdrawalId);
    return known && { version: known.head, payout: payoutIn(known.observed) };
  }

  // ── Requests ──────────────────────────────────────────────────────────────────────────────────

  async function request(
    tenant: Tenant,
    { idempotencyKey, ...input }: RequestPayoutInput,
  ): Promise<{ payout: ShownPayout; replayed: boolean }> {
    const [newest] = await listObserved(database.sql, tenant, 'payout', { before: null, limit: 1 });
    const summary: Summary = {
      method: input.method,
      amountCents: input.amountCents,
      destination: maskDestination(input, { masksCrypto: false }),
      knownUpTo: newest?.place ?? 0,
    };
    try {
      const { resourceId, replayed } = await intents.run(tenant, {
        name: REQUEST,
        input,
        key: idempotencyKey ?? null,
        summary: () => summary,
        send: () => send(tenant, input, idempotencyKey ?? null, summary),
        lookupReference: () => null,
      });
      return { payout: (await withVersion(tenant, resourceId))!.payout, replayed };
    } finally {
      nudge(tenant, 'payout');
      nudge(tenant, 'wallet');
    }
  }

  async function send(
    tenant: Tenant,
    { method, amountCents, destination }: Omit<RequestPayoutInput, 'idempotencyKey'>,
    idempotencyKey: string | null,
    summary: Summary,
  ): Promise<Observation> {
    if (endpoints.isMissing(tenant.environment)) throw noEndpoint('payouts');
    const at = clock.now();
    const answer = await upstream
      .send({
        environment: tenant.environment,
        method: 'POST',
        path: LIST,
        body: {
          amount: reaisFromCents(amountCents),
          method,
          walletAddress: destination,
          ...(idempotencyKey !== null && { idempotencyKey }),
        },
        errand: { class: 'money' },
      })
      .catch((error: unknown) => {
        throw isNotImplemented(error) ? cannotRequest(tenant) : error;
      })
      .finally(() => reads.forget(tenant.environment));
    if (isSuccess(answer)) {
      const told = readPayout(answer.body);
      // It has done it, and its list tells what it has made.
      if (!told) throw new UpstreamFault('unreadable', 'maybe');
      return observationOf({ ...ofIntent(told, summary), status: told.status ?? 'pending' }, at);
    }
    // A redirect is not followed, and what it means for the money nobody knows.
    if (answer.status < 400) throw new UpstreamFault('unreadable', 'maybe', String(answer.status));
    if (hasNoEndpoint(answer)) throw cannotRequest(tenant);
    if (answer.status === 409 && idempotencyKey !== null)
      throw new IdempotencyError(
        messageOf(answer.body) ?? 'This idempotency key was used before with another input',
      );
    if (answer.status === 400 || answer.status === 422)
      throw await invalid(tenant, { method, amountCents }, answer);
    throw refusalOf(answer);
  }

  function cannotRequest(tenant: Tenant): UpstreamError {
    endpoints.markMissing(tenant.environment);
    return noEndpoint('payouts');
  }

  /** Status codes tell too little, and the text may change: what is missing is told by the wallet. */
  async function invalid(
    tenant: Tenant,
    { method, amountCents }: Pick<RequestPayoutInput, 'method' | 'amountCents'>,
    answer: UpstreamAnswer,
  ): Promise<PaymentError> {
    const said = messageOf(answer.body) ?? 'The payments service refuses this payout';
    const wallet = await readWallet(tenant).catch(() => null);
    // Of an LTC payout nobody but the service knows the quote; its address and its amount are checked before.
    const isTooMuch = wallet !== null && (method === 'ltc' || amountCents > wallet.withdrawableCents);
    if (!isTooMuch) return new ValidationError([{ path: 'input', message: said }]);
    return new InsufficientFundsError(said, {
      requestedCents: amountCents,
      withdrawableCents: wallet.withdrawableCents,
      balanceCents: wallet.balanceCents,
      disputeBlockedCents: wallet.disputeBlockedCents,
      subaccountsBalanceCents: wallet.subaccountsBalanceCents,
      cryptoBalanceLitoshi: method === 'ltc' ? wallet.cryptoBalanceLitoshi : null,
    });
  }

  /**
   * The payout of an intent whose outcome is not known is the one of its method, amount and destination that was not
   * known before, was not requested before, and that no other intent has made. Of several equal ones each gets its own.
   */
  const look: Look = async (tenant, intent) => {
    const summary = intent.summary as Summary;
    const at = clock.now();
    const answer = await upstream.get({
      environment: tenant.environment,
      path: `${LIST}?limit=${LARGEST_PAGE}&offset=0`,
      errand: { class: intent.looks === 0 ? 'money' : 'lookup' },
    });
    const list = isSuccess(answer) ? readPayoutList(answer.body) : null;
    if (!list) return 'unclear';
    const payouts = await takeOver(tenant, list.items, at);
    const ids = payouts.flatMap((payout) => payout?.withdrawalId ?? []);
    const before = await selectKnownUpTo(database.sql, tenant, 'payout', { ids, place: summary.knownUpTo });
    // First who waits, then what was found: one that ends in between is counted twice, and not its payout.
    const open = await intents.open(tenant, REQUEST);
    const claimed = await intents.claimed(tenant, REQUEST, ids);

    // The newest come first, so what stands in front of one that was known came after it.
    const firstKnown = payouts.findIndex((payout) => payout !== null && before.has(payout.withdrawalId));
    const since = plusMs(intent.createdAt, -SKEW_MS);
    const equal = list.items.flatMap((claim, index) => {
      const payout = payouts[index] ?? null;
      if (!claim || !payout || before.has(payout.withdrawalId) || claimed.has(payout.withdrawalId)) return [];
      const { requestedAt } = payout;
      const isAfter = requestedAt ? requestedAt >= since : firstKnown < 0 ? null : index < firstKnown;
      return isAfter !== false && isLike(payout, summary) ? [{ claim, isAfter }] : [];
    });
    // Nothing tells whether it was there before.
    if (equal.some(({ isAfter }) => isAfter === null)) return 'unclear';
    if (equal.length === 0) {
      const isOlder = (payout: ShownPayout | null) =>
        payout?.requestedAt != null && payout.requestedAt < since;
      const reachesBack = list.items.length >= list.total || firstKnown >= 0 || payouts.some(isOlder);
      return reachesBack && !payouts.includes(null) ? 'not_there' : 'unclear';
    }
    const others = open.filter(
      (each) => each.id !== intent.id && sameRequest(each.summary as Summary, summary),
    );
    // One that is on its way may have made one of these; and of fewer than there are waiting nobody knows whose they are.
    if (equal.length <= others.length || others.some(({ state }) => state === 'sending')) return 'unclear';
    const { claim } = equal.reverse()[[...others, intent].sort(inOrder).indexOf(intent)]!;
    nudge(tenant, 'wallet');
    return { found: observationOf(ofIntent(claim, summary), at), claims: claim.withdrawalId };
  };

  const whereOf = (tenant: Tenant, asker: Asker): Where => ({
    tenant,
    errand: errandOf(asker),
    keepMs: KEPT_MS,
    asker,
  });
  const now = (tenant: Tenant, errand: Errand): Where => ({ tenant, errand, keepMs: 0, asker: null });

  return {
    serviceFor: (asker) => ({
      request: (tenant, input) => request(tenant, input),
      find: async (tenant, reference) => (await answered(findMany(tenant, [reference], asker)))[0] ?? null,
      findMany: (tenant, references) => answered(findMany(tenant, references, asker)),
      async findWithVersion(tenant, withdrawalId) {
        const known = await withVersion(tenant, withdrawalId);
        if (known) return known;
        await answered(findMany(tenant, [withdrawalId], asker));
        return withVersion(tenant, withdrawalId);
      },
      async list(tenant, { end, limit, after, before, ...filter }) {
        const range = { end, limit, after, before, ...rankedFilter(filter) };
        const { items, more } = await answered(ranked.list(whereOf(tenant, asker), range));
        return { items: items.map(({ place, item }) => ({ place, payout: item })), more };
      },
      async listPage(tenant, page) {
        const { items, total } = await answered(readPage(whereOf(tenant, asker), page));
        return { items: items.filter((item) => item !== null), total };
      },
      count: (tenant, filter) => answered(ranked.count(whereOf(tenant, asker), rankedFilter(filter))),
      async recheck(tenant, withdrawalId) {
        const { found } = await answered(searchFor(now(tenant, errandOf(asker)), [withdrawalId]));
        const payout = found.get(withdrawalId);
        return payout !== undefined && !isFinal(payout.status);
      },
    }),

    async poll(tenant, { all, ids, nudged }) {
      const followed = all ? 'all' : ids;
      const at = clock.now();
      const open = await selectOpen(database.sql, tenant, 'payout', followed);
      if (!all && open.length === 0) return null;
      const intervalMs = intervalOf(open.map(payoutIn), at);
      const claim = { name: 'payout', now: at, intervalMs: nudged ? NUDGED_MS : intervalMs };
      if (!(await claimPoll(database.sql, tenant, claim))) return plusMs(at, intervalMs);

      const where = now(tenant, { class: 'poll' });
      const { items } = await readPage(where, { limit: LARGEST_PAGE, offset: 0 });
      const seen = new Set(items.map((payout) => payout?.withdrawalId));
      const behind = open.map(({ id }) => id).filter((id) => !seen.has(id));
      const searches = { name: 'payout behind', now: at, intervalMs: BEHIND_MS };
      if (behind.length > 0 && (await claimPoll(database.sql, tenant, searches)))
        await searchFor(where, behind);

      const still = await selectOpen(database.sql, tenant, 'payout', followed);
      return !all && still.length === 0 ? null : plusMs(at, intervalOf(still.map(payoutIn), at));
    },

    async refresh(tenant, ids, errand) {
      const { items } = await refreshed(tenantKey(tenant), () => {
        // There is news: what was read before, or is being read, may not have it.
        reads.forget(tenant.environment);
        return readPage(now(tenant, errand), { limit: LARGEST_PAGE, offset: 0 });
      });
      const seen = new Set(items.flatMap((payout) => (payout ? [payout.withdrawalId, payout.code] : [])));
      const behind = ids.filter((id) => !seen.has(id));
      if (behind.length > 0) await searchFor({ ...now(tenant, errand), keepMs: KEPT_MS }, behind);
    },

    sighting(payload) {
      const claim = readPayoutEvent(payload);
      if (!claim) return null;
      return { resource: 'payout', reference: claim.withdrawalId, observation: observationOf(claim, null) };
    },

    looks: { [REQUEST]: look },
  };
}

// ── From what is said to what is known ──────────────────────────────────────────────────────────

/** `at`: when the service said so; null where nobody knows, for a webhook may be late. */
function observationOf(claim: PayoutClaim, at: Date | null): Observation {
  const { withdrawalId } = claim;
  return {
    read: (reader) => reader.load(observed.payout, withdrawalId),
    decide(state: State) {
      const known = state.get(observed.payout, withdrawalId);
      const said = known?.observedAt ?? claim.processedAt ?? claim.requestedAt ?? state.now;
      const taken = take(known, claim, at ?? new Date(Math.min(said.getTime(), state.now.getTime())));
      return { resourceId: withdrawalId, writes: taken?.writes ?? {} };
    },
  };
}

/** Null where nothing is new. */
function take(
  known: Observed | null,
  claim: PayoutClaim,
  at: Date,
): { record: Observed; writes: Writes } | null {
  const before = known && payoutIn(known);
  const payout = mergeClaim(before, claim);
  if (!payout) return null;
  const { withdrawalId, code, version, status } = payout;
  const record: Observed = {
    resource: 'payout',
    id: withdrawalId,
    version,
    status,
    final: isFinal(status),
    parent: null,
    snapshot: payout,
    observedAt: known && known.observedAt > at ? known.observedAt : at,
  };
  const writes = writesOfObserved({
    ...record,
    names: [withdrawalId, code],
    // A webhook tells less than the list does: what comes to be known besides is no change of the payout.
    event:
      before?.status === status
        ? null
        : {
            kind: `payout.${status}`,
            resource: 'payout',
            resourceId: withdrawalId,
            previousStatus: before?.status ?? null,
            snapshot: payout,
          },
  });
  return { record, writes };
}

/** One after the other: a page may name one twice. */
function takeAll(
  claims: readonly (PayoutClaim | null)[],
  knownAs: (id: string) => Observed | null,
  at: Date,
): { payouts: (ShownPayout | null)[]; writes: Writes[] } {
  const current = new Map<string, Observed>();
  const writes: Writes[] = [];
  for (const claim of claims) {
    if (!claim) continue;
    const known = current.get(claim.withdrawalId) ?? knownAs(claim.withdrawalId);
    const taken = take(known, claim, at);
    if (taken) writes.push(taken.writes);
    const record = taken?.record ?? known;
    if (record) current.set(claim.withdrawalId, record);
  }
  const payouts = claims.map((claim) => {
    const record = claim && current.get(claim.withdrawalId);
    return record ? payoutIn(record) : null;
  });
  return { payouts, writes };
}

function payoutIn({ snapshot }: Observed): ShownPayout {
  return payoutFromJson(snapshot);
}

/** The service itself has told its end since it came; a webhook tells less of it. */
function isConfirmed(known: Observed | undefined): boolean {
  if (!known?.final) return false;
  const { processedAt } = payoutIn(known);
  return processedAt === null || known.observedAt > processedAt;
}

/** What the service does not say of a payout that was asked for here. Of an address it may say less than we know. */
function ofIntent(told: PayoutClaim, { method, amountCents, destination }: Summary): PayoutClaim {
  const isAddress = method === 'ltc' || method === 'usd';
  return {
    ...told,
    method: told.method ?? method,
    amountCents: told.amountCents ?? amountCents,
    destination: isAddress ? destination : (told.destination ?? destination),
  };
}

function isLike(payout: ShownPayout, { method, amountCents, destination }: Summary): boolean {
  return (
    payout.amountCents === amountCents &&
    (payout.method === method || payout.method === 'unknown') &&
    canBeSame(payout, { method, destination })
  );
}

function sameRequest(left: Summary, right: Summary): boolean {
  return (
    left.method === right.method &&
    left.amountCents === right.amountCents &&
    left.destination === right.destination
  );
}

function inOrder(left: Intent, right: Intent): number {
  return left.createdAt.getTime() - right.createdAt.getTime() || (left.id < right.id ? -1 : 1);
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
function intervalOf(open: readonly ShownPayout[], now: Date): number {
  return Math.min(...(open.length === 0 ? [IDLE_MS] : open.map((payout) => patienceWith(payout, now))));
}

/** No webhook reports that a turbo payout has left. With age it grows, in ten minutes to 10 s and in an hour to 60 s. */
function patienceWith({ method, requestedAt }: ShownPayout, now: Date): number {
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
}: PayoutFilter): RankedFilter<ShownPayout> {
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
  return /^[\x21-\x7e]{1,128}$/.test(text);
}

function isTemporary(error: unknown): boolean {
  return error instanceof RateLimitError || error instanceof UpstreamFault;
}

/** A read that got no answer is refused as such. */
function answered<Value>(reading: Promise<Value>): Promise<Value> {
  return reading.catch((error: unknown) => {
    throw error instanceof UpstreamFault ? unavailable(error) : error;
  });
}
