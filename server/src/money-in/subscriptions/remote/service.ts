import { askedOf } from '../../../kernel/list-filter.ts';
import type { Tenant } from '../../../kernel/tenant.ts';
import type { RemoteSlice, UpstreamDependencies } from '../../../upstream/dependencies.ts';
import { createFamilyReads } from '../../../upstream/family-reads.ts';
import { withNotOffered } from '../../../upstream/responses.ts';
import { assertIdForm } from '../../pix/model.ts';
import {
  isAnySubscriptionId,
  rangeOfCycles,
  SUBSCRIPTION_STATUSES,
  type Subscription,
  type SubscriptionCycle,
  type SubscriptionFilter,
  type SubscriptionService,
  subscriptionConditions,
} from '../model.ts';
import type { UpstreamSubscription } from '../upstream-subscription.ts';
import { subscriptionEventFromWire, subscriptionFromWire } from '../upstream-wire.ts';
import { createSubscriptionRequests } from './commands.ts';
import { PARENT, subscriptionFamily, subscriptionOf } from './mirror.ts';

/** The time between two reads of a followed subscription: it changes slowly, and webhooks come first. */
const POLL_MS = 60_000;

/** The statuses of a list, with those of other services that this one does not know. */
const ALL = { parent: [PARENT], status: [...SUBSCRIPTION_STATUSES, 'unknown'] };

/**
 * Subscriptions in front of another service: single ones from the service, lists from the mirror. The
 * document shows no form in which a subscription could be created or canceled, so that is done only if the
 * operator has named the family.
 */
export function createRemoteSubscriptions(facade: UpstreamDependencies): RemoteSlice<SubscriptionService> {
  const { readsFor, lookups, mirror, endpoints, ...following } = createFamilyReads<
    Subscription,
    UpstreamSubscription,
    SubscriptionFilter
  >(facade, {
    family: subscriptionFamily,
    endpoint: { name: 'GET /v1/subscriptions/{id}', inWords: 'looking a subscription up' },
    pathOf: (subscriptionId) => `/v1/subscriptions/${subscriptionId}`,
    isId: isAnySubscriptionId,
    ofFamily: { name: 'GET /v1/subscriptions', inWords: 'subscriptions', path: '/v1/subscriptions' },
    offered: (read) => withNotOffered('Looking a subscription up', read),
    allOf: ALL,
    rangeOf: ({ status, createdAfter, createdBefore, ...details }) => ({
      status,
      period: { from: createdAfter, before: createdBefore },
      details: { asked: askedOf(subscriptionConditions, details) },
    }),
    readClaim: subscriptionFromWire,
    readEvent: subscriptionEventFromWire,
    pollInterval: () => POLL_MS,
  });
  const requests = createSubscriptionRequests({ ...facade, endpoints, mirror });

  /** The cycles that the mirror has of a subscription, newest first. */
  async function cyclesOf(tenant: Tenant, subscriptionId: string): Promise<readonly SubscriptionCycle[]> {
    const known = await mirror.find(tenant, subscriptionId);
    return known ? (subscriptionOf(known).cycles ?? []) : [];
  }

  return {
    serviceFor: (requester) => ({
      ...readsFor(requester),
      assertId: (subscriptionId) =>
        assertIdForm(
          'subscriptionId',
          isAnySubscriptionId(subscriptionId),
          'psa_sub_ and what the service has given',
        ),
      create: requests.create,
      cancel: requests.cancel,
      cycles: async (tenant, subscriptionId, range) =>
        rangeOfCycles(await cyclesOf(tenant, subscriptionId), range),
      async countCycles(tenant, subscriptionId, filter = {}) {
        const all = await cyclesOf(tenant, subscriptionId);
        return rangeOfCycles(all, { end: 'first', limit: all.length, ...filter }).items.length;
      },
      newestCycles: (tenant, subscriptionIds, limit) =>
        Promise.all(subscriptionIds.map(async (id) => (await cyclesOf(tenant, id)).slice(0, limit))),
    }),

    ...following,
    requests: requests.kinds,
  };
}
