import { createCoalescedReads } from '../../../kernel/coalesce.ts';
import { askedOf } from '../../../kernel/list-filter.ts';
import type { Requester } from '../../../kernel/requester.ts';
import { type Environment, type Tenant, tenantKey } from '../../../kernel/tenant.ts';
import {
  type RemoteSlice,
  requestOptionsFor,
  type UpstreamDependencies,
} from '../../../upstream/dependencies.ts';
import type { Endpoint } from '../../../upstream/endpoint-availability.ts';
import { createFamilyReads } from '../../../upstream/family-reads.ts';
import { newestMirrored } from '../../../upstream/mirror-lists.ts';
import { selectMirrored } from '../../../upstream/mirror-store.ts';
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
import { disputeFamily } from './mirror.ts';

const LIST: Endpoint = { name: 'GET /v1/disputes', inWords: 'listing disputes' };

/** The life of a cached page of the service's list. */
const MAX_AGE_MS = 5_000;
/** The pages of the service's list that one list reads: the newest thousand disputes. */
const MAX_PAGES = 10;
/** The time between polls of a followed dispute, which banks decide in days. */
const POLL_MS = 60_000;

/**
 * Disputes in front of another service. Its list is read into the mirror, which answers lists: so they are
 * paged in both directions, and a change in the service's list is announced. The document shows no form of
 * evidence, so evidence is submitted only if the operator has named the family.
 */
export function createRemoteDisputes(facade: UpstreamDependencies): RemoteSlice<DisputeService> {
  const { sql } = facade.database;
  // The sandbox has no disputes: its balance consists of test payments.
  const isPossible = (environment: Environment) => environment === 'live';
  const { readsFor, mirror, endpoints, lookups, ...following } = createFamilyReads<
    Dispute,
    UpstreamDispute,
    DisputeFilter
  >(facade, {
    family: disputeFamily,
    endpoint: { name: 'GET /v1/disputes/{id}', inWords: 'looking a dispute up' },
    pathOf: (disputeId) => `/v1/disputes/${disputeId}`,
    isId: isAnyDisputeId,
    isPossible,
    // A 404 may be about the dispute or about the family: its list shows which.
    onNotFound: async (tenant, requestOptions) => void (await readPage(tenant, 0, requestOptions)),
    offered,
    beforeList: refreshList,
    rangeOf: ({ status, createdAfter, createdBefore, ...details }) => ({
      status,
      period: { from: createdAfter, before: createdBefore },
      details: { asked: askedOf(disputeConditions, details) },
    }),
    readClaim: disputeFromWire,
    readEvent: disputeEventFromWire,
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
   * Reads the service's list into the mirror, the oldest first, so that disputes are numbered in their order.
   * Returns its reads. A list in which nothing is readable may still contain disputes; the known ones stay
   * visible.
   * @throws UpstreamFault if none is known, and errors of `readPage`
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
    // A dispute without an amount is readable if the amount is known.
    const isReadable =
      claims.some(({ amountCents }) => amountCents !== null) || (await isAnyKnown(tenant, claims));
    const isUnreadable = isAnyListed && !isReadable;
    if (isUnreadable) {
      if (!(await newestMirrored(sql, tenant, 'dispute'))) throw unreadable();
      if (!wasUnreadable)
        facade.onFault(new Error('No dispute in the list of the payments service can be read'));
    }
    wasUnreadable = isUnreadable;
    for (const { claims, at } of pages.reverse()) await mirror.recordPage(tenant, claims, at);
    return listReads;
  }

  /** Refreshes the mirror, once for all callers that ask at the same time. */
  async function refreshList(tenant: Tenant, requester: Requester): Promise<void> {
    if (!isPossible(tenant.environment)) return;
    const listReads = await offered(
      withUpstreamErrors(shared(tenantKey(tenant), () => readList(tenant, requester))),
    );
    for (const { at, stale } of listReads) requester.onRead(at, stale);
  }

  return {
    serviceFor: (requester) => ({
      ...readsFor(requester),
      assertId: (disputeId) =>
        assertIdForm('disputeId', isAnyDisputeId(disputeId), 'dsp_ and what the service has given'),
      submitEvidence: requests.submitEvidence,
      // The document shows no operation by which a claim is accepted.
      accept: async () => {
        throw notOffered('Accepting a dispute');
      },
      // Nor does it show any for files.
      deleteFile: async () => {
        throw notOffered('Deleting a file of a dispute');
      },
      // The service does not report which disputes a payment has.
      ofResources: async (_, __, ids) => ids.map(() => null),
    }),

    ...following,
    requests: requests.kinds,
  };
}

/**
 * Waits for a read, and throws if it shows that the service has no disputes. @throws PreconditionError, errors
 * of `read`
 */
const offered = <Value>(read: Promise<Value>) => withNotOffered('Reading disputes', read);
