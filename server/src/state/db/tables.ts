import type { ColumnType, Generated } from 'kysely';
import type { BehindCause } from '../../kernel/records.ts';
import type { Json } from './json-column.ts';
import type { PaymentTables } from './payment-tables.ts';
import type { PayoutFeeColumn } from './payout-fees.ts';
import type { SimulatedTables } from './simulated-tables.ts';
import type { TenantTable } from './tenant-table.ts';
import type { UpstreamTables } from './upstream-tables.ts';

/**
 * The tables of `migrations/` as the queries see them: an interface for each table, a field for each column.
 */
export interface Tables extends PaymentTables, UpstreamTables, SimulatedTables {
  account: AccountTable;
  account_brand: AccountBrandTable;
  api_key: ApiKeyTable;
  token: TokenTable;
  cursor_key: CursorKeyTable;
  database_mode: DatabaseModeTable;
  stream: StreamTable;
  event: EventTable;
  ledger_account: LedgerAccountTable;
  posting: PostingTable;
  subaccount: SubaccountTable;
  task: TaskTable;
  idempotency: IdempotencyTable;
  webhook_endpoint: WebhookEndpointTable;
  webhook_delivery: WebhookDeliveryTable;
  webhook_attempt: WebhookAttemptTable;
  received_webhook: ReceivedWebhookTable;
  product: ProductTable;
  delivery: DeliveryTable;
  delivery_code: DeliveryCodeTable;
  delivered_content: DeliveredContentTable;
  store_product: StoreProductTable;
  rate_window: RateWindowTable;
  statement_entry: StatementEntryTable;
  subaccount_payout: SubaccountPayoutTable;
  list_count: ListCountTable;
  list_amount: ListAmountTable;
  restored_records: RestoredRecordsTable;
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

interface ApiKeyTable extends TenantTable {
  id: string;
  secret_hash: string;
  permissions: string[];
  created_at: Date;
  revoked_at: Date | null;
  name: string | null;
  hint: string | null;
}

interface TokenTable extends TenantTable {
  id: string;
  kind: 'checkout' | 'payment' | 'dashboard';
  secret_hash: string;
  minted_by: string | null;
  grant: Json<unknown>;
  allowed_origins: string[];
  created_at: Date;
  expires_at: Date | null;
  revoked_at: Date | null;
  paused_at: Date | null;
  paused_until: Date | null;
  pause_reason: 'merchant' | 'declines' | null;
  trusted_documents_only: Generated<boolean>;
}

interface CursorKeyTable {
  one: Generated<true>;
  key: Uint8Array;
}

interface DatabaseModeTable {
  one: Generated<boolean>;
  mode: 'embedded' | 'remote';
  upstream_origin: string | null;
}

interface StreamTable extends TenantTable {
  version: Generated<number>;
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

interface SubaccountTable extends TenantTable {
  number: Generated<number>;
  id: string;
  name: string;
  external_id: string | null;
  balance_cents: Generated<number>;
  created_at: Date;
}

interface TaskTable extends TenantTable {
  kind: string;
  key: string;
  due_at: Date;
  attempts: Generated<number>;
  outages: Generated<number>;
  revision: Generated<number>;
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

interface WebhookEndpointTable extends TenantTable {
  url: string | null;
  secret: string;
  secret_shown: boolean;
  optional_events: string[];
  previous_secrets: Json<{ secret: string; until: string }[]>;
}

interface WebhookDeliveryTable extends TenantTable {
  number: Generated<number>;
  webhook_id: string;
  event_version: number | null;
  event: string;
  resource: string;
  resource_id: string;
  url: string;
  body: string;
  headers: ColumnType<Record<string, string> | null, string | null, never>;
  resource_version: number | null;
  occurred_at: Date | null;
  status: 'pending' | 'delivered' | 'exhausted';
  attempts: Generated<number>;
  failures: Generated<number>;
  next_attempt_at: Date | null;
  created_at: Date;
}

interface ReceivedWebhookTable extends TenantTable {
  webhook_id: string;
  body_hash: string;
  received_at: Date;
}

interface WebhookAttemptTable {
  webhook_id: string;
  number: number;
  at: Date;
  response_status: number | null;
  error: string | null;
  duration_ms: number;
}

interface ProductTable extends TenantTable {
  number: Generated<number>;
  id: string;
  name: string;
  description: string | null;
  price_cents: number;
  created_at: Date;
}

interface DeliveryTable extends TenantTable {
  number: Generated<number>;
  delivery_id: string;
  product_id: string;
  kind: 'text' | 'link' | 'codes';
  content: string | null;
  delivered_count: Generated<number>;
  remaining_count: number | null;
  created_at: Date;
  deleted_at: Date | null;
}

interface DeliveryCodeTable extends TenantTable {
  number: Generated<number>;
  product_id: string;
  code_hash: string;
  delivery_id: string;
  code: string;
  delivered: Generated<boolean>;
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

interface StoreProductTable extends TenantTable {
  number: number;
  store_product_id: string;
  name: string | null;
  description: string | null;
  price: string | null;
  image_url: string | null;
  available: boolean | null;
}

interface RateWindowTable {
  key: string;
  ends_at: Date;
  used: number;
}

interface StatementEntryTable extends TenantTable {
  number: Generated<number>;
  subaccount_id: string;
  kind: 'transfer_in' | 'payout' | 'payout_reversal' | 'split_in' | 'split_reversal';
  ref_id: string;
  amount_cents: number;
  balance_after_cents: number;
  created_at: Date;
}

interface SubaccountPayoutTable extends TenantTable {
  number: Generated<number>;
  id: string;
  subaccount_id: string;
  version: number;
  payout_id: string;
  status: 'processing' | 'completed' | 'failed';
  under_verification: boolean;
  withdrawal_id: string | null;
  turbo_code: string | null;
  sub_code: string | null;
  amount_cents: number;
  fee_cents: number;
  agreed_fee_cents: number;
  pix_key: string;
  end_to_end_id: string | null;
  recipient_name: string | null;
  recipient_bank_name: string | null;
  failure_reason: string | null;
  created_at: Date;
  completed_at: Date | null;
  reversed_at: Date | null;
  external_id: string | null;
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
}
