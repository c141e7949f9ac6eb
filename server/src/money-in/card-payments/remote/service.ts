import { createCoalescedReads } from '../../../kernel/coalesce.ts';
import { askedOf } from '../../../kernel/list-filter.ts';
import { withoutExtra } from '../../../kernel/list-range.ts';
import type { Requester } from '../../../kernel/requester.ts';
import { type Tenant, tenantKey } from '../../../kernel/tenant.ts';
import type { RemoteSlice, UpstreamDependencies } from '../../../upstream/dependencies.ts';
import { createEndpoints } from '../../../upstream/endpoint-availability.ts';
import {
  countMirroredRange,
  listMirroredRange,
  type RangeFilter,
  totalsOfMirrored,
} from '../../../upstream/mirror-lists.ts';
import { countMirrored, listMirrored } from '../../../upstream/mirror-store.ts';
import { createPaymentLookups } from '../../../upstream/payment-lookups.ts';
import { mirrorPayments } from '../../../upstream/payment-mirror.ts';
import { notOffered } from '../../../upstream/responses.ts';
import type { SoldProduct } from '../../checkout/model.ts';
import { createRefreshUnpaid, type RefreshUnpaid } from '../../checkout/remote/token-commands.ts';
import { POLLED_STATUSES, pollInterval } from '../../receiving/poll-interval.ts';
import { cardPaymentConditions } from '../filter.ts';
import { type CardPaymentFilter, type CardPaymentService, isAnyOrderCode } from '../model.ts';
import { cardPaymentEventFromWire, cardPaymentFromWire } from '../wire.ts';
import { createCardPaymentRequests } from './commands.ts';
import { cardPaymentFamily, observationOf, paymentOf } from './mirror.ts';

/** The port over HTTP: single payments are read from the service, lists from the mirror. */
export function createRemoteCardPayments(
  facade: UpstreamDependencies & {
    /**
     * The address for the service's webhooks; null where this server has none that the service can reach, which must
     * be public https.
     */
    callbackUrl: string | null;
    /** Finds the product that a checkout token sells; null once it was deleted. */
    findProduct: (tenant: Tenant, id: string, requester: Requester) => Promise<SoldProduct | null>;
    /** Local development: webhooks may go to this machine. */
    privateAddresses: boolean;
    /** Looks up a payment by PIX that a token has started; left out where none is known. */
    refreshOther?: RefreshUnpaid;
  },
): RemoteSlice<CardPaymentService> & { refreshUnpaid: RefreshUnpaid } {
  const { sql } = facade.database;
  const endpoints = createEndpoints(facade.clock);
  const mirror = mirrorPayments(facade, cardPaymentFamily);
  const lookups = createPaymentLookups({
    ...facade,
    endpoints,
    mirror,
    pollInterval,
    polledStatuses: POLLED_STATUSES,
    endpoint: { name: 'GET /v1/card-payments/{orderCode}', inWords: 'looking a card payment up' },
    pathOf: (orderCode) => `/v1/card-payments/${encodeURIComponent(orderCode)}`,
    family: cardPaymentFamily,
    isId: isAnyOrderCode,
    // There are no card payments in sandbox (section 4.2).
    isPossible: (environment) => environment === 'live',
    readClaim: cardPaymentFromWire,
  });
  const { findMany } = lookups;
  const refreshUnpaid = createRefreshUnpaid({ find: mirror.find, lookUp: lookups.lookUp });
  const requests = createCardPaymentRequests({ ...facade, endpoints, mirror, refreshUnpaid });
  const sharedPages = createCoalescedReads<Awaited<ReturnType<typeof listMirroredRange>>>();

  return {
    serviceFor: (requester) => ({
      create: requests.create,
      startCheckout: (tenant, token, input) => requests.startCheckout(tenant, token, input, requester),
      // The document shows no operation that ends a pending payment before its time.
      cancel: async () => {
        throw notOffered('Canceling a card payment');
      },
      find: async (tenant, orderCode) => (await findMany(tenant, [orderCode], requester))[0] ?? null,
      findMany: (tenant, orderCodes) => findMany(tenant, orderCodes, requester),
      findWithVersion: (tenant, orderCode) => lookups.findWithVersion(tenant, orderCode, requester),
      async list(tenant, { end, limit, after, before, ...filter }) {
        const range = { end, limit: limit + 1, after, before, ...rangeOf(filter) };
        const rows = await sharedPages(`${tenantKey(tenant)} ${JSON.stringify(range)}`, () =>
          listMirroredRange(sql, tenant, 'card_payment', { ...range, allOf: null }),
        );
        const { items, more } = withoutExtra(rows, { end, limit });
        return { items: items.map((row) => ({ place: row.place, payment: paymentOf(row.observed) })), more };
      },
      async listPage(tenant, { limit, offset }) {
        const [rows, total] = await Promise.all([
          listMirrored(sql, tenant, 'card_payment', { end: 'first', limit, offset }),
          countMirrored(sql, tenant, 'card_payment', {}),
        ]);
        return { items: rows.map((row) => paymentOf(row.observed)), total };
      },
      count: async (tenant, filter) => countMirroredRange(sql, tenant, 'card_payment', rangeOf(filter)),
      totals: async (tenant, filter, groupBy) =>
        totalsOfMirrored(sql, tenant, 'card_payment', rangeOf(filter), groupBy),
      assertFilter: (filter) => void rangeOf(filter),
    }),

    refreshUnpaid,
    poll: lookups.poll,
    refresh: lookups.refresh,

    readWebhook(payload) {
      const claim = cardPaymentEventFromWire(payload);
      return (
        claim && {
          resource: 'card_payment',
          reference: claim.orderCode,
          observation: observationOf(claim, null),
        }
      );
    },

    requests: requests.kinds,
  };
}

/**
 * The mirror has the instants of a card payment in its state alone.
 * @throws UnavailableError (NOT_OFFERED) for what the service never shows
 */
function rangeOf({ status, releasedAfter, releasedBefore, ...details }: CardPaymentFilter): RangeFilter {
  if (releasedAfter || releasedBefore) throw notOffered('Listing card payments by their release');
  return { status, period: {}, details: { asked: askedOf(cardPaymentConditions, details) } };
}
