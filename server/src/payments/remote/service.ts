import { createRemotePixReads } from '../../pix/remote/service.ts';
import type { RemoteSlice, UpstreamDependencies } from '../../upstream/dependencies.ts';
import { notOffered } from '../../upstream/responses.ts';
import {
  isAnyPaymentId,
  PAYMENT_METHODS,
  type Payment,
  type PaymentFilter,
  type PaymentMethod,
  type PaymentService,
} from '../model.ts';
import type { UpstreamPayment } from '../upstream-payment.ts';
import { paymentEventFromWire, paymentFromWire } from '../wire.ts';
import { observationOf, paymentFamily } from './mirror.ts';

/**
 * PIX payments in front of another service, read only. The document shows no operation in a form that a payment could be
 * created by.
 */
export function createRemotePayments(facade: UpstreamDependencies): RemoteSlice<PaymentService> {
  const { lookups, readsFor } = createRemotePixReads<Payment, UpstreamPayment, PaymentMethod, PaymentFilter>(
    facade,
    {
      ...{ family: paymentFamily, path: '/v1/payments', inWords: 'PIX payments', lookup: 'a PIX payment' },
      ...{ idName: 'paymentId', idForm: 'psa_ and what the service has given', isId: isAnyPaymentId },
      kinds: [...PAYMENT_METHODS, 'unknown'],
      filterOf: ({ method, ...filter }) => ({ ...filter, kind: method }),
      readClaim: paymentFromWire,
    },
  );

  return {
    serviceFor: (requester) => ({
      ...readsFor(requester),
      create: async () => {
        throw notOffered('Creating PIX payments');
      },
      startCheckout: async () => {
        throw notOffered('Paying by PIX');
      },
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
