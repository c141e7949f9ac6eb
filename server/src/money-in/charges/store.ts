import type { Selectable } from 'kysely';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Tables } from '../../state/db/tables.ts';
import { pixColumnsOf, pixMembersOf } from '../pix/store.ts';
import { pixTable } from '../pix/table-store.ts';
import { CHARGE_KINDS, type ChargeKind, isChargeId, kindOfCharge, type StoredCharge } from './model.ts';

export const chargeTable = pixTable<StoredCharge, Selectable<Tables['charge']>, ChargeKind>({
  table: 'charge',
  id: 'charge_id',
  isId: isChargeId,
  kind: 'kind',
  kinds: CHARGE_KINDS,
  toResource: toCharge,
  toRow,
  changing: ['splits', 'refund_parts'],
});

function toCharge(row: Selectable<Tables['charge']>): StoredCharge {
  return {
    chargeId: row.charge_id,
    ...pixMembersOf(row),
    externalId: row.external_id,
    splits: row.splits,
    refundParts: row.refund_parts,
  };
}

function toRow(tenant: Tenant, charge: StoredCharge) {
  return {
    charge_id: charge.chargeId,
    kind: kindOfCharge(charge.chargeId),
    ...pixColumnsOf(tenant, charge),
    external_id: charge.externalId,
    splits: JSON.stringify(charge.splits),
    refund_parts: JSON.stringify(charge.refundParts),
  };
}
