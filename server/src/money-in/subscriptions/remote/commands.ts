import { behindChange, NotFoundError } from '../../../kernel/errors.ts';
import type { Tenant } from '../../../kernel/tenant.ts';
import type { UpstreamDependencies } from '../../../upstream/dependencies.ts';
import type { Endpoint, Endpoints } from '../../../upstream/endpoint-availability.ts';
import { assertTaken } from '../../../upstream/families.ts';
import type { FamilyMirror } from '../../../upstream/family-mirror.ts';
import type { RequestKind } from '../../../upstream/intents/operations.ts';
import { createKeyedRequests } from '../../../upstream/keyed-requests.ts';
import {
  assertConclusive,
  isSuccess,
  refusalOf,
  refusalOfCreation,
  toUpstreamError,
  unreadable,
  withUpstreamErrors,
} from '../../../upstream/responses.ts';
import { notConfigured } from '../../pix/model.ts';
import { createSubscriptionInput, isAnySubscriptionId, isFinal, type SubscriptionService } from '../model.ts';
import type { UpstreamSubscription } from '../upstream-subscription.ts';
import { subscriptionFromWire } from '../upstream-wire.ts';
import { observationOf, subscriptionOf } from './mirror.ts';
import {
  bodyOf,
  contradictionOf,
  createdClaim,
  toWanted,
  type WantedSubscription,
} from './requested-subscription.ts';

const DELETE: Endpoint = { name: 'DELETE /v1/subscriptions/{id}', inWords: 'canceling subscriptions' };
const FIELDS = Object.keys(createSubscriptionInput.in.shape);

/** Requests for subscriptions to the service. */
export interface SubscriptionRequests {
  create: SubscriptionService['create'];
  cancel: SubscriptionService['cancel'];
  kinds: Readonly<Record<string, RequestKind>>;
}

export function createSubscriptionRequests({
  endpoints,
  mirror,
  ...facade
}: UpstreamDependencies & {
  endpoints: Endpoints;
  mirror: FamilyMirror<UpstreamSubscription>;
}): SubscriptionRequests {
  const { clock, committer, upstream, reads, pollNow } = facade;
  const requests = createKeyedRequests<WantedSubscription, UpstreamSubscription>(facade, {
    kind: 'createSubscription',
    inWords: 'creating subscriptions',
    pathOf: () => '/v1/subscriptions',
    read: subscriptionFromWire,
    contradictionOf,
    observationOf: (claim, wanted, at, made) => observationOf(createdClaim(claim, wanted, at), at, made),
    refusalOf: (answer) =>
      refusalOfCreation(answer, { fields: FIELDS, conflict: (message) => notConfigured('PIX', message) }),
  });

  /**
   * Sends a cancellation, which may be repeated: a canceled subscription stays so. @throws PaymentError,
   * UpstreamFault
   */
  async function sendCancel({ environment }: Tenant, subscriptionId: string) {
    const request = {
      environment,
      path: `/v1/subscriptions/${subscriptionId}`,
      requestOptions: { priority: 'money' },
    } as const;
    const canceledAt = clock.now();
    const answer = await endpoints
      .ask(environment, DELETE, () => upstream.send({ ...request, method: 'DELETE' }))
      .finally(() => reads.forget(environment));
    if (!isSuccess(answer)) assertConclusive(answer);
    if (answer.status === 404) throw new NotFoundError('Subscription not found');
    if (!isSuccess(answer)) throw refusalOf(answer);
    // An answer without a body, such as 204, does not show the present state, so the service is asked for it.
    const isEmpty = answer.body === null;
    const at = isEmpty ? clock.now() : canceledAt;
    const shown = isEmpty ? await upstream.send({ ...request, method: 'GET' }) : answer;
    const claim = subscriptionFromWire(shown.body);
    if (claim?.subscriptionId !== subscriptionId || (isEmpty && !isFinal(claim.status ?? 'unknown')))
      throw unreadable();
    return { claim, at };
  }

  return {
    async create(tenant, { idempotencyKey, ...input }) {
      assertTaken(facade, 'subscriptions', 'Creating subscriptions');
      const wanted = toWanted(input);
      const { resourceId, replayed } = await requests
        .run(tenant, { key: idempotencyKey ?? null, input: wanted, wanted, body: bodyOf(wanted) })
        .finally(() => pollNow(tenant, 'subscription'));
      const known = await mirror.find(tenant, resourceId).catch((error: unknown) => {
        throw behindChange(error);
      });
      if (!known) throw new Error(`subscription ${resourceId} was created and is not known`);
      return { subscription: subscriptionOf(known), replayed };
    },

    async cancel(tenant, subscriptionId) {
      assertTaken(facade, 'subscriptions', 'Canceling subscriptions');
      if (!isAnySubscriptionId(subscriptionId)) throw new NotFoundError('Subscription not found');
      const before = await mirror.find(tenant, subscriptionId);
      const { claim, at } = await withUpstreamErrors(sendCancel(tenant, subscriptionId)).finally(() =>
        pollNow(tenant, 'subscription'),
      );
      // The answer shows the change: a state that was shown at the same instant is the one before it.
      const { read, decide } = observationOf(claim, at);
      const known = await committer
        .change<void>({
          tenant,
          read,
          decide: (state) => ({ outcome: undefined, writes: decide(state).writes }),
        })
        .then(() => mirror.find(tenant, subscriptionId))
        .catch((error: unknown) => {
          throw behindChange(error);
        });
      if (!known) throw toUpstreamError(unreadable());
      return { subscription: subscriptionOf(known), replayed: before?.status === 'canceled' };
    },

    kinds: requests.kinds,
  };
}
