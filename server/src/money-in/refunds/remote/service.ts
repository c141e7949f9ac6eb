import { askedOf } from '../../../kernel/list-filter.ts';
import type { Tenant } from '../../../kernel/tenant.ts';
import type { Wallet } from '../../../money-out/wallet/model.ts';
import type { RemoteSlice, UpstreamDependencies } from '../../../upstream/dependencies.ts';
import type { Endpoint } from '../../../upstream/endpoint-availability.ts';
import { assertTaken } from '../../../upstream/families.ts';
import { createFamilyReads } from '../../../upstream/family-reads.ts';
import { withNotOffered, withUpstreamErrors } from '../../../upstream/responses.ts';
import {
  isFinal,
  isRefundId,
  keyInReference,
  REFUND_STATUSES,
  REFUNDED_TYPES,
  type Refund,
  type RefundFilter,
  type RefundService,
  refundConditions,
} from '../model.ts';
import type { UpstreamRefund } from '../upstream-refund.ts';
import { refundEventFromWire, refundFromWire } from '../wire.ts';
import { createRefundRequests } from './commands.ts';
import { refundFamily } from './mirror.ts';

const GET: Endpoint = { name: 'GET /v1/refunds/{refundId}', inWords: 'looking a refund up' };

/** The time between polls of a followed refund, which a bank ends in days. */
const POLL_MS = 60_000;
const ALL = { parent: REFUNDED_TYPES, status: REFUND_STATUSES };

/**
 * Refunds in front of another service. The document shows no operation for them. If the operator has not
 * named the family, none is requested and none is known; the status of a payment shows a refund that the
 * service has made. Single refunds are read from the service, lists from the mirror.
 */
export function createRemoteRefunds(
  facade: UpstreamDependencies & { readWallet: (tenant: Tenant) => Promise<Wallet> },
): RemoteSlice<RefundService> {
  const isTaken = facade.families.has('refunds');
  const { readsFor, lookups, mirror, endpoints, ...following } = createFamilyReads<
    Refund,
    UpstreamRefund,
    RefundFilter
  >(facade, {
    family: refundFamily,
    endpoint: GET,
    pathOf: (refundId) => `/v1/refunds/${refundId}`,
    isId: isRefundId,
    offered,
    beforeList: () => assertTaken(facade, 'refunds', 'Listing refunds'),
    allOf: ALL,
    rangeOf: ({ types, status, createdAfter, createdBefore, ...details }) => ({
      parent: types,
      status,
      period: { from: createdAfter, before: createdBefore },
      details: { asked: askedOf(refundConditions, details) },
    }),
    readClaim: refundFromWire,
    readEvent: (payload) => (isTaken ? refundEventFromWire(payload) : null),
    pollInterval: ({ status }) => (isFinal(status) ? null : POLL_MS),
  });
  const requests = createRefundRequests({ ...facade, endpoint: GET, endpoints, mirror, lookups });

  return {
    serviceFor(requester) {
      const reads = readsFor(requester);
      return {
        ...reads,
        request: requests.request,
        /** Finds a refund by its own id, or by the key of its request. */
        async find(tenant, reference) {
          assertTaken(facade, 'refunds', 'Looking a refund up');
          const key = keyInReference(reference);
          if (key === null) return reads.find(tenant, reference);
          return offered(withUpstreamErrors(requests.findByKey(tenant, key, requester)));
        },
        findMany: async (tenant, refundIds) =>
          isTaken ? reads.findMany(tenant, refundIds) : refundIds.map(() => null),
        // The payment's refundIds are all that the service reports about its refunds.
        ofResources: async (_, __, ids) => ids.map(() => null),
        assertAnnounced: () => assertTaken(facade, 'refunds', 'Following refunds'),
      };
    },

    ...following,
    requests: requests.kinds,
  };
}

/**
 * Waits for a read, and throws if it shows that the service has no refunds. @throws PreconditionError, errors
 * of `read`
 */
const offered = <Value>(read: Promise<Value>) => withNotOffered('Looking a refund up', read);
