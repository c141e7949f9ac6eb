import type { SoldProduct } from '../../checkout/model.ts';
import { assertCallbackUrl, assertOrderOpen } from '../../checkout/model.ts';
import { behindChange, NotFoundError } from '../../kernel/errors.ts';
import type { Requester } from '../../kernel/requester.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import { notConfigured } from '../../pix/model.ts';
import { checkOrder } from '../../upstream/closed-orders.ts';
import type { UpstreamDependencies } from '../../upstream/dependencies.ts';
import { assertTaken } from '../../upstream/families.ts';
import type { RequestKind } from '../../upstream/intents/operations.ts';
import { createKeyedRequests } from '../../upstream/keyed-requests.ts';
import type { MirroredPayments } from '../../upstream/payment-mirror.ts';
import { refusalOfCreation } from '../../upstream/responses.ts';
import { assertInEnvironment } from '../methods.ts';
import { type CreatePaymentInput, createPaymentInput, type Payment, paymentFromJson } from '../model.ts';
import type { UpstreamPayment } from '../upstream-payment.ts';
import { paymentFromWire } from '../wire.ts';
import { observationOf } from './mirror.ts';
import {
  bodyOf,
  contradictionOfPayment,
  createdClaim,
  toWanted,
  type WantedPayment,
} from './requested-payment.ts';

const WHAT = 'Creating PIX payments';
const FIELDS = Object.keys(createPaymentInput.shape);

/** The dependencies of requests for payments, beside the service. */
export interface PaymentRequestDependencies {
  /** The address for the service's webhooks; null where this server has none that the service can reach. */
  callbackUrl: string | null;
  /** Finds the product that is paid for; null once it was deleted. */
  findProduct: (tenant: Tenant, id: string, requester: Requester) => Promise<SoldProduct | null>;
  /** Local development: webhooks may go to this machine. */
  privateAddresses: boolean;
}

/** Requests for payments to the service. */
export interface PaymentRequests {
  /** @throws UnavailableError (NOT_OFFERED, where the operator has not named payments), and as `PaymentService.create` */
  create(
    tenant: Tenant,
    input: CreatePaymentInput,
    requester: Requester,
  ): Promise<{ payment: Payment; replayed: boolean }>;
  kinds: Readonly<Record<string, RequestKind>>;
}

export function createPaymentRequests({
  mirror,
  callbackUrl,
  findProduct,
  privateAddresses,
  ...facade
}: UpstreamDependencies &
  PaymentRequestDependencies & { mirror: MirroredPayments<UpstreamPayment> }): PaymentRequests {
  const requests = createKeyedRequests<WantedPayment, UpstreamPayment>(facade, {
    kind: 'createPayment',
    inWords: 'creating PIX payments',
    pathOf: () => '/v1/payments',
    read: paymentFromWire,
    contradictionOf: contradictionOfPayment,
    observationOf: (claim, wanted, at, made) => observationOf(createdClaim(claim, wanted, at), at, made),
    refusalOf: (answer, { method, productId }) =>
      refusalOfCreation(answer, {
        fields: FIELDS,
        missing: productId === null ? null : 'Product',
        conflict: (message) => notConfigured(method.toUpperCase(), message),
      }),
  });

  /** @throws NotFoundError, UpstreamError */
  async function amountOf(
    tenant: Tenant,
    { valueCents, productId }: CreatePaymentInput,
    requester: Requester,
  ) {
    if (valueCents != null) return valueCents;
    const product = await findProduct(tenant, productId!, requester);
    if (product?.priceCents == null) throw new NotFoundError('Product not found');
    return product.priceCents;
  }

  return {
    async create(tenant, { idempotencyKey, ...given }, requester) {
      assertTaken(facade, 'payments', WHAT);
      const input = { ...given, method: given.method ?? ('pix' as const) };
      assertCallbackUrl(input.callbackUrl, privateAddresses);
      assertInEnvironment(input.method, tenant.environment);
      const key = idempotencyKey ?? null;
      // A request that has begun stays as it was, whatever has happened to the product.
      const wanted =
        (await requests.begun(tenant, key)) ?? toWanted(input, await amountOf(tenant, input, requester));
      const { resourceId, replayed } = await requests
        .run(tenant, {
          ...{ key, input, wanted, body: bodyOf(wanted, callbackUrl) },
          open: checkOrder(wanted.externalId, assertOrderOpen),
        })
        .finally(() => facade.pollNow(tenant, 'payment'));
      const known = await mirror.find(tenant, resourceId).catch((error: unknown) => {
        throw behindChange(error);
      });
      if (!known) throw new Error(`payment ${resourceId} was created and is not known`);
      return { payment: paymentFromJson(known.snapshot), replayed };
    },
    kinds: requests.kinds,
  };
}
