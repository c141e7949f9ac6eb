import { askedOf } from '../../../kernel/list-filter.ts';
import type { Requester } from '../../../kernel/requester.ts';
import type { Tenant } from '../../../kernel/tenant.ts';
import type { RemoteSlice, UpstreamDependencies } from '../../../upstream/dependencies.ts';
import { createFamilyReads } from '../../../upstream/family-reads.ts';
import type { RangeFilter } from '../../../upstream/mirror-lists.ts';
import { notOffered } from '../../../upstream/responses.ts';
import type { SoldProduct } from '../../checkout/model.ts';
import { createRefreshUnpaid, type RefreshUnpaid } from '../../checkout/remote/token-commands.ts';
import { POLLED_STATUSES, pollInterval } from '../../receiving/poll-interval.ts';
import { cardPaymentConditions } from '../filter.ts';
import {
  type CardPayment,
  type CardPaymentFilter,
  type CardPaymentService,
  isAnyOrderCode,
} from '../model.ts';
import type { UpstreamCardPayment } from '../upstream-card-payment.ts';
import { cardPaymentEventFromWire, cardPaymentFromWire } from '../wire.ts';
import { createCardPaymentRequests } from './commands.ts';
import { cardPaymentFamily } from './mirror.ts';

/** The port over HTTP: single payments are read from the service, lists from the mirror. */
export function createRemoteCardPayments(
  facade: UpstreamDependencies & {
    /**
     * The address for the service's webhooks; null if this server has none that the service can reach, which must
     * be public https.
     */
    callbackUrl: string | null;
    /** Finds the product that a checkout token sells; null if it has been deleted. */
    findProduct: (tenant: Tenant, id: string, requester: Requester) => Promise<SoldProduct | null>;
    /** Whether webhooks may go to this machine, for local development. */
    privateAddresses: boolean;
    /** Looks up a payment by PIX that a token has started; omitted if tokens start none. */
    refreshOther?: RefreshUnpaid;
  },
): RemoteSlice<CardPaymentService> & { refreshUnpaid: RefreshUnpaid } {
  const { readsFor, lookups, mirror, endpoints, ...following } = createFamilyReads<
    CardPayment,
    UpstreamCardPayment,
    CardPaymentFilter
  >(facade, {
    family: cardPaymentFamily,
    endpoint: { name: 'GET /v1/card-payments/{orderCode}', inWords: 'looking a card payment up' },
    pathOf: (orderCode) => `/v1/card-payments/${encodeURIComponent(orderCode)}`,
    isId: isAnyOrderCode,
    // There are no card payments in sandbox (section 4.2).
    isPossible: (environment) => environment === 'live',
    rangeOf,
    readClaim: cardPaymentFromWire,
    readEvent: cardPaymentEventFromWire,
    pollInterval,
    polledStatuses: POLLED_STATUSES,
  });
  const refreshUnpaid = createRefreshUnpaid({ find: mirror.find, lookUp: lookups.lookUp });
  const requests = createCardPaymentRequests({ ...facade, endpoints, mirror, refreshUnpaid });

  return {
    serviceFor: (requester) => ({
      ...readsFor(requester),
      create: requests.create,
      startCheckout: (tenant, token, input) => requests.startCheckout(tenant, token, input, requester),
      // The document shows no operation that ends a pending payment before its time.
      cancel: async () => {
        throw notOffered('Canceling a card payment');
      },
      feeCentsOf: ({ feeCents = null }) => feeCents,
      assertFilter: (filter) => void rangeOf(filter),
    }),

    refreshUnpaid,
    ...following,
    requests: requests.kinds,
  };
}

/**
 * The mirror has the instants of a card payment in its state alone.
 * @throws PreconditionError (NOT_OFFERED) for what the service never shows
 */
function rangeOf({ status, releasedAfter, releasedBefore, ...details }: CardPaymentFilter): RangeFilter {
  if (releasedAfter || releasedBefore) throw notOffered('Listing card payments by their release');
  return { status, period: {}, details: { asked: askedOf(cardPaymentConditions, details) } };
}
