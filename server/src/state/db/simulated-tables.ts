import type { Generated } from 'kysely';
import type { PayoutMethod } from '../../kernel/payout-methods/registry.ts';
import type { TenantTable } from './tenant-table.ts';

/** The books of the simulated rails and the simulated clock. */
export interface SimulatedTables {
  simulated_charge: SimulatedChargeTable;
  simulated_refund: SimulatedRefundTable;
  simulated_transfer: SimulatedTransferTable;
  simulated_pix_code: SimulatedPixCodeTable;
  simulated_pix_credit: SimulatedPixCreditTable;
  simulated_pix_return: SimulatedPixReturnTable;
  simulated_ltc_address: SimulatedLtcAddressTable;
  simulated_ltc_output: SimulatedLtcOutputTable;
  simulated_pix_debit: SimulatedPixDebitTable;
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
  outcome: 'complete' | 'deny' | 'refuse' | 'return';
  reason: string | null;
  end_to_end_id: string | null;
}

interface SimulatedPixCodeTable extends TenantTable {
  txid: string;
  amount_cents: number;
  br_code: string | null;
  refusal: string | null;
  registered_at: Date;
  expires_at: Date;
  refuses_returns: Generated<boolean>;
  delays_returns: Generated<boolean>;
  claims: Generated<'undecided' | 'won' | 'lost' | null>;
  is_recurrence: Generated<boolean>;
  refused_attempts: Generated<'first' | 'all' | null>;
  ended_at: Generated<Date | null>;
  ended_by: Generated<'merchant' | 'payer' | null>;
}

interface SimulatedPixDebitTable {
  id: string;
  txid: string;
  amount_cents: number;
  due_at: Date;
  happens_at: Date;
  outcome: 'paid' | 'failed' | 'canceled';
  reason: string | null;
  end_to_end_id: string;
}

interface SimulatedPixCreditTable {
  end_to_end_id: string;
  txid: string;
  amount_cents: number;
  arrives_at: Date;
  debit_id: Generated<string | null>;
}

interface SimulatedPixReturnTable {
  id: string;
  end_to_end_id: string;
  amount_cents: number;
  return_end_to_end_id: string;
  /** The outcome, which is shown from `settles_at` on. */
  status: 'completed' | 'failed';
  settles_at: Generated<Date | null>;
}

interface SimulatedLtcAddressTable extends TenantTable {
  id: string;
  address: string;
  revision: Generated<number>;
}

interface SimulatedLtcOutputTable {
  txid: string;
  vout: number;
  id: string;
  litoshi: number;
  seen_at: Date;
  confirmations: number;
}

interface SimulatedClockTable {
  one: Generated<true>;
  offset_ms: number;
}
