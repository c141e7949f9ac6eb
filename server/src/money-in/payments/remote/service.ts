import type { RemoteSlice, UpstreamDependencies } from '../../../upstream/dependencies.ts';
import { notOffered } from '../../../upstream/responses.ts';
import { createRefreshUnpaid, type RefreshUnpaid } from '../../checkout/remote/token-commands.ts';
import { assertIdForm } from '../../pix/model.ts';
import { createRemotePixReads } from '../../pix/remote/service.ts';
import { PAYMENT_METHODS } from '../methods.ts';
import {
  isAnyPaymentId,
  type Payment,
  type PaymentFilter,
  type PaymentService,
  paymentConditions,
} from '../model.ts';
import type { UpstreamPayment } from '../upstream-payment.ts';
import { paymentEventFromWire, paymentFromWire } from '../wire.ts';
import { createPaymentRequests, type PaymentRequestDependencies } from './commands.ts';
import { paymentFamily } from './mirror.ts';

/**
 * Payments in front of another service. The document shows no form in which a payment could be created, so
 * payments are created only if the operator has named the family, with an API key or by a token.
 */
export function createRemotePayments(
  facade: UpstreamDependencies & PaymentRequestDependencies,
): RemoteSlice<PaymentService> & { refreshUnpaid: RefreshUnpaid } {
  const { readsFor, lookups, mirror, endpoints, ...following } = createRemotePixReads<
    Payment,
    UpstreamPayment,
    PaymentFilter,
    PaymentFilter
  >(facade, {
    family: paymentFamily,
    path: '/v1/payments',
    inWords: 'PIX payments',
    lookup: 'a PIX payment',
    isId: isAnyPaymentId,
    conditions: paymentConditions,
    kind: 'method',
    kinds: [...PAYMENT_METHODS, 'unknown'],
    filterOf: (filter) => filter,
    readClaim: paymentFromWire,
    readEvent: paymentEventFromWire,
  });
  const refreshUnpaid = createRefreshUnpaid({ find: mirror.find, lookUp: lookups.lookUp });
  const requests = createPaymentRequests({ ...facade, mirror, refreshUnpaid });

  return {
    serviceFor: (requester) => ({
      ...readsFor(requester),
      assertId: (id) => assertIdForm('paymentId', isAnyPaymentId(id), 'psa_ and what the service has given'),
      create: (tenant, input) => requests.create(tenant, input, requester),
      startCheckout: (tenant, token, input) => requests.startCheckout(tenant, token, input, requester),
      // The document shows no operation that ends a pending payment before its time.
      cancel: async () => {
        throw notOffered('Canceling a payment');
      },
    }),

    refreshUnpaid,
    ...following,
    requests: requests.kinds,
  };
}
