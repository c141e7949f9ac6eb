import { readHead } from '../../events/log.ts';
import { plusMs } from '../../kernel/clock.ts';
import { behindChange, NotFoundError } from '../../kernel/errors.ts';
import type { Requester } from '../../kernel/requester.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import {
  type RemoteSlice,
  requestOptionsFor,
  type UpstreamDependencies,
} from '../../upstream/dependencies.ts';
import type { Endpoint, Endpoints } from '../../upstream/endpoint-availability.ts';
import {
  claimPoll,
  countMirrored,
  listMirrored,
  type MirroredRow,
  selectMirrored,
  selectMirroredWithHead,
  selectOpen,
} from '../../upstream/mirror-store.ts';
import type { Poll } from '../../upstream/poller.ts';
import type { Read } from '../../upstream/reads.ts';
import {
  cannotAsk,
  isInconclusive,
  isSuccess,
  keyUsed,
  unreadable,
  withUpstreamErrors,
} from '../../upstream/responses.ts';
import type { RequestOptions } from '../../upstream/upstream.ts';
import type { WebhookClaim } from '../../upstream/webhook-claim.ts';
import {
  isSettled,
  type SubaccountPayout,
  type SubaccountPayoutService,
  type SubaccountService,
} from '../model.ts';
import { assertPayoutsAvailable } from '../payout-rules.ts';
import { readSubaccountPayout, readSubaccountPayoutEvent } from '../wire.ts';
import type { Sender } from './commands.ts';
import {
  canBeReference,
  IDEM,
  isSame,
  isSubaccountId,
  mirrorPayouts,
  namedOnly,
  observationOf,
  ofOne,
  payoutIn,
  RESOURCE,
} from './mirror.ts';
import { createPayoutRequests, GET_PAYOUT, payoutPath } from './payout-commands.ts';

/** The time for which an answer is given again, to every caller. */
export const KEEP_MS = 2_000;
/** The age at which a payout is read again before it is shown; of many, the first few are. */
const OLD_AFTER_MS = 3_000;
const REFRESHED_AT_ONCE = 10;

// The pauses between polls of a followed payout: short soon after its request, longer later. All together make no more
// than one poll in three seconds, which the budget's class of polling has for them.
const POLL_EVERY_MS = { fresh: 3_000, old: 60_000 };
const POLLED_AT_ONCE = 3;
/** The pause where nothing is open: another instance may have begun something. It costs a query of our own database. */
const IDLE_MS = 15_000;

/** Reads from the service; gives a success, or an answer that `isNone` accepts. */
export type Get = (
  tenant: Tenant,
  endpoint: Endpoint,
  path: `/v1/${string}`,
  options: { requestOptions: RequestOptions; keepMs?: number },
  isNone?: (status: number) => boolean,
) => Promise<Read>;

type PayoutReads = Pick<
  SubaccountService,
  'findPayout' | 'findPayoutWithVersion' | 'findPayouts' | 'payouts' | 'payoutsPage' | 'countPayouts'
>;

/** Payouts of subaccounts over HTTP, which are mirrored here. */
export function createRemotePayouts(
  dependencies: UpstreamDependencies & {
    endpoints: Endpoints;
    sender: Sender;
    get: Get;
    /** Reads a subaccount's balance, for the figures of a refusal; null where it is not shown. */
    readBalance: (tenant: Tenant, subaccountId: string) => Promise<number | null>;
  },
): RemoteSlice<PayoutReads & SubaccountPayoutService> {
  const { clock, get } = dependencies;
  const { sql } = dependencies.database;
  const mirror = mirrorPayouts(dependencies);
  const requests = createPayoutRequests({
    ...dependencies,
    findShown: async (tenant, { key, summary }) => {
      const { subaccountId } = summary as { subaccountId: string };
      const known = await mirror.findOf(tenant, subaccountId, IDEM + key);
      return known && payoutIn(known);
    },
  });

  /** Reads a payout from the service and records it; null where the service says that there is none. */
  async function fetchPayout(
    tenant: Tenant,
    subaccountId: string,
    reference: string,
    options: { requestOptions: RequestOptions; keepMs?: number },
  ): Promise<{ payout: SubaccountPayout | null; read: Read }> {
    const path = payoutPath(subaccountId, reference);
    // 400 means that this service does not have the form of the reference.
    const read = await get(tenant, GET_PAYOUT, path, options, (status) => status === 404 || status === 400);
    if (!isSuccess(read)) {
      // A payout that was not there some time ago may be there now.
      if (read.stale) throw cannotAsk();
      return { payout: null, read };
    }
    const seen = readSubaccountPayout(read.body);
    if (!seen || !isSame(seen.subaccountId, subaccountId)) throw unreadable();
    return { payout: await mirror.record(tenant, seen, { reference, at: read.at }), read };
  }

  /** Reads a known payout again; false where an older answer was given in the service's place. */
  async function refreshOne(
    tenant: Tenant,
    known: MirroredRow,
    { requestOptions, keepMs = 0 }: { requestOptions: RequestOptions; keepMs?: number },
  ): Promise<boolean> {
    const payout = payoutIn(known);
    const reference = [payout.withdrawalId, payout.code, payout.payoutId].find(
      (name) => name !== null && canBeReference(name),
    );
    if (reference == null) return true;
    const { read } = await fetchPayout(tenant, payout.subaccountId, reference, { requestOptions, keepMs });
    return !read.stale;
  }

  // ── The port ──

  function serviceFor(requester: Requester): PayoutReads & SubaccountPayoutService {
    const requestOptions = requestOptionsFor(requester);

    /** Finds a payout as the service shows it, or as it was last known where the service cannot be asked. */
    async function findPayout(
      tenant: Tenant,
      subaccountId: string,
      reference: string,
    ): Promise<SubaccountPayout | null> {
      // With a test key there are no payouts (the document's 4.1.3).
      if (tenant.environment === 'sandbox') return null;
      if (!isSubaccountId(subaccountId) || !canBeReference(reference)) return null;
      const known = await mirror.findOf(tenant, subaccountId, reference);
      const last = known && payoutIn(known);
      if (last && isSettled(last) && !last.neverMade) return last;
      try {
        const { payout, read } = await withUpstreamErrors(
          fetchPayout(tenant, subaccountId, reference, { requestOptions }),
        );
        requester.onRead(known && read.stale ? known.observedAt : read.at, read.stale);
        if (payout) return payout;
        // A payout that the service does not know may be on its way to it, or have arrived since.
        const doubt = await findInDoubt(tenant, subaccountId, reference);
        const late = await mirror.findOf(tenant, subaccountId, reference);
        return late ? payoutIn(late) : doubt;
      } catch (error) {
        if (!isInconclusive(error)) throw error;
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

    async function findInDoubt(
      tenant: Tenant,
      subaccountId: string,
      reference: string,
    ): Promise<SubaccountPayout | null> {
      const isIt = (payout: SubaccountPayout) =>
        payout.payoutId === reference && isSame(payout.subaccountId, subaccountId);
      return (await requests.inDoubt(tenant)).find(isIt) ?? null;
    }

    return {
      findPayout,

      async findPayoutWithVersion(tenant, subaccountId, reference) {
        // Read before everything else, so that no later change is missed.
        const head = await readHead(sql, tenant);
        const known = await mirror.findOf(tenant, subaccountId, reference);
        const id = known?.id ?? (await findPayout(tenant, subaccountId, reference))?.id;
        const found = id === undefined ? null : await selectMirroredWithHead(sql, tenant, RESOURCE, id);
        if (found) return { version: found.head, id: found.observed.id, payout: payoutIn(found.observed) };
        const doubt = await findInDoubt(tenant, subaccountId, reference);
        if (doubt) return { version: head, id: doubt.id, payout: doubt };
        // The payout may have become known just now, and its intent have ended.
        const late = await mirror.findOf(tenant, subaccountId, reference);
        return late && { version: head, id: late.id, payout: payoutIn(late) };
      },

      async findPayouts(tenant, ids) {
        const select = () => selectMirrored(sql, tenant, RESOURCE, [...new Set(ids)]);
        const known = await select();
        const old = plusMs(clock.now(), -OLD_AFTER_MS);
        const due = known
          .filter(({ final, observedAt }) => !final && observedAt < old)
          .slice(0, REFRESHED_AT_ONCE);
        const asked = await Promise.allSettled(
          due.map((one) => refreshOne(tenant, one, { requestOptions, keepMs: KEEP_MS })),
        );
        const now = due.length === 0 ? known : await select();
        for (const { observedAt, final } of now)
          if (!final)
            requester.onRead(
              observedAt,
              asked.some(({ status }) => status === 'rejected') && observedAt < old,
            );
        const found = new Map(now.map((one) => [one.id, payoutIn(one)]));
        if (ids.some((id) => !found.has(id)))
          for (const payout of await requests.inDoubt(tenant))
            if (!found.has(payout.id)) found.set(payout.id, payout);
        // A payout may have become known just now, and its intent have ended.
        if (ids.some((id) => !found.has(id)))
          for (const late of await select()) if (!found.has(late.id)) found.set(late.id, payoutIn(late));
        return ids.map((id) => found.get(id) ?? null);
      },

      // The document has no list of payouts: these were requested here, announced by webhooks, or looked up.
      async payouts(tenant, subaccountId, { first, after, status }) {
        const window = { before: after ?? null, limit: first + 1 };
        const rows = await listMirrored(sql, tenant, RESOURCE, { ...ofOne(subaccountId, status), ...window });
        const items = rows.map(({ place, observed: row }) => ({ place, item: payoutIn(row) }));
        return { items: items.slice(0, first), hasNextPage: items.length > first };
      },
      async payoutsPage(tenant, subaccountId, window) {
        const filter = ofOne(subaccountId);
        const [rows, total] = await Promise.all([
          listMirrored(sql, tenant, RESOURCE, { ...filter, ...window, before: null }),
          countMirrored(sql, tenant, RESOURCE, filter),
        ]);
        return { items: rows.map(({ observed: row }) => payoutIn(row)), total };
      },
      countPayouts: (tenant, subaccountId, { status }) =>
        countMirrored(sql, tenant, RESOURCE, ofOne(subaccountId, status)),

      async requestPayout(tenant, input) {
        assertPayoutsAvailable(tenant.environment);
        if (!isSubaccountId(input.subaccountId)) throw new NotFoundError('Subaccount not found');
        const { id, held, doubt, replayed } = await requests.requestPayout(tenant, input);
        const payout =
          doubt ??
          (await mirror.get(tenant, id).catch((error: unknown) => {
            throw behindChange(error);
          }));
        // Another system has used the key, and the service has that payout.
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

  const poll: Poll = async (tenant, wanted) => {
    const now = clock.now();
    const open = await selectOpen(sql, tenant, RESOURCE, wanted.all ? 'all' : wanted.ids);
    const every = (one: MirroredRow) => Math.max(intervalOf(one, now), open.length * POLL_EVERY_MS.fresh);
    const dueAt = (one: MirroredRow) => plusMs(one.observedAt, every(one));
    const oldest = [...open].sort((left, right) => dueAt(left).getTime() - dueAt(right).getTime());
    const due = oldest.filter((one) => dueAt(one) <= now);
    const polled = new Set<MirroredRow>();
    let asked = 0;
    for (const one of due) {
      if (asked === POLLED_AT_ONCE) break;
      polled.add(one);
      // Another instance has just asked; or the service still gives an older answer.
      const claim = { name: `${RESOURCE} ${one.id}`, now, intervalMs: every(one) };
      if (!(await claimPoll(sql, tenant, claim))) continue;
      asked += 1;
      await refreshOne(tenant, one, { requestOptions: { priority: 'poll' } });
    }
    const next = oldest
      .map((one) => (polled.has(one) ? plusMs(now, every(one)) : dueAt(one)))
      .map((at) => (at <= now ? plusMs(now, POLL_EVERY_MS.fresh) : at));
    // A follower may wait for a payout whose outcome is not known yet, or for any that begins elsewhere.
    if (wanted.all) next.push(plusMs(now, IDLE_MS));
    else if (await requests.hasDoubts(tenant)) next.push(plusMs(now, POLL_EVERY_MS.fresh));
    return next.reduce<Date | null>((first, at) => (first && first <= at ? first : at), null);
  };

  async function refresh(
    tenant: Tenant,
    given: readonly string[],
    requestOptions: RequestOptions,
  ): Promise<void> {
    for (const reference of given) {
      const [subaccountId, name] = reference.split('/') as [string, string | undefined];
      if (name !== undefined) {
        if (!canBeReference(name)) continue;
        const { read } = await fetchPayout(tenant, subaccountId, name, { requestOptions, keepMs: 0 });
        if (read.stale) throw cannotAsk();
        continue;
      }
      const known = await mirror.find(tenant, reference);
      if (known && !(await refreshOne(tenant, known, { requestOptions }))) throw cannotAsk();
    }
  }

  function readWebhook(payload: unknown): WebhookClaim | null {
    const event = readSubaccountPayoutEvent(payload);
    if (!event) return null;
    if ('code' in event) {
      const { code, subaccountId } = event;
      const reference = subaccountId === null ? code : `${subaccountId}/${code}`;
      return { resource: RESOURCE, reference, observation: namedOnly(code) };
    }
    const { payout: seen } = event;
    const name = seen.withdrawalId ?? seen.code ?? seen.payoutId;
    // The event does not name its payout.
    if (name === null) return null;
    return {
      resource: RESOURCE,
      reference: `${seen.subaccountId}/${name}`,
      observation: observationOf(seen, { reference: null, at: clock.now(), by: 'event' }),
    };
  }

  return { serviceFor, poll, refresh, readWebhook, requests: requests.kinds };
}

/** The pause between polls of a payout: a tenth of its age. */
function intervalOf(known: MirroredRow, now: Date): number {
  const age = now.getTime() - payoutIn(known).createdAt.getTime();
  return Math.min(Math.max(age / 10, POLL_EVERY_MS.fresh), POLL_EVERY_MS.old);
}
