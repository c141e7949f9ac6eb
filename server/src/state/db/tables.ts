import type { Generated } from 'kysely';
import type { BehindCause } from '../../kernel/records.ts';
import type { Json } from './json-column.ts';
import type { PaymentTables } from './payment-tables.ts';
import type { PayoutFeeColumn } from './payout-fees.ts';
import type { SimulatedTables } from './simulated-tables.ts';
import type { TenantTable } from './tenant-table.ts';
import type { UpstreamTables } from './upstream-tables.ts';

/**
 * The tables of `migrations/` as the queries see them: an interface for each table, a field for each column. A store adds the
 * tables that it declares with `table`.
 */
export interface Tables extends PaymentTables, UpstreamTables, SimulatedTables {
  account: AccountTable;
  account_brand: AccountBrandTable;
  cursor_key: CursorKeyTable;
  database_mode: DatabaseModeTable;
  stream: StreamTable;
  event: EventTable;
  ledger_account: LedgerAccountTable;
  posting: PostingTable;
  ledger_transaction: LedgerTransactionTable;
  task: TaskTable;
  idempotency: IdempotencyTable;
  webhook_attempt: WebhookAttemptTable;
  delivered_content: DeliveredContentTable;
  rate_window: RateWindowTable;
  list_count: ListCountTable;
  list_amount: ListAmountTable;
  restored_records: RestoredRecordsTable;
  verify_checkpoint: VerifyCheckpointTable;
  verified_law: VerifiedLawTable;
}

interface AccountTable extends Record<PayoutFeeColumn, Generated<number>> {
  id: string;
  name: string;
  card_payments_enabled: boolean;
  card_release_days: number;
  created_at: Date;
  subaccount_markup_cents: Generated<number>;
  pix_enabled: Generated<boolean>;
  pix_fee_cents: Generated<number>;
  ltc_enabled: Generated<boolean>;
  pix_max_cents: Generated<number | null>;
}

interface AccountBrandTable {
  account_id: string;
  color: string | null;
  logo: Uint8Array | null;
  logo_type: string | null;
  logo_hash: string | null;
}

interface CursorKeyTable {
  one: Generated<true>;
  key: Uint8Array;
}

interface DatabaseModeTable {
  one: Generated<boolean>;
  mode: 'embedded' | 'remote';
  upstream_origin: string | null;
  keeps_all: Generated<boolean>;
}

interface StreamTable extends TenantTable {
  version: Generated<number>;
  kept_from: Generated<number>;
  removed_to: Generated<number>;
}

interface EventTable extends TenantTable {
  version: number;
  mark: Generated<number>;
  kind: string;
  resource: string;
  resource_id: string;
  previous_status: string | null;
  occurred_at: Date;
  snapshot: Json<unknown>;
}

interface LedgerAccountTable extends TenantTable {
  name: string;
  balance: number;
}

interface PostingTable extends TenantTable {
  transaction_id: string;
  ledger_account: string;
  amount: number;
  subaccount_id: string | null;
  occurred_at: Date;
}

/** The figures of a wallet in the journal: of its own balance, its subaccounts, and so on. */
type JournalFigure = 'balance' | 'subaccounts' | 'pending' | 'dispute_hold' | 'ltc' | 'receivable';

interface LedgerTransactionTable
  extends TenantTable,
    Record<JournalFigure | `${JournalFigure}_delta`, number> {
  number: number;
  entries: number;
  is_entry: boolean;
  transaction_id: string;
  kind: string | null;
  ref: string | null;
  resource: string | null;
  resource_id: string | null;
  subaccount_id: string | null;
  fee_cents: number | null;
  occurred_at: Date;
}

interface TaskTable extends TenantTable {
  kind: string;
  key: string;
  due_at: Date;
  attempts: Generated<number>;
  outages: Generated<number>;
  revision: Generated<number>;
  slot_group: Generated<string>;
  lease: string | null;
  leased_until: Date | null;
  holder: number | null;
}

interface IdempotencyTable extends TenantTable {
  operation: string;
  key: string;
  input_hash: string;
  resource_id: string;
}

interface WebhookAttemptTable {
  webhook_id: string;
  number: number;
  at: Date;
  response_status: number | null;
  error: string | null;
  duration_ms: number;
  exchange: Json<unknown>;
}

interface DeliveredContentTable extends TenantTable {
  number: Generated<number>;
  resource: 'card_payment' | 'payment';
  resource_id: string;
  position: number;
  product_id: string;
  delivery_id: string;
  kind: 'text' | 'link' | 'codes';
  status: 'pending' | 'delivered' | 'revoked';
  code_hash: string | null;
  callback_url: string | null;
  paid_at: Date;
  delivered_at: Date | null;
}

interface RateWindowTable {
  key: string;
  ends_at: Date;
  used: number;
}

interface ListCountTable extends TenantTable {
  list: string;
  parent: string;
  seconds: number;
  since: Date;
  kind: string;
  status: string;
  count: number;
}

interface ListAmountTable extends TenantTable {
  list: string;
  instant: string;
  seconds: number;
  since: Date;
  kind: string;
  status: string;
  count: number;
  cents: number;
}

interface RestoredRecordsTable {
  one: Generated<boolean>;
  behind_since: Generated<Date | null>;
  behind_until: Generated<Date | null>;
  cause: Generated<BehindCause | null>;
  timeline: Generated<number | null>;
  marked_timeline: Generated<number | null>;
  confirmed_since: Generated<Date | null>;
  confirmed_until: Generated<Date | null>;
}

interface VerifyCheckpointTable extends TenantTable {
  number: number;
  version: number;
  sums: Json<unknown>;
  /** The newest row of what was seen that was looked at. */
  sighting: Generated<number>;
  /** A digest of the statements of the laws; null if a version without it has written the row. */
  laws: string | null;
}

interface VerifiedLawTable {
  law: string;
  findings: number;
  verified_at: Date;
}
