import {
  type Columns,
  changing,
  fixed,
  json,
  type Listed,
  type RowsOf,
  table,
} from '../../state/db/table.ts';
import type { ShownElsewhere } from '../pix/model.ts';
import { PIX_COLUMNS } from '../pix/store.ts';
import { pixTable } from '../pix/table-store.ts';
import {
  CHARGE_KINDS,
  type ChargeKind,
  type ChargeListFilter,
  chargeConditions,
  isChargeId,
  kindOfCharge,
  type StoredCharge,
} from './model.ts';

const columns = {
  chargeId: fixed('charge_id'),
  ...PIX_COLUMNS,
  externalId: fixed('external_id'),
  splits: json(changing('splits')),
  refundParts: json(changing('refund_parts')),
} satisfies Columns<Omit<StoredCharge, ShownElsewhere>>;

declare module '../../state/db/tables.ts' {
  interface Tables {
    charge: RowsOf<StoredCharge, typeof columns> & Listed & { kind: ChargeKind };
  }
}

export const chargeTable = pixTable<StoredCharge, ChargeListFilter>({
  table: table<StoredCharge, ShownElsewhere>('charge', columns, {
    key: 'chargeId',
    isKey: isChargeId,
    own: ({ chargeId }) => ({ kind: kindOfCharge(chargeId) }),
  }),
  conditions: chargeConditions,
  kind: 'kind',
  kinds: CHARGE_KINDS,
});
