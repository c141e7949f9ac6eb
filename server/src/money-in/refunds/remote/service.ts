import { askedOf } from '../../../kernel/list-filter.ts';
import type { Requester } from '../../../kernel/requester.ts';
import type { Tenant } from '../../../kernel/tenant.ts';
import type { Wallet } from '../../../money-out/wallet/model.ts';
import type { RemoteSlice, UpstreamDependencies } from '../../../upstream/dependencies.ts';
import { createEndpoints, type Endpoint } from '../../../upstream/endpoint-availability.ts';
import { assertTaken } from '../../../upstream/families.ts';
import { countMirroredRange, listMirroredRange, totalsOfMirrored } from '../../../upstream/mirror-lists.ts';
import { createPaymentLookups } from '../../../upstream/payment-lookups.ts';
import { mirrorPayments } from '../../../upstream/payment-mirror.ts';
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
  refundFromJson,
} from '../model.ts';
import { refundEventFromWire, refundFromWire } from '../wire.ts';
import { createRefundRequests } from './commands.ts';
import { observationOf, refundFamily } from './mirror.ts';

const GET: Endpoint = { name: 'GET /v1/refunds/{refundId}', inWords: 'looking a refund up' };

/** The time between polls of a followed refund, which a bank ends in days. */
const POLL_MS = 60_000;
const ALL = { parent: REFUNDED_TYPES, status: REFUND_STATUSES };

/**
 * Refunds in front of another service. The document shows no operation for them, so none is requested and none is known where the
 * operator has not named the family: the status of a payment shows one that the service has made. Single ones are read from the
 * service, lists from the mirror.
 */
export function createRemoteRefunds(
  facade: UpstreamDependencies & { readWallet: (tenant: Tenant) => Promise<Wallet> },
): RemoteSlice<RefundService> {
  const { sql } = facade.database;
  const endpoints = createEndpoints(facade.clock);
  const mirror = mirrorPayments(facade, refundFamily);
  const lookups = createPaymentLookups({
    ...facade,
    endpoints,
    mirror,
    endpoint: GET,
    pathOf: (refundId) => `/v1/refunds/${refundId}`,
    family: refundFamily,
    isId: isRefundId,
    isPossible: () => true,
    readClaim: refundFromWire,
    pollInterval: ({ status }) => (isFinal(status) ? null : POLL_MS),
  });
  const requests = createRefundRequests({ ...facade, endpoint: GET, endpoints, mirror, lookups });
  const isTaken = facade.families.has('refunds');

  /** Says that the service has no refunds, where it has shown that. @throws UnavailableError, and what `read` throws */
  const offered = <Value>(read: Promise<Value>) =>
    withNotOffered('Looking a refund up', withUpstreamErrors(read));

  /** Finds a refund by its own id, or by the key of its request. */
  async function find(tenant: Tenant, reference: string, requester: Requester): Promise<Refund | null> {
    const key = keyInReference(reference);
    if (key !== null) return requests.findByKey(tenant, key, requester);
    return (await lookups.findMany(tenant, [reference], requester))[0] ?? null;
  }

  const rangeOf = ({ types, status, createdAfter, createdBefore, ...details }: RefundFilter) => ({
    parent: types,
    status,
    period: { from: createdAfter, before: createdBefore },
    details: { asked: askedOf(refundConditions, details) },
  });

  return {
    serviceFor: (requester: Requester) => ({
      request: requests.request,
      async find(tenant, reference) {
        assertTaken(facade, 'refunds', 'Looking a refund up');
        return offered(find(tenant, reference, requester));
      },
      findMany: async (tenant, refundIds) =>
        isTaken ? offered(lookups.findMany(tenant, refundIds, requester)) : refundIds.map(() => null),
      // The payment has all that the service reports of them: its refundIds.
      ofResources: async (_, __, ids) => ids.map(() => null),
      async list(tenant, { end, limit, after, before, ...filter }) {
        assertTaken(facade, 'refunds', 'Listing refunds');
        const range = { ...rangeOf(filter), end, limit: limit + 1, after, before, allOf: ALL };
        const rows = await listMirroredRange(sql, tenant, 'refund', range);
        const items = rows.map(({ place, observed }) => ({
          place,
          refund: refundFromJson(observed.snapshot),
        }));
        const more = items.length > limit;
        // One row too many was read, at the end that was read last.
        return { items: end === 'last' ? items.slice(-limit) : items.slice(0, limit), more };
      },
      async count(tenant, filter) {
        assertTaken(facade, 'refunds', 'Listing refunds');
        return countMirroredRange(sql, tenant, 'refund', rangeOf(filter));
      },
      async totals(tenant, filter, groupBy) {
        assertTaken(facade, 'refunds', 'Listing refunds');
        return totalsOfMirrored(sql, tenant, 'refund', rangeOf(filter), groupBy);
      },
      assertAnnounced: () => assertTaken(facade, 'refunds', 'Following refunds'),
    }),

    poll: lookups.poll,
    refresh: lookups.refresh,

    readWebhook(payload) {
      const claim = isTaken ? refundEventFromWire(payload) : null;
      return (
        claim && {
          resource: 'refund',
          reference: claim.refundId,
          observation: observationOf(claim, null),
        }
      );
    },

    requests: requests.kinds,
  };
}
