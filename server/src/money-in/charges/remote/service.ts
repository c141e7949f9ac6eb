import type { RemoteSlice, UpstreamDependencies } from '../../../upstream/dependencies.ts';
import { mirrorPayments } from '../../../upstream/payment-mirror.ts';
import { notOffered } from '../../../upstream/responses.ts';
import { createRemotePixReads } from '../../pix/remote/service.ts';
import {
  CHARGE_KINDS,
  type Charge,
  type ChargeFilter,
  type ChargeListFilter,
  type ChargeService,
  chargeConditions,
  isAnyChargeId,
  listFilterOf,
} from '../model.ts';
import type { UpstreamCharge } from '../upstream-charge.ts';
import { chargeEventFromWire, chargeFromWire } from '../wire.ts';
import { createChargeRequests } from './commands.ts';
import { chargeFamily, observationOf } from './mirror.ts';

/**
 * Charges in front of another service. The document shows no operation in a form that a charge could be created by, so they are
 * created where the operator has named the family.
 */
export function createRemoteCharges(facade: UpstreamDependencies): RemoteSlice<ChargeService> {
  const { lookups, readsFor } = createRemotePixReads<Charge, UpstreamCharge, ChargeFilter, ChargeListFilter>(
    facade,
    {
      family: chargeFamily,
      path: '/v1/charges',
      inWords: 'charges',
      lookup: 'a charge',
      idName: 'chargeId',
      idForm: 'psc_ or psplit_, and what the service has given',
      isId: isAnyChargeId,
      conditions: chargeConditions,
      kind: 'kind',
      kinds: CHARGE_KINDS,
      filterOf: listFilterOf,
      readClaim: chargeFromWire,
    },
  );
  const requests = createChargeRequests({ ...facade, mirror: mirrorPayments(facade, chargeFamily) });

  return {
    serviceFor: (requester) => ({
      ...readsFor(requester),
      create: requests.create,
      // The document shows no operation that ends a pending charge before its time.
      cancel: async () => {
        throw notOffered('Canceling a charge');
      },
    }),

    poll: lookups.poll,
    refresh: lookups.refresh,

    readWebhook(payload) {
      const claim = chargeEventFromWire(payload);
      return (
        claim && {
          resource: 'charge',
          reference: claim.chargeId,
          observation: observationOf(claim, null),
        }
      );
    },

    requests: requests.kinds,
  };
}
