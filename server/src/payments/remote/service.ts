import { createCoalescedReads } from '../../kernel/coalesce.ts';
import { UpstreamError } from '../../kernel/errors.ts';
import { type Environment, type Tenant, tenantKey } from '../../kernel/tenant.ts';
import { assertIdForm } from '../../pix/model.ts';
import { PAYMENT_STATUSES } from '../../receiving/model.ts';
import { pollInterval } from '../../receiving/poll-interval.ts';
import type { RemoteSlice, UpstreamDependencies } from '../../upstream/dependencies.ts';
import { createEndpoints, type Endpoint } from '../../upstream/endpoint-availability.ts';
import { countMirroredRange, listMirroredRange, type MirrorRange } from '../../upstream/mirror-lists.ts';
import { countMirrored } from '../../upstream/mirror-store.ts';
import { createPaymentLookups } from '../../upstream/payment-lookups.ts';
import { mirrorPayments } from '../../upstream/payment-mirror.ts';
import { notOffered } from '../../upstream/responses.ts';
import type { RequestOptions } from '../../upstream/upstream.ts';
import { isAnyPaymentId, PAYMENT_METHODS, type PaymentFilter, type PaymentService } from '../model.ts';
import { paymentEventFromWire, paymentFromWire } from '../wire.ts';
import { observationOf, paymentFamily, paymentOf } from './mirror.ts';

const GET: Endpoint = { name: 'GET /v1/payments/{id}', inWords: 'looking a PIX payment up' };
const FAMILY: Endpoint = { name: 'GET /v1/payments', inWords: 'PIX payments' };

/** The time for which the family is known to be there, in which a payment that is not there costs one request. */
const FAMILY_KEEP_MS = 10 * 60_000;

const ALL = { parent: [...PAYMENT_METHODS, 'unknown'], status: [...PAYMENT_STATUSES, 'unknown'] };

/**
 * PIX payments in front of another service, read only: single ones from the service, lists from the mirror. The document
 * shows no operation in a form that a payment could be created by.
 */
export function createRemotePayments(facade: UpstreamDependencies): RemoteSlice<PaymentService> {
  const { sql } = facade.database;
  const endpoints = createEndpoints(facade.clock);
  const mirror = mirrorPayments(facade, paymentFamily);
  const lookups = createPaymentLookups({
    ...facade,
    ...{ endpoints, mirror, pollInterval },
    endpoint: GET,
    pathOf: (paymentId) => `/v1/payments/${paymentId}`,
    family: paymentFamily,
    isId: isAnyPaymentId,
    isPossible: () => true,
    readClaim: paymentFromWire,
    onNotFound: assertFamily,
  });
  const sharedPages = createCoalescedReads<Awaited<ReturnType<typeof listMirroredRange>>>();

  /**
   * Tells a service without this payment from one without payments: a 404 may mean either. The family's own path is asked
   * only where the service has never shown a payment, and any answer but 404 and 501 means that it has the family.
   * @throws UpstreamError where it has no payments, RateLimitError, UpstreamFault
   */
  async function assertFamily(tenant: Tenant, requestOptions: RequestOptions): Promise<void> {
    if ((await countMirrored(sql, tenant, 'payment', {})) > 0) return;
    const { environment } = tenant;
    await endpoints.ask(environment, FAMILY, async () => {
      const path = '/v1/payments?limit=1' as const;
      const read = await facade.reads.get(environment, path, { requestOptions, keepMs: FAMILY_KEEP_MS });
      // Without a list, the path is there for creations.
      return read.status === 405 ? { ...read, status: 200 } : read;
    });
  }

  /** Says that the service has no payments, where it has shown that. @throws UnavailableError, and what `read` throws */
  async function offered<Value>(environment: Environment, read: Promise<Value>): Promise<Value> {
    return read.catch((error: unknown) => {
      const isMissing = [GET, FAMILY].some((endpoint) => endpoints.isMissing(environment, endpoint));
      throw isMissing && error instanceof UpstreamError ? notOffered('Looking a PIX payment up') : error;
    });
  }

  async function list(tenant: Tenant, range: MirrorRange) {
    const rows = await sharedPages(`${tenantKey(tenant)} ${JSON.stringify(range)}`, () =>
      listMirroredRange(sql, tenant, 'payment', { ...range, allOf: ALL }),
    );
    return rows.map(({ place, observed }) => ({ place, payment: paymentOf(observed) }));
  }

  return {
    serviceFor: (requester) => ({
      assertId: (paymentId) =>
        assertIdForm('paymentId', isAnyPaymentId(paymentId), 'psa_ and what the service has given'),
      create: async () => {
        throw notOffered('Creating PIX payments');
      },
      startCheckout: async () => {
        throw notOffered('Paying by PIX');
      },
      async find(tenant, paymentId) {
        const found = lookups.findMany(tenant, [paymentId], requester);
        return (await offered(tenant.environment, found))[0] ?? null;
      },
      findMany: (tenant, paymentIds) =>
        offered(tenant.environment, lookups.findMany(tenant, paymentIds, requester)),
      findWithVersion: (tenant, paymentId) =>
        offered(tenant.environment, lookups.findWithVersion(tenant, paymentId, requester)),
      async list(tenant, { end, limit, after, before, ...filter }) {
        const found = await list(tenant, { end, limit: limit + 1, after, before, ...rangeOf(filter) });
        const more = found.length > limit;
        // One row too many was read, at the end that was read last.
        return { items: end === 'last' ? found.slice(-limit) : found.slice(0, limit), more };
      },
      async listPage(tenant, { limit, offset }) {
        const [items, total] = await Promise.all([
          list(tenant, { end: 'first', limit, offset, ...rangeOf({}) }),
          countMirrored(sql, tenant, 'payment', {}),
        ]);
        return { items: items.map(({ payment }) => payment), total };
      },
      count: (tenant, filter) => countMirroredRange(sql, tenant, 'payment', rangeOf(filter)),
    }),

    poll: lookups.poll,
    refresh: lookups.refresh,

    readWebhook(payload) {
      const claim = paymentEventFromWire(payload);
      return (
        claim && {
          resource: 'payment',
          reference: claim.paymentId,
          observation: observationOf(claim, null),
        }
      );
    },

    requests: {},
  };
}

/** The filter as the mirror knows it: there a payment's method is its parent. */
function rangeOf({ status, method, createdAfter, createdBefore }: PaymentFilter) {
  return { status, parent: method, period: { from: createdAfter, before: createdBefore } };
}
