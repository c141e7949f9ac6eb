import { createRemotePixReads } from '../../pix/remote/service.ts';
import type { RemoteSlice, UpstreamDependencies } from '../../upstream/dependencies.ts';
import { notOffered } from '../../upstream/responses.ts';
import {
  CHARGE_KINDS,
  type Charge,
  type ChargeFilter,
  type ChargeKind,
  type ChargeService,
  isAnyChargeId,
  kindsOf,
} from '../model.ts';
import type { UpstreamCharge } from '../upstream-charge.ts';
import { chargeEventFromWire, chargeFromWire } from '../wire.ts';
import { chargeFamily, observationOf } from './mirror.ts';

/**
 * Charges in front of another service, read only. The document shows no operation in a form that a charge could be created
 * by.
 */
export function createRemoteCharges(facade: UpstreamDependencies): RemoteSlice<ChargeService> {
  const { lookups, readsFor } = createRemotePixReads<Charge, UpstreamCharge, ChargeKind, ChargeFilter>(
    facade,
    {
      ...{ family: chargeFamily, path: '/v1/charges', inWords: 'charges', lookup: 'a charge' },
      ...{
        idName: 'chargeId',
        idForm: 'psc_ or psplit_, and what the service has given',
        isId: isAnyChargeId,
      },
      kinds: CHARGE_KINDS,
      filterOf: ({ split, ...filter }) => ({ ...filter, kind: kindsOf({ split }) }),
      readClaim: chargeFromWire,
    },
  );

  return {
    serviceFor: (requester) => ({
      ...readsFor(requester),
      create: async () => {
        throw notOffered('Creating charges');
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

    requests: {},
  };
}
