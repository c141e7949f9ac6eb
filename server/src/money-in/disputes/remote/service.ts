import { createCoalescedReads } from '../../../kernel/coalesce.ts';
import { askedOf } from '../../../kernel/list-filter.ts';
import type { Requester } from '../../../kernel/requester.ts';
import { type Environment, type Tenant, tenantKey } from '../../../kernel/tenant.ts';
import {
  type RemoteSlice,
  requestOptionsFor,
  type UpstreamDependencies,
} from '../../../upstream/dependencies.ts';
import { createEndpoints, type Endpoint } from '../../../upstream/endpoint-availability.ts';
import {
  countMirroredRange,
  listMirroredRange,
  type MirrorRange,
  type RangeFilter,
} from '../../../upstream/mirror-lists.ts';
import { listMirrored, selectMirrored } from '../../../upstream/mirror-store.ts';
import { createPaymentLookups } from '../../../upstream/payment-lookups.ts';
import { mirrorPayments } from '../../../upstream/payment-mirror.ts';
import type { Read } from '../../../upstream/reads.ts';
import {
  isSuccess,
  notOffered,
  refusalOf,
  unreadable,
  withNotOffered,
  withUpstreamErrors,
} from '../../../upstream/responses.ts';
import { LARGEST_PAGE } from '../../../upstream/stable-list.ts';
import { assertIdForm } from '../../pix/model.ts';
import {
  type Dispute,
  type DisputeFilter,
  type DisputeService,
  disputeConditions,
  isAnyDisputeId,
  isUndecided,
} from '../model.ts';
import type { UpstreamDispute } from '../upstream-dispute.ts';
import { disputeEventFromWire, disputeFromWire, disputesFromWire } from '../wire.ts';
import { createDisputeRequests } from './commands.ts';
import { disputeFamily, disputeOf, observationOf } from './mirror.ts';

const GET: Endpoint = { name: 'GET /v1/disputes/{id}', inWords: 'looking a dispute up' };
const LIST: Endpoint = { name: 'GET /v1/disputes', inWords: 'listing disputes' };

/** The life of a cached page of the service's list. */
const MAX_AGE_MS = 5_000;
/** The pages of the service's list that one list here reads: the newest thousand disputes. */
const MAX_PAGES = 10;
/** The time between polls of a followed dispute, which banks decide in days. */
const POLL_MS = 60_000;

/**
 * Disputes in front of another service. Its list is read into the mirror, from which lists are answered: so they are
 * paged in both directions, and a change that the list shows is announced. The document shows no form of
 * evidence, so it is submitted where the operator has named the family.
 */
export function createRemoteDisputes(facade: UpstreamDependencies): RemoteSlice<DisputeService> {
  const { sql } = facade.database;
  const endpoints = createEndpoints(facade.clock);
  const mirror = mirrorPayments(facade, disputeFamily);
  // The sandbox has none: its balance is made of test payments.
  const isPossible = (environment: Environment) => environment === 'live';
  const lookups = createPaymentLookups({
    ...facade,
    endpoints,
    mirror,
    isPossible,
    endpoint: GET,
    pathOf: (disputeId) => `/v1/disputes/${disputeId}`,
    family: disputeFamily,
    isId: isAnyDisputeId,
    readClaim: disputeFromWire,
    // A 404 may be about the dispute or about the family: its list shows which.
    onNotFound: (tenant, requestOptions) => readPage(tenant, 0, requestOptions).then(() => undefined),
    pollInterval: ({ status }) => (isUndecided(status) || status === 'unknown' ? POLL_MS : null),
  });
  const requests = createDisputeRequests({ ...facade, mirror });
  /** Whether the list could not be read the last time, which is reported once. */
  let wasUnreadable = false;
  const shared = createCoalescedReads<readonly Pick<Read, 'at' | 'stale'>[]>();

  /** @throws UpstreamError (there is no such endpoint), RateLimitError, UpstreamFault */
  function readPage(
    { environment }: Tenant,
    page: number,
    requestOptions: ReturnType<typeof requestOptionsFor>,
  ) {
    const path = `/v1/disputes?limit=${LARGEST_PAGE}&offset=${page * LARGEST_PAGE}` as const;
    return endpoints.ask(environment, LIST, () =>
      facade.reads.get(environment, path, { requestOptions, maxAgeMs: MAX_AGE_MS }),
    );
  }

  async function isAnyKnown(tenant: Tenant, claims: readonly UpstreamDispute[]): Promise<boolean> {
    const ids = claims.map(({ disputeId }) => disputeId);
    return (await selectMirrored(sql, tenant, 'dispute', ids)).length > 0;
  }

  /**
   * Reads the service's list into the mirror, the oldest first, so that they are numbered in their order. Returns its reads. A
   * list in which nothing can be read is not one without disputes, and hides none that is known, as by a webhook.
   * @throws UpstreamFault where none is known, and what `readPage` throws
   */
  async function readList(tenant: Tenant, requester: Requester) {
    const listReads: Read[] = [];
    const pages: { claims: UpstreamDispute[]; at: Date }[] = [];
    let isAnyListed = false;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const read = await readPage(tenant, page, requestOptionsFor(requester));
      if (!isSuccess(read)) throw refusalOf(read);
      const list = disputesFromWire(read.body);
      if (!list) throw unreadable();
      listReads.push(read);
      isAnyListed ||= list.items.length > 0;
      pages.push({ claims: list.items.flatMap((claim) => claim ?? []).reverse(), at: read.at });
      if (list.items.length < LARGEST_PAGE) break;
    }
    const claims = pages.flatMap((page) => page.claims);
    // One without an amount can be read where that is known.
    const isReadable =
      claims.some(({ amountCents }) => amountCents !== null) || (await isAnyKnown(tenant, claims));
    const isUnreadable = isAnyListed && !isReadable;
    if (isUnreadable) {
      const [known] = await listMirrored(sql, tenant, 'dispute', { end: 'first', limit: 1 });
      if (!known) throw unreadable();
      if (!wasUnreadable)
        facade.onFault(new Error('No dispute in the list of the payments service can be read'));
    }
    wasUnreadable = isUnreadable;
    for (const { claims, at } of pages.reverse()) await mirror.recordPage(tenant, claims, at);
    return listReads;
  }

  /** Says that the service has no disputes, where it has shown that. @throws UnavailableError, and what `read` throws */
  const offered = <Value>(read: Promise<Value>) =>
    withNotOffered('Reading disputes', withUpstreamErrors(read));

  /** Brings the mirror up to date, once for all that ask at the same time. */
  async function refreshList(tenant: Tenant, requester: Requester): Promise<void> {
    if (!isPossible(tenant.environment)) return;
    const listReads = await offered(shared(tenantKey(tenant), () => readList(tenant, requester)));
    for (const { at, stale } of listReads) requester.onRead(at, stale);
  }

  const rangeOf = ({ status, createdAfter, createdBefore, ...details }: DisputeFilter): RangeFilter => ({
    status,
    period: { from: createdAfter, before: createdBefore },
    details: { asked: askedOf(disputeConditions, details) },
  });

  async function list(
    tenant: Tenant,
    filter: DisputeFilter,
    place: Omit<MirrorRange, keyof RangeFilter>,
  ): Promise<{ place: number; dispute: Dispute }[]> {
    const range = { ...rangeOf(filter), ...place, allOf: null };
    const rows = await listMirroredRange(sql, tenant, 'dispute', range);
    return rows.map(({ place, observed }) => ({ place, dispute: disputeOf(observed) }));
  }

  return {
    serviceFor: (requester) => ({
      assertId: (disputeId) =>
        assertIdForm('disputeId', isAnyDisputeId(disputeId), 'dsp_ and what the service has given'),
      submitEvidence: requests.submitEvidence,
      // The document shows no operation by which a claim is accepted.
      accept: async () => {
        throw notOffered('Accepting a dispute');
      },
      async find(tenant, disputeId) {
        const found = lookups.findMany(tenant, [disputeId], requester);
        return (await offered(found))[0] ?? null;
      },
      findMany: (tenant, disputeIds) => offered(lookups.findMany(tenant, disputeIds, requester)),
      async findWithVersion(tenant, disputeId) {
        const found = await offered(lookups.findWithVersion(tenant, disputeId, requester));
        return found && { version: found.version, dispute: found.payment };
      },
      // The service does not report which disputes a payment has.
      ofResources: async (_, __, ids) => ids.map(() => null),
      async list(tenant, { end, limit, after, before, ...filter }) {
        await refreshList(tenant, requester);
        const found = await list(tenant, filter, { end, limit: limit + 1, after, before });
        const more = found.length > limit;
        // One row too many was read, at the end that was read last.
        return { items: !more || end === 'last' ? found.slice(-limit) : found.slice(0, limit), more };
      },
      async listPage(tenant, { limit, offset, ...filter }) {
        await refreshList(tenant, requester);
        const [items, total] = await Promise.all([
          list(tenant, filter, { end: 'first', limit, offset }),
          countMirroredRange(sql, tenant, 'dispute', rangeOf(filter)),
        ]);
        return { items: items.map(({ dispute }) => dispute), total };
      },
      async count(tenant, filter) {
        await refreshList(tenant, requester);
        return countMirroredRange(sql, tenant, 'dispute', rangeOf(filter));
      },
    }),

    poll: lookups.poll,
    refresh: lookups.refresh,

    readWebhook(payload) {
      const claim = disputeEventFromWire(payload);
      return (
        claim && {
          resource: 'dispute',
          reference: claim.disputeId,
          observation: observationOf(claim, null),
        }
      );
    },

    requests: requests.kinds,
  };
}
