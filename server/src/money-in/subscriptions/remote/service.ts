import type { ListRange } from '../../../kernel/list-range.ts';
import type { Tenant } from '../../../kernel/tenant.ts';
import type { RemoteSlice, UpstreamDependencies } from '../../../upstream/dependencies.ts';
import { createEndpoints, type Endpoint } from '../../../upstream/endpoint-availability.ts';
import { countMirroredRange, listMirroredRange } from '../../../upstream/mirror-lists.ts';
import { countMirrored } from '../../../upstream/mirror-store.ts';
import { createPaymentLookups } from '../../../upstream/payment-lookups.ts';
import { mirrorPayments } from '../../../upstream/payment-mirror.ts';
import { withNotOffered } from '../../../upstream/responses.ts';
import type { RequestOptions } from '../../../upstream/upstream.ts';
import { assertIdForm } from '../../pix/model.ts';
import {
  isAnySubscriptionId,
  SUBSCRIPTION_STATUSES,
  type SubscriptionCycle,
  type SubscriptionService,
  type SubscriptionStatus,
} from '../model.ts';
import { subscriptionEventFromWire, subscriptionFromWire } from '../upstream-wire.ts';
import { createSubscriptionRequests } from './commands.ts';
import { observationOf, PARENT, subscriptionFamily, subscriptionOf } from './mirror.ts';

const GET: Endpoint = { name: 'GET /v1/subscriptions/{id}', inWords: 'looking a subscription up' };
const FAMILY: Endpoint = { name: 'GET /v1/subscriptions', inWords: 'subscriptions' };

/** The time for which the family is known to be there, in which a subscription that is not there costs one request. */
const FAMILY_MAX_AGE_MS = 10 * 60_000;
/** The time between two looks at a subscription that somebody follows: its days pass slowly, and webhooks come first. */
const POLL_MS = 60_000;

/** The statuses of a list, with those of other services that this one does not know. */
const ALL = { parent: [PARENT], status: [...SUBSCRIPTION_STATUSES, 'unknown'] };

/**
 * Subscriptions in front of another service: single ones from the service, lists from the mirror. The document shows no operation
 * in a form that a subscription could be created or canceled by, so that is done where the operator has named the family.
 */
export function createRemoteSubscriptions(facade: UpstreamDependencies): RemoteSlice<SubscriptionService> {
  const { sql } = facade.database;
  const endpoints = createEndpoints(facade.clock);
  const mirror = mirrorPayments(facade, subscriptionFamily);
  const lookups = createPaymentLookups({
    ...facade,
    endpoints,
    mirror,
    endpoint: GET,
    pathOf: (subscriptionId) => `/v1/subscriptions/${subscriptionId}`,
    family: subscriptionFamily,
    isId: isAnySubscriptionId,
    isPossible: () => true,
    readClaim: subscriptionFromWire,
    onNotFound: assertFamily,
    pollInterval: () => POLL_MS,
  });
  const requests = createSubscriptionRequests({ ...facade, endpoints, mirror });

  /**
   * Tells a service without this subscription from one without subscriptions: a 404 may mean either. The family's own path is
   * asked only where the service has never shown a subscription.
   * @throws UpstreamError where it has no subscriptions, RateLimitError, UpstreamFault
   */
  async function assertFamily(tenant: Tenant, requestOptions: RequestOptions): Promise<void> {
    if ((await countMirrored(sql, tenant, 'subscription', {})) > 0) return;
    const { environment } = tenant;
    await endpoints.ask(environment, FAMILY, async () => {
      const path = '/v1/subscriptions?limit=1' as const;
      const read = await facade.reads.get(environment, path, { requestOptions, maxAgeMs: FAMILY_MAX_AGE_MS });
      // Without a list, the path is there for creations.
      return read.status === 405 ? { ...read, status: 200 } : read;
    });
  }

  /** Says that the service has no subscriptions, where it has shown that. @throws UnavailableError, and what `read` throws */
  const offered = <Value>(read: Promise<Value>) => withNotOffered('Looking a subscription up', read);

  async function list(
    tenant: Tenant,
    { status, ...range }: ListRange & { status?: readonly SubscriptionStatus[] | undefined; offset?: number },
  ) {
    const rows = await listMirroredRange(sql, tenant, 'subscription', {
      ...range,
      status,
      period: {},
      allOf: ALL,
    });
    return rows.map(({ place, observed }) => ({ place, subscription: subscriptionOf(observed) }));
  }

  /** The cycles that the mirror has of a subscription, newest first. */
  async function cyclesOf(tenant: Tenant, subscriptionId: string): Promise<readonly SubscriptionCycle[]> {
    const known = await mirror.find(tenant, subscriptionId);
    return known ? (subscriptionOf(known).cycles ?? []) : [];
  }

  return {
    serviceFor: (requester) => ({
      assertId: (subscriptionId) =>
        assertIdForm(
          'subscriptionId',
          isAnySubscriptionId(subscriptionId),
          'psa_sub_ and what the service has given',
        ),
      create: requests.create,
      cancel: requests.cancel,
      async find(tenant, subscriptionId) {
        const found = lookups.findMany(tenant, [subscriptionId], requester);
        return (await offered(found))[0] ?? null;
      },
      findMany: (tenant, subscriptionIds) => offered(lookups.findMany(tenant, subscriptionIds, requester)),
      async findWithVersion(tenant, subscriptionId) {
        const found = await offered(lookups.findWithVersion(tenant, subscriptionId, requester));
        return found && { version: found.version, subscription: found.payment };
      },
      async list(tenant, { limit, ...range }) {
        const found = await list(tenant, { ...range, limit: limit + 1 });
        const more = found.length > limit;
        // One row too many was read, at the end that was read last.
        return { items: range.end === 'last' ? found.slice(-limit) : found.slice(0, limit), more };
      },
      async listPage(tenant, { limit, offset }) {
        const [items, total] = await Promise.all([
          list(tenant, { end: 'first', limit, offset }),
          countMirrored(sql, tenant, 'subscription', {}),
        ]);
        return { items: items.map(({ subscription }) => subscription), total };
      },
      count: (tenant, { status }) => countMirroredRange(sql, tenant, 'subscription', { status, period: {} }),
      async cycles(tenant, subscriptionId, { end, limit, after, before }) {
        const inRange = (await cyclesOf(tenant, subscriptionId)).filter(
          ({ number }) =>
            (after === undefined || number < after) && (before === undefined || number > before),
        );
        return {
          items: end === 'last' ? inRange.slice(-limit) : inRange.slice(0, limit),
          more: inRange.length > limit,
        };
      },
      countCycles: async (tenant, subscriptionId) => (await cyclesOf(tenant, subscriptionId)).length,
      newestCycles: (tenant, subscriptionIds, limit) =>
        Promise.all(subscriptionIds.map(async (id) => (await cyclesOf(tenant, id)).slice(0, limit))),
    }),

    poll: lookups.poll,
    refresh: lookups.refresh,

    readWebhook(payload) {
      const claim = subscriptionEventFromWire(payload);
      return (
        claim && {
          resource: 'subscription',
          reference: claim.subscriptionId,
          observation: observationOf(claim, null),
        }
      );
    },

    requests: requests.kinds,
  };
}
