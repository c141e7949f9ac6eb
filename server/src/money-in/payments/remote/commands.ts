import type { CheckoutGrant } from '../../../kernel/caller.ts';
import { behindChange, NotFoundError } from '../../../kernel/errors.ts';
import type { Requester } from '../../../kernel/requester.ts';
import type { Tenant } from '../../../kernel/tenant.ts';
import { checkOrder } from '../../../upstream/closed-orders.ts';
import type { UpstreamDependencies } from '../../../upstream/dependencies.ts';
import { assertTaken } from '../../../upstream/families.ts';
import type { FamilyMirror } from '../../../upstream/family-mirror.ts';
import type { RequestKind } from '../../../upstream/intents/operations.ts';
import { createKeyedRequests, type KeyedRequest } from '../../../upstream/keyed-requests.ts';
import type { MirroredRow } from '../../../upstream/mirror-store.ts';
import { refusalOfCreation } from '../../../upstream/responses.ts';
import {
  assertCallbackUrl,
  assertOrderOpen,
  type SoldProduct,
  type StartCheckoutInput,
  type StartedCheckout,
} from '../../checkout/model.ts';
import {
  createTokenStarts,
  kindOfStart,
  type RefreshUnpaid,
  type RequestedStart,
} from '../../checkout/remote/token-commands.ts';
import { notConfigured } from '../../pix/model.ts';
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

const CREATE = 'createPayment';
const START = kindOfStart('pix');
const WHAT = 'Creating PIX payments';
const FIELDS = Object.keys(createPaymentInput.in.shape);

/** The dependencies of requests for payments, besides the service. */
export interface PaymentRequestDependencies {
  /** The address for the service's webhooks; null if this server has none that the service can reach. */
  callbackUrl: string | null;
  /** Finds the product that is paid for; null if it has been deleted. */
  findProduct: (tenant: Tenant, id: string, requester: Requester) => Promise<SoldProduct | null>;
  /** Whether webhooks may go to this machine, for local development. */
  privateAddresses: boolean;
  /** Looks up a card payment that a token has started; left out if none is known. */
  refreshOther?: RefreshUnpaid;
}

/** Requests for payments to the service. */
export interface PaymentRequests {
  /** @throws PreconditionError (NOT_OFFERED, if the operator has not named payments), and as `PaymentService.create` */
  create(
    tenant: Tenant,
    input: CreatePaymentInput,
    requester: Requester,
  ): Promise<{ payment: Payment; replayed: boolean }>;
  /** @throws PreconditionError (NOT_OFFERED), and as `PaymentService.startCheckout` */
  startCheckout(
    tenant: Tenant,
    token: { id: string; grant: CheckoutGrant },
    input: StartCheckoutInput,
    requester: Requester,
  ): Promise<StartedCheckout<Payment>>;
  kinds: Readonly<Record<string, RequestKind>>;
}

/**
 * A start by a token: the payment, and the input with which another device repeats a start whose answer was
 * lost.
 */
type WantedStart = WantedPayment & { started: Omit<StartCheckoutInput, 'attemptId'> };

export function createPaymentRequests({
  mirror,
  callbackUrl,
  findProduct,
  privateAddresses,
  refreshUnpaid,
  refreshOther,
  ...facade
}: UpstreamDependencies &
  PaymentRequestDependencies & {
    mirror: FamilyMirror<UpstreamPayment>;
    refreshUnpaid: RefreshUnpaid;
  }): PaymentRequests {
  const spec: Omit<KeyedRequest<WantedPayment, UpstreamPayment>, 'kind'> = {
    inWords: 'creating PIX payments',
    makes: [CREATE, START],
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
  };
  const requests = createKeyedRequests(facade, { ...spec, kind: CREATE });
  const starts = createKeyedRequests<WantedStart, UpstreamPayment>(facade, {
    ...spec,
    kind: START,
    observationOf: (claim, { started: _, ...wanted }, at, made) =>
      spec.observationOf(claim, wanted, at, made),
    // An attempt id belongs to its token; the id of its request follows from both.
    keyOf: ({ id }) => id,
  });
  const startPayment = createTokenStarts<WantedStart>(facade, {
    ...{ method: 'pix', refreshUnpaid, refreshOther, findProduct, run: runStart },
    toWanted: ({ amount: _, valueCents, ...sale }, started) => ({
      ...toWanted({ ...sale, method: 'pix' }, valueCents),
      started,
    }),
    repeat: ({ started }) => started,
  });

  async function runStart(
    tenant: Tenant,
    { wanted, ...start }: RequestedStart<WantedStart>,
  ): Promise<StartedCheckout<MirroredRow>> {
    const { started: _, ...payment } = wanted;
    const { resourceId, replayed } = await starts
      .run(tenant, { ...start, wanted, body: bodyOf(payment, callbackUrl) })
      .finally(() => facade.pollNow(tenant, 'payment'));
    return { payment: await find(tenant, resourceId), replayed };
  }

  async function find(tenant: Tenant, paymentId: string): Promise<MirroredRow> {
    const known = await mirror.find(tenant, paymentId).catch((error: unknown) => {
      throw behindChange(error);
    });
    if (!known) throw new Error(`payment ${paymentId} was created and is not known`);
    return known;
  }

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
      // A request that has begun stays as it was, even if the product has changed or was deleted.
      const wanted =
        (await requests.begun(tenant, key)) ?? toWanted(input, await amountOf(tenant, input, requester));
      const { resourceId, replayed } = await requests
        .run(tenant, {
          ...{ key, input, wanted, body: bodyOf(wanted, callbackUrl) },
          open: checkOrder(wanted.externalId, assertOrderOpen),
        })
        .finally(() => facade.pollNow(tenant, 'payment'));
      return { payment: paymentFromJson((await find(tenant, resourceId)).snapshot), replayed };
    },
    async startCheckout(tenant, token, input, requester) {
      assertTaken(facade, 'payments', 'Paying by PIX');
      const { payment, replayed } = await startPayment(tenant, token, input, requester);
      return { payment: paymentFromJson(payment.snapshot), replayed };
    },
    kinds: { ...requests.kinds, ...starts.kinds },
  };
}
