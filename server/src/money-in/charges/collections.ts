import type { Collection } from '../../state/commit/commit.ts';
import { type Beneficiaries, disputableOf, type PixFamily, refundableOf } from '../pix/collections.ts';
import { chargeDecisions, chargeRefunds, chargeRules } from './decisions.ts';
import { chargeIdsOf, isChargeId, type StoredCharge } from './model.ts';
import { chargeTable } from './store.ts';

/** Charges, as a decision reads and writes them. */
const charges: Collection<StoredCharge> = chargeTable;

/** The rules of charges for PIX codes. */
export const pixCharges: PixFamily<StoredCharge> = {
  ...chargeRules,
  decisions: chargeDecisions,
  records: charges,
  isId: isChargeId,
  idsOfTxid: chargeIdsOf,
  selectHosted: chargeTable.loadHosted,
  // A charge has no order, so no other payment competes with it.
  orderOf: () => ({ checkoutAttempt: null, externalId: null, tokenId: null }),
  payerOf: () => null,
  hostedOf: (charge) => ({ ...charge, id: charge.chargeId, successUrl: null, cancelUrl: null }),
  returnDetailsOf: ({ chargeId: id, externalId, metadata }) => ({
    resource: { type: 'charge', id },
    ...{ externalId: externalId ?? null, keptPayment: null, metadata, callbackUrl: null },
  }),
  eventOf: (charge, previousStatus) => ({
    kind: `charge.${charge.status}`,
    resource: 'charge',
    resourceId: charge.chargeId,
    previousStatus,
    snapshot: charge,
  }),
};

/** The decisions about charges that refunds call. */
export function refundableCharges(beneficiaries: Beneficiaries) {
  return refundableOf(pixCharges, {
    title: 'Charge',
    beneficiaries,
    detailsOf: ({ metadata }) => ({ metadata, callbackUrl: null }),
    refunds: chargeRefunds,
  });
}

/** The decisions about charges that disputes call. */
export const disputableCharges = disputableOf(pixCharges, { title: 'Charge' });
