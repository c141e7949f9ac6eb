import { createCoalescedReads } from '../../kernel/coalesce.ts';
import type { Requester } from '../../kernel/requester.ts';
import { type Tenant, tenantKey } from '../../kernel/tenant.ts';
import { pollInterval } from '../../receiving/poll-interval.ts';
import type { RemoteSlice, UpstreamDependencies } from '../../upstream/dependencies.ts';
import { createEndpoints } from '../../upstream/endpoint-availability.ts';
import { countMirrored, listMirrored } from '../../upstream/mirror-store.ts';
import { createPaymentLookups } from '../../upstream/payment-lookups.ts';
import { mirrorPayments } from '../../upstream/payment-mirror.ts';
import { notOffered } from '../../upstream/responses.ts';
import { type CardPaymentService, isAnyOrderCode, type SoldProduct } from '../model.ts';
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
  },
): RemoteSlice<CardPaymentService> {
  const { sql } = facade.database;
  const endpoints = createEndpoints(facade.clock);
  const mirror = mirrorPayments(facade, cardPaymentFamily);
  const lookups = createPaymentLookups({
    ...facade,
    ...{ endpoints, mirror, pollInterval },
    endpoint: { name: 'GET /v1/card-payments/{orderCode}', inWords: 'looking a card payment up' },
    pathOf: (orderCode) => `/v1/card-payments/${encodeURIComponent(orderCode)}`,
    family: cardPaymentFamily,
    isId: isAnyOrderCode,
    // There are no card payments in sandbox (section 4.2).
    isPossible: (environment) => environment === 'live',
    readClaim: cardPaymentFromWire,
  });
  const { findMany } = lookups;
  const requests = createCardPaymentRequests({ ...facade, endpoints, mirror, lookUp: lookups.lookUp });
  const sharedPages = createCoalescedReads<Awaited<ReturnType<typeof listMirrored>>>();

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
      async list(tenant, { first, after, status }) {
        const page = { before: after ?? null, limit: first + 1, ...(status && { status }) };
        const rows = await sharedPages(`${tenantKey(tenant)} ${JSON.stringify(page)}`, () =>
          listMirrored(sql, tenant, 'card_payment', page),
        );
        const items = rows
          .slice(0, first)
          .map((row) => ({ place: row.place, payment: paymentOf(row.observed) }));
        return { items, hasNextPage: rows.length > first };
      },
      async listPage(tenant, { limit, offset }) {
        const [rows, total] = await Promise.all([
          listMirrored(sql, tenant, 'card_payment', { before: null, limit, offset }),
          countMirrored(sql, tenant, 'card_payment', {}),
        ]);
        return { items: rows.map((row) => paymentOf(row.observed)), total };
      },
      count: (tenant, { status }) => countMirrored(sql, tenant, 'card_payment', { status }),
    }),

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
