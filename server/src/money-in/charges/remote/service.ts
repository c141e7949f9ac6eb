import type { RemoteSlice, UpstreamDependencies } from '../../../upstream/dependencies.ts';
import { notOffered } from '../../../upstream/responses.ts';
import { assertIdForm } from '../../pix/model.ts';
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
import { chargeFamily } from './mirror.ts';

/**
 * Charges in front of another service. The document shows no form in which a charge could be created, so
 * charges are created only if the operator has named the family.
 */
export function createRemoteCharges(facade: UpstreamDependencies): RemoteSlice<ChargeService> {
  const { readsFor, lookups, mirror, endpoints, ...following } = createRemotePixReads<
    Charge,
    UpstreamCharge,
    ChargeFilter,
    ChargeListFilter
  >(facade, {
    family: chargeFamily,
    path: '/v1/charges',
    inWords: 'charges',
    lookup: 'a charge',
    isId: isAnyChargeId,
    conditions: chargeConditions,
    kind: 'kind',
    kinds: CHARGE_KINDS,
    filterOf: listFilterOf,
    readClaim: chargeFromWire,
    readEvent: chargeEventFromWire,
  });
  const requests = createChargeRequests({ ...facade, mirror });

  return {
    serviceFor: (requester) => ({
      ...readsFor(requester),
      assertId: (id) =>
        assertIdForm('chargeId', isAnyChargeId(id), 'psc_ or psplit_, and what the service has given'),
      create: requests.create,
      // The document shows no operation that ends a pending charge before its time.
      cancel: async () => {
        throw notOffered('Canceling a charge');
      },
    }),

    ...following,
    requests: requests.kinds,
  };
}
