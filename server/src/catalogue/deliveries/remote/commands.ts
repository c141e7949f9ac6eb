import { NotFoundError, PreconditionError } from '../../../kernel/errors.ts';
import { readRecord } from '../../../kernel/lenient-json.ts';
import type { Tenant } from '../../../kernel/tenant.ts';
import type { UpstreamDependencies } from '../../../upstream/dependencies.ts';
import type { Endpoint, Endpoints } from '../../../upstream/endpoint-availability.ts';
import { assertTaken } from '../../../upstream/families.ts';
import type { RequestKind } from '../../../upstream/intents/operations.ts';
import { createKeyedRequests } from '../../../upstream/keyed-requests.ts';
import {
  assertConclusive,
  isSuccess,
  refusalOf,
  refusalOfCreation,
  unreadable,
  withUpstreamErrors,
} from '../../../upstream/responses.ts';
import type { UpstreamAnswer } from '../../../upstream/upstream.ts';
import {
  type CreateDeliveryInput,
  contentOf,
  createDeliveryInput,
  type Delivery,
  type DeliveryService,
  deliveryIdText,
} from '../model.ts';
import { deliveryFromWire } from '../wire.ts';

const DELETE: Endpoint = { name: 'DELETE /v1/deliveries/{id}', inWords: 'deleting deliveries' };
const FIELDS = Object.keys(createDeliveryInput.shape);

/** The stored part of a request. It does not contain the content, which is for payers alone. */
type Wanted = Pick<Delivery, 'kind'> & { productId: string };

/** Requests for deliveries to the service. */
export interface DeliveryRequests {
  create(
    tenant: Tenant,
    input: CreateDeliveryInput,
    find: (deliveryId: string) => Promise<Delivery | null>,
  ): ReturnType<DeliveryService['create']>;
  delete: DeliveryService['delete'];
  kinds: Readonly<Record<string, RequestKind>>;
}

export function createDeliveryRequests({
  endpoints,
  ...facade
}: UpstreamDependencies & { endpoints: Endpoints }): DeliveryRequests {
  const { upstream, reads } = facade;
  const requests = createKeyedRequests<Wanted, Delivery>(facade, {
    kind: 'createDelivery',
    inWords: 'creating deliveries',
    // Codes are added to an existing delivery, so several requests may get the same one.
    makes: [],
    pathOf: () => '/v1/deliveries',
    read: deliveryFromWire,
    contradictionOf: contradictionOfDelivery,
    // Deliveries are read from the service: none is mirrored.
    observationOf: ({ deliveryId }) => ({
      resourceId: deliveryId,
      read: async () => undefined,
      decide: () => ({ resourceId: deliveryId, writes: {} }),
    }),
    refusalOf: (answer) =>
      refusalOfCreation(answer, {
        fields: FIELDS,
        missing: 'Product',
        conflict: (message) =>
          new PreconditionError('LIMIT_REACHED', message ?? 'The payments service takes no more deliveries'),
      }),
  });

  return {
    async create(tenant, { idempotencyKey, ...input }, find) {
      assertTaken(facade, 'deliveries', 'Creating deliveries');
      const content = contentOf(input.content);
      const wanted: Wanted = { productId: input.productId, kind: content.kind };
      const { resourceId, replayed } = await requests.run(tenant, {
        key: idempotencyKey ?? null,
        input,
        wanted,
        body: input,
      });
      // The delivery was created, so a failed read must not say otherwise. It may have been deleted since.
      const found = await find(resourceId).catch(() => null);
      const requested: Delivery = {
        deliveryId: resourceId,
        ...wanted,
        content: content.kind === 'codes' ? null : content.content,
        deliveredCount: null,
        remainingCount: null,
        createdAt: null,
      };
      return { delivery: found ?? requested, replayed };
    },

    async delete(tenant, deliveryId) {
      assertTaken(facade, 'deliveries', 'Deleting deliveries');
      const id = deliveryIdText.safeParse(deliveryId).data;
      if (id === undefined) throw new NotFoundError('Delivery not found');
      const { environment } = tenant;
      // A second deletion does no harm.
      const answer = await withUpstreamErrors(
        endpoints
          .ask(environment, DELETE, () =>
            upstream.send({
              environment,
              method: 'DELETE',
              path: `/v1/deliveries/${id}`,
              requestOptions: { priority: 'money' },
            }),
          )
          .then(conclusive)
          .finally(() => reads.forget(environment)),
      );
      if (answer.status === 404) throw new NotFoundError('Delivery not found');
      if (!isSuccess(answer)) throw refusalOf(answer);
    },

    kinds: requests.kinds,
  };
}

/** Returns the answer if it settles the deletion. @throws UpstreamFault if a success says that nothing was deleted */
function conclusive(answer: UpstreamAnswer): UpstreamAnswer {
  assertConclusive(answer);
  if (isSuccess(answer) && readRecord(answer.body)?.deleted === false) throw unreadable();
  return answer;
}

/** The reason why the answer does not belong to the request; null if it does. */
function contradictionOfDelivery(delivery: Delivery, { productId, kind }: Wanted): string | null {
  if (delivery.productId !== productId) return 'another product, or none';
  return delivery.kind === kind ? null : 'another kind of content';
}
