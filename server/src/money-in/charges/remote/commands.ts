import { behindChange } from '../../../kernel/errors.ts';
import type { UpstreamDependencies } from '../../../upstream/dependencies.ts';
import { assertTaken } from '../../../upstream/families.ts';
import type { FamilyMirror } from '../../../upstream/family-mirror.ts';
import type { RequestKind } from '../../../upstream/intents/operations.ts';
import { createKeyedRequests } from '../../../upstream/keyed-requests.ts';
import { refusalOfCreation } from '../../../upstream/responses.ts';
import { notConfigured, pixResourceFromJson } from '../../pix/model.ts';
import {
  type Charge,
  type ChargeRequest,
  type ChargeService,
  createChargeInput,
  normalRequest,
} from '../model.ts';
import type { UpstreamCharge } from '../upstream-charge.ts';
import { chargeFromWire } from '../wire.ts';
import { observationOf } from './mirror.ts';
import { bodyOf, contradictionOfCharge, createdClaim } from './requested-charge.ts';

const FIELDS = Object.keys(createChargeInput.in.shape);

/** Requests for charges to the service. */
export interface ChargeRequests {
  create: ChargeService['create'];
  kinds: Readonly<Record<string, RequestKind>>;
}

export function createChargeRequests({
  mirror,
  ...facade
}: UpstreamDependencies & { mirror: FamilyMirror<UpstreamCharge> }): ChargeRequests {
  const requests = createKeyedRequests<ChargeRequest, UpstreamCharge>(facade, {
    kind: 'createCharge',
    inWords: 'creating charges',
    pathOf: () => '/v1/charges',
    read: chargeFromWire,
    contradictionOf: contradictionOfCharge,
    observationOf: (claim, wanted, at, made) => observationOf(createdClaim(claim, wanted, at), at, made),
    refusalOf: (answer, { splits }) =>
      refusalOfCreation(answer, {
        fields: FIELDS,
        missing: splits.length > 0 ? 'Subaccount' : null,
        conflict: (message) => notConfigured('PIX', message),
      }),
  });

  return {
    async create(tenant, { idempotencyKey, ...given }) {
      assertTaken(facade, 'charges', 'Creating charges');
      const wanted = normalRequest(given);
      const { resourceId, replayed } = await requests
        .run(tenant, { key: idempotencyKey ?? null, input: wanted, wanted, body: bodyOf(wanted) })
        .finally(() => facade.pollNow(tenant, 'charge'));
      const known = await mirror.find(tenant, resourceId).catch((error: unknown) => {
        throw behindChange(error);
      });
      if (!known) throw new Error(`charge ${resourceId} was created and is not known`);
      return { charge: pixResourceFromJson<Charge>(known.snapshot), replayed };
    },
    kinds: requests.kinds,
  };
}
