import type { Generated } from 'kysely';
import type { PayoutMethod } from '../payouts/methods/registry.ts';
import type { TenantTable } from './tenant-table.ts';

/** The books of the simulated rails and the simulated clock. */
export interface SimulatedTables {
  simulated_charge: SimulatedChargeTable;
  simulated_refund: SimulatedRefundTable;
  simulated_transfer: SimulatedTransferTable;
  simulated_clock: SimulatedClockTable;
}

interface SimulatedChargeTable {
  id: string;
  amount_cents: number;
  status: 'pending' | 'approved' | 'declined' | 'refunded' | 'void';
  decline_reason: string | null;
  final_decline: boolean;
  settles_at: Date | null;
  refunds: Generated<'later' | 'fail' | null>;
}

interface SimulatedRefundTable {
  id: string;
  charge_id: string;
  amount_cents: number;
  status: 'pending' | 'completed' | 'failed';
  settles_at: Date | null;
}

interface SimulatedTransferTable extends TenantTable {
  number: Generated<number>;
  id: string;
  method: PayoutMethod;
  destination: string;
  amount_cents: number;
  litoshi: number | null;
  received_at: Date;
  held_until: Date | null;
  settles_at: Date;
  outcome: 'complete' | 'deny' | 'refuse';
  reason: string | null;
  end_to_end_id: string | null;
}

interface SimulatedClockTable {
  one: Generated<true>;
  offset_ms: number;
}
