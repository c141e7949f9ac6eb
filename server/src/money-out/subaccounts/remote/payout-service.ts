import { isAhead, plusMs } from '../../../kernel/clock.ts';
import { behindChange, NotFoundError } from '../../../kernel/errors.ts';
import type { Requester } from '../../../kernel/requester.ts';
import type { Tenant } from '../../../kernel/tenant.ts';
import { readHead } from '../../../state/events/log.ts';
import {
  type RemoteSlice,
  requestOptionsFor,
  type UpstreamDependencies,
} from '../../../upstream/dependencies.ts';
import type { Endpoint, Endpoints } from '../../../upstream/endpoint-availability.ts';
import { createFamilyLists } from '../../../upstream/family-lists.ts';
import { APART_MS, createLookupPoll } from '../../../upstream/lookup-polls.ts';
import {
  isFromBefore,
  type MirroredRow,
  selectMirrored,
  selectMirroredWithHead,
} from '../../../upstream/mirror-store.ts';
import type { Poll } from '../../../upstream/poller.ts';
import type { Read, ReadOptions } from '../../../upstream/reads.ts';
import {
  cannotAsk,
  isInconclusive,
  isRetryable,
  isSuccess,
  keyUsed,
  unreadable,
  withUpstreamErrors,
} from '../../../upstream/responses.ts';
import type { RequestOptions } from '../../../upstream/upstream.ts';
import type { WebhookClaim } from '../../../upstream/webhook-claim.ts';
import {
  isSettled,
  type SubaccountPayout,
  type SubaccountPayoutService,
  type SubaccountService,
  subaccountPayoutFromJson,
} from '../model.ts';
import { assertPayoutsAvailable } from '../payout-rules.ts';
import { readSubaccountPayout, readSubaccountPayoutEvent } from '../wire.ts';
import type { Sender } from './commands.ts';
import {
  canBeReference,
  codeOnly,
  IDEM,
  isSameId,
  isSubaccountId,
  type ListedPayouts,
  mirrorPayouts,
  observationOf,
  payoutIn,
  RESOURCE,
  rangeOf,
} from './mirror.ts';
import { createPayoutRequests, GET_PAYOUT, payoutPath } from './payout-commands.ts';

/** The time for which an answer is served from the cache, to every caller. */
export const MAX_AGE_MS = 2_000;
/** The age from which a payout is read again before a query gets it; of several, only the first ten are. */
const OLD_AFTER_MS = 3_000;
const REFRESHED_AT_ONCE = 10;

/**
 * The longest interval between polls of a followed payout, which grows with its age. All payouts together
 * make one poll in three seconds at most, for which the budget's class `money_read` has room.
 */
const OLD_EVERY_MS = 60_000;
const POLLED_AT_ONCE = 3;
/** The longest interval while all payouts are followed. It costs a query of our own database. */
const IDLE_MS = 15_000;

/** A payout as it is looked up. `isShown`: a query shows it and decides nothing, so it may be written later. */
interface Lookup {
  subaccountId: string;
  reference: string;
  isShown?: boolean;
}

export type GetOptions = Pick<ReadOptions, 'requestOptions' | 'isOwnRequest'> & { maxAgeMs?: number };

/** Reads a path from the service; resolves with a success, or an answer whose status `isNone` accepts. */
export type Get = (
  tenant: Tenant,
  endpoint: Endpoint,
  path: `/v1/${string}`,
  options: GetOptions,
  isNone?: (status: number) => boolean,
) => Promise<Read>;

type PayoutReads = Pick<
  SubaccountService,
  | 'findPayout'
  | 'findPayoutByKey'
  | 'findPayoutWithVersion'
  | 'findPayouts'
  | 'payouts'
  | 'payoutsPage'
  | 'countPayouts'
  | 'payoutTotals'
>;

/** Creates the payouts of subaccounts over HTTP, which are mirrored here. */
export function createRemotePayouts(
  dependencies: UpstreamDependencies & {
    endpoints: Endpoints;
    sender: Sender;
    get: Get;
    /**
     * Reads a subaccount's balance, whose figures a refusal contains; null if the service does not show it.
     */
    readBalance: (tenant: Tenant, subaccountId: string) => Promise<number | null>;
  },
): RemoteSlice<PayoutReads & SubaccountPayoutService> {
  const { clock, get, records } = dependencies;
  const { sql } = dependencies.database;
  const mirror = mirrorPayouts(dependencies);
  const lists = createFamilyLists<SubaccountPayout, ListedPayouts>(sql, {
    resource: RESOURCE,
    fromJson: subaccountPayoutFromJson,
    rangeOf,
  });
  const requests = createPayoutRequests({
    ...dependencies,
    findMirrored: async (tenant, { key, summary }) => {
      const { subaccountId } = summary as { subaccountId: string };
      const known = await mirror.findOf(tenant, subaccountId, IDEM + key);
      return known && payoutIn(known);
    },
  });

  const isOfBefore = (row: MirroredRow) => isFromBefore(row, records.lastKnown());
  /** Whether the known state of a payout is its end, so that the service is not asked. */
  const isLast = (row: MirroredRow) => row.final && !isOfBefore(row);

  /**
   * Reads a payout from the service and records it; null if the service says that there is none. `isShown`: as
   * `MirroredPayouts.record`.
   */
  async function fetchPayout(
    tenant: Tenant,
    { subaccountId, reference, isShown = false }: Lookup,
    options: GetOptions,
  ): Promise<{ payout: SubaccountPayout | null; read: Read }> {
    const path = payoutPath(subaccountId, reference);
    // 400 means that the service does not know this form of reference.
    const read = await get(tenant, GET_PAYOUT, path, options, (status) => status === 404 || status === 400);
    if (!isSuccess(read)) {
      // A stale answer is no proof: the payout may have been made since.
      if (read.stale) throw cannotAsk();
      return { payout: null, read };
    }
    const shown = readSubaccountPayout(read.body);
    if (!shown || !isSameId(shown.subaccountId, subaccountId)) throw unreadable();
    return { payout: await mirror.record(tenant, shown, { reference, at: read.at, isShown }), read };
  }

  /** Reads a known payout again; false if the service did not answer and an older answer was returned. */
  async function refreshOne(
    tenant: Tenant,
    known: MirroredRow,
    { isShown = false, ...options }: GetOptions & Pick<Lookup, 'isShown'>,
  ): Promise<boolean> {
    const payout = payoutIn(known);
    const reference = [payout.withdrawalId, payout.code, payout.payoutId].find(
      (name) => name !== null && canBeReference(name),
    );
    if (reference == null) return true;
    const lookup = { subaccountId: payout.subaccountId, reference, isShown };
    const { read } = await fetchPayout(tenant, lookup, { maxAgeMs: 0, ...options });
    return !read.stale;
  }

  // ── The port ──

  function serviceFor(requester: Requester): PayoutReads & SubaccountPayoutService {
    const requestOptions = requestOptionsFor(requester);

    /**
     * Finds a payout as the service shows it, or its last known state if the service gives no conclusive
     * answer. `isFollowed`: an end from before a restore does not suffice, because a stream would complete
     * with it.
     */
    async function findPayout(
      tenant: Tenant,
      subaccountId: string,
      reference: string,
      { isFollowed = false }: { isFollowed?: boolean } = {},
    ): Promise<SubaccountPayout | null> {
      // A test key has no payouts (the document's 4.1.3).
      if (tenant.environment === 'sandbox') return null;
      if (!isSubaccountId(subaccountId) || !canBeReference(reference)) return null;
      const known = await mirror.findOf(tenant, subaccountId, reference);
      const last = known && payoutIn(known);
      if (last && isSettled(last) && !last.neverMade && !isOfBefore(known!)) return last;
      const isNeeded = isFollowed && known?.final === true;
      try {
        const { payout, read } = await withUpstreamErrors(
          fetchPayout(tenant, { subaccountId, reference, isShown: true }, { requestOptions }),
        );
        if (isNeeded && read.stale) throw cannotAsk();
        requester.onRead(known && read.stale ? known.observedAt : read.at, read.stale);
        if (payout) return payout;
        // The service may not know the payout because its request is still under way, or has arrived since.
        const doubt = await findInDoubt(tenant, subaccountId, reference);
        const late = await mirror.findOf(tenant, subaccountId, reference);
        if (late) return payoutIn(late);
        if (!doubt) await requests.assertNotMissing(tenant, reference);
        return doubt;
      } catch (error) {
        if (!isInconclusive(error) || (isNeeded && isRetryable(error))) throw error;
        if (known) {
          requester.onRead(known.observedAt, true);
          return last;
        }
        const doubt = await findInDoubt(tenant, subaccountId, reference);
        if (!doubt) throw error;
        requester.onRead(doubt.createdAt, true);
        return doubt;
      }
    }

    /** Finds a payout in doubt; null if there is none. */
    async function findInDoubt(
      tenant: Tenant,
      subaccountId: string,
      reference: string,
    ): Promise<SubaccountPayout | null> {
      const isRequested = (payout: SubaccountPayout) =>
        payout.payoutId === reference && isSameId(payout.subaccountId, subaccountId);
      return (await requests.inDoubt(tenant)).find(isRequested) ?? null;
    }

    return {
      findPayout,

      async findPayoutByKey(tenant, idempotencyKey) {
        const reference = IDEM + idempotencyKey;
        const subaccountId = await requests.subaccountOfKey(tenant, idempotencyKey);
        return subaccountId === null ? null : findPayout(tenant, subaccountId, reference);
      },

      async findPayoutWithVersion(tenant, subaccountId, reference) {
        // The version is read first, so that no later change is missed.
        const head = await readHead(sql, tenant);
        const known = await mirror.findOf(tenant, subaccountId, reference);
        const isCurrent = known !== null && !isOfBefore(known);
        const asked = () => findPayout(tenant, subaccountId, reference, { isFollowed: true });
        const id = isCurrent ? known.id : (await asked())?.id;
        const found = id === undefined ? null : await selectMirroredWithHead(sql, tenant, RESOURCE, id);
        if (found) return { version: found.head, id: found.observed.id, payout: payoutIn(found.observed) };
        const doubt = await findInDoubt(tenant, subaccountId, reference);
        if (doubt) return { version: head, id: doubt.id, payout: doubt };
        // The payout may have become known meanwhile, and its intent have ended.
        const late = await mirror.findOf(tenant, subaccountId, reference);
        return late && { version: head, id: late.id, payout: payoutIn(late) };
      },

      async findPayouts(tenant, ids) {
        const select = () => selectMirrored(sql, tenant, RESOURCE, [...new Set(ids)]);
        const known = await select();
        const now = clock.now();
        const oldBefore = plusMs(now, -OLD_AFTER_MS);
        const due = known
          .filter((row) => !isLast(row) && (row.observedAt < oldBefore || isAhead(row.observedAt, now)))
          .slice(0, REFRESHED_AT_ONCE);
        const refreshes = await Promise.allSettled(
          due.map((row) => refreshOne(tenant, row, { requestOptions, maxAgeMs: MAX_AGE_MS, isShown: true })),
        );
        const current = due.length === 0 ? known : await select();
        const hasFailed = refreshes.some(({ status }) => status === 'rejected');
        for (const row of current)
          if (!isLast(row)) requester.onRead(row.observedAt, hasFailed && row.observedAt < oldBefore);
        const found = new Map(current.map((row) => [row.id, payoutIn(row)]));
        if (ids.some((id) => !found.has(id)))
          for (const payout of await requests.inDoubt(tenant))
            if (!found.has(payout.id)) found.set(payout.id, payout);
        // A payout may have become known meanwhile, and its intent have ended.
        if (ids.some((id) => !found.has(id)))
          for (const late of await select()) if (!found.has(late.id)) found.set(late.id, payoutIn(late));
        // The searched ids are this server's own: the service does not know them.
        if (ids.some((id) => !found.has(id))) await dependencies.intents.assertNotMissing();
        return ids.map((id) => found.get(id) ?? null);
      },

      // The document has no list of payouts, so these are the payouts that were requested here, announced by
      // webhooks, or looked up.
      async payouts(tenant, subaccountId, range) {
        if (!isSubaccountId(subaccountId)) return { items: [], more: false };
        const { items, more } = await lists.list(tenant, { ...range, subaccountId });
        return { items: items.map(({ position, resource }) => ({ position, item: resource })), more };
      },
      payoutsPage: async (tenant, subaccountId, window) =>
        isSubaccountId(subaccountId)
          ? lists.listPage(tenant, { ...window, subaccountId })
          : { items: [], total: 0 },
      countPayouts: async (tenant, subaccountId, filter) =>
        isSubaccountId(subaccountId) ? lists.count(tenant, { ...filter, subaccountId }) : 0,
      payoutTotals: lists.totals,

      async requestPayout(tenant, input) {
        assertPayoutsAvailable(tenant.environment);
        if (!isSubaccountId(input.subaccountId)) throw new NotFoundError('Subaccount not found');
        const { id, held, doubt, replayed } = await requests.requestPayout(tenant, input);
        const payout =
          doubt ??
          (await mirror.get(tenant, id).catch((error: unknown) => {
            throw behindChange(error);
          }));
        // The service has a payout with another amount, which another system has requested with this key.
        if (payout.amountCents !== input.amountCents) throw keyUsed(null);
        return { payout, underVerification: held && payout.status === 'processing', replayed };
      },

      async recheck(tenant, reference) {
        const known = await mirror.find(tenant, reference);
        if (!known) throw new NotFoundError('Payout not found');
        await withUpstreamErrors(refreshOne(tenant, known, { requestOptions }));
      },
    };
  }

  // ── Following ──

  const pollOne = createLookupPoll(dependencies, {
    resource: RESOURCE,
    // A payout may be recorded under two ids.
    keyOf: (row) => payoutIn(row).id,
    intervalOf: (row, now, count) => Math.max(intervalOf(row, now), count * APART_MS),
    canBeCorrected: (row) => row.final && !payoutIn(row).neverMade,
    lookUp: async (tenant, row) =>
      (await refreshOne(tenant, row, { requestOptions: { priority: 'money_read' } })) ? 'shown' : 'stale',
    perPoll: POLLED_AT_ONCE,
    idleMs: IDLE_MS,
  });

  const poll: Poll = async (tenant, targets) => {
    const at = await pollOne(tenant, targets);
    // A follower may wait for a payout with an unknown outcome.
    if (targets.all || !(await requests.hasDoubts(tenant))) return at;
    const soon = plusMs(clock.now(), APART_MS);
    return at && at < soon ? at : soon;
  };

  async function refresh(
    tenant: Tenant,
    references: readonly string[],
    requestOptions: RequestOptions,
  ): Promise<void> {
    const options = { requestOptions, maxAgeMs: 0, isOwnRequest: true };
    for (const reference of references) {
      const [subaccountId, name] = reference.split('/') as [string, string | undefined];
      if (name !== undefined) {
        if (!canBeReference(name)) continue;
        const { read } = await fetchPayout(tenant, { subaccountId, reference: name }, options);
        if (read.stale) throw cannotAsk();
        continue;
      }
      const known = await mirror.find(tenant, reference);
      if (known && !(await refreshOne(tenant, known, options))) throw cannotAsk();
    }
  }

  function readWebhook(payload: unknown): WebhookClaim | null {
    const event = readSubaccountPayoutEvent(payload);
    if (!event) return null;
    if ('code' in event) {
      const { code, subaccountId } = event;
      const reference = subaccountId === null ? code : `${subaccountId}/${code}`;
      return { resource: RESOURCE, reference, observation: codeOnly(code), isNameOnly: true };
    }
    const { payout: shown } = event;
    const name = shown.withdrawalId ?? shown.code ?? shown.payoutId;
    // An event without a name of its payout belongs to no known payout.
    if (name === null) return null;
    return {
      resource: RESOURCE,
      reference: `${shown.subaccountId}/${name}`,
      observation: observationOf(shown, { reference: null, at: null }),
    };
  }

  return { serviceFor, poll, refresh, readWebhook, requests: requests.kinds };
}

/** The interval between polls of a payout, in milliseconds: a tenth of its age, from 3 s to 60 s. */
function intervalOf(known: MirroredRow, now: Date): number {
  const age = now.getTime() - payoutIn(known).createdAt.getTime();
  return Math.min(Math.max(age / 10, APART_MS), OLD_EVERY_MS);
}
