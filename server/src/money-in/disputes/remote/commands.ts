import { behindChange, NotFoundError, type PaymentError, PreconditionError } from '../../../kernel/errors.ts';
import type { UpstreamDependencies } from '../../../upstream/dependencies.ts';
import { assertTaken } from '../../../upstream/families.ts';
import type { FamilyMirror } from '../../../upstream/family-mirror.ts';
import type { RequestKind } from '../../../upstream/intents/operations.ts';
import { createKeyedRequests } from '../../../upstream/keyed-requests.ts';
import { invalidInput, isKeyConflict, keyUsed, messageOf, refusalOf } from '../../../upstream/responses.ts';
import type { UpstreamAnswer } from '../../../upstream/upstream.ts';
import { type DisputeService, evidenceInput, isAnyDisputeId } from '../model.ts';
import type { UpstreamDispute } from '../upstream-dispute.ts';
import { disputeFromWire } from '../wire.ts';
import { disputeOf, observationOf } from './mirror.ts';

const FIELDS = Object.keys(evidenceInput.shape);

/** The stored part of a request, without the evidence itself. */
interface Wanted {
  disputeId: string;
}

/** Requests for disputes to the service. */
export interface DisputeRequests {
  submitEvidence: DisputeService['submitEvidence'];
  kinds: Readonly<Record<string, RequestKind>>;
}

export function createDisputeRequests({
  mirror,
  ...facade
}: UpstreamDependencies & { mirror: FamilyMirror<UpstreamDispute> }): DisputeRequests {
  const requests = createKeyedRequests<Wanted, UpstreamDispute>(facade, {
    kind: 'submitDisputeEvidence',
    inWords: 'submitting evidence',
    pathOf: ({ disputeId }) => `/v1/disputes/${disputeId}/evidence`,
    read: disputeFromWire,
    contradictionOf: contradictionOfEvidence,
    observationOf: (claim, _, at) => observationOf(claim, at),
    makes: [],
    refusalOf: refusalOfEvidence,
  });

  return {
    async submitEvidence(tenant, disputeId, { idempotencyKey, ...evidence }) {
      assertTaken(facade, 'disputes', 'Submitting evidence');
      // There are no disputes in the sandbox.
      if (tenant.environment === 'sandbox' || !isAnyDisputeId(disputeId))
        throw new NotFoundError('Dispute not found');
      const { resourceId, replayed } = await requests
        .run(tenant, {
          key: idempotencyKey ?? null,
          input: { disputeId, ...evidence },
          wanted: { disputeId },
          body: evidence,
        })
        .finally(() => facade.pollNow(tenant, 'dispute'));
      const known = await mirror.find(tenant, resourceId).catch((error: unknown) => {
        throw behindChange(error);
      });
      if (!known) throw new Error(`dispute ${resourceId} has evidence and is not known`);
      return { dispute: disputeOf(known), replayed };
    },
    kinds: requests.kinds,
  };
}

/** The reason why the answer does not belong to the request; null if it does. */
function contradictionOfEvidence(claim: UpstreamDispute, { disputeId }: Wanted): string | null {
  if (claim.disputeId !== disputeId) return 'another dispute';
  if (claim.amountCents === null) return 'no amount';
  return claim.evidence && claim.evidence.length > 0 ? null : 'no evidence';
}

function refusalOfEvidence(answer: UpstreamAnswer): PaymentError {
  const message = messageOf(answer.body);
  if (answer.status === 404) return new NotFoundError('Dispute not found');
  if (answer.status === 400 || answer.status === 422) return invalidInput(message, { fields: FIELDS });
  if (answer.status !== 409) return refusalOf(answer);
  if (isKeyConflict(answer)) return keyUsed(message);
  return new PreconditionError('DISPUTE_STATE', message ?? 'This dispute takes no evidence');
}
