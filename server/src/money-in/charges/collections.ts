import type { Collection } from '../../state/commit/commit.ts';
import { type Beneficiaries, disputableOf, type PixFamily, refundableOf } from '../pix/collections.ts';
import { chargeDecisions, chargeRefunds, chargeRules } from './decisions.ts';
import { chargeIdsOf, isChargeId, type StoredCharge } from './model.ts';
import { chargeTable } from './store.ts';

/** Charges, as a decision reads and writes them. */
const charges: Collection<StoredCharge> = {
  name: 'charge',
  load: chargeTable.select,
  keyOf: ({ chargeId }) => chargeId,
  save: chargeTable.save,
};

/** Charges, as codes pay them. */
export const pixCharges: PixFamily<StoredCharge> = {
  ...chargeRules,
  decisions: chargeDecisions,
  records: charges,
  isId: isChargeId,
  idsOfTxid: chargeIdsOf,
  selectHosted: chargeTable.selectHosted,
  // A charge stands alone: no other payment is of the same order.
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

/** Charges, as refunds take from them and end. */
export function refundableCharges(beneficiaries: Beneficiaries) {
  return refundableOf(pixCharges, {
    title: 'Charge',
    beneficiaries,
    detailsOf: ({ metadata }) => ({ metadata, callbackUrl: null }),
    refunds: chargeRefunds,
  });
}

/** Charges, as disputes take from them. */
export const disputableCharges = disputableOf(pixCharges, { title: 'Charge' });
