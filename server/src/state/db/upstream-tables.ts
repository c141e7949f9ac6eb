import type { Generated } from 'kysely';
import type { MirroredResource } from '../../kernel/upstream-family.ts';
import type { Json } from './json-column.ts';
import type { TenantTable } from './tenant-table.ts';

/**
 * The tables of remote mode: the resources that this server has seen at the upstream service, and its
 * requests to it.
 */
export interface UpstreamTables {
  observed: ObservedTable;
  observed_reference: ObservedReferenceTable;
  observed_entry: ObservedEntryTable;
  upstream_poll: UpstreamPollTable;
  upstream_account: UpstreamAccountTable;
  upstream_slot: UpstreamSlotTable;
}

interface ObservedTable extends TenantTable {
  number: Generated<number>;
  resource: MirroredResource;
  id: string;
  version: number;
  status: string;
  final: boolean;
  parent: string | null;
  created_at: Generated<Date | null>;
  snapshot: Json<unknown>;
  observed_at: Date;
}

interface ObservedReferenceTable extends TenantTable {
  resource: ObservedTable['resource'];
  reference: string;
  id: string;
}

/** The figures of a wallet that entries move. */
type SeenFigure = 'balance' | 'subaccounts' | 'pending' | 'dispute_hold' | 'ltc' | 'receivable';

interface ObservedEntryTable extends TenantTable, Record<`${SeenFigure}_delta`, number> {
  number: number;
  entries: number;
  is_entry: boolean;
  kind: string | null;
  ref: string | null;
  resource: string | null;
  resource_id: string | null;
  subaccount_id: string | null;
  fee_cents: number | null;
  /** The instant at which the movement was seen; null for what was seen of the wallet alone. */
  seen_at: Date | null;
  /** The version of the log up to which its movements are entries. */
  seen_to: number;
  occurred_at: Date;
  unexplained: number;
  /** The wallet right after the row, as it is shown. */
  wallet: Json<unknown>;
  /** The last known value of each figure, also of one that the service does not show any more. */
  known: Json<unknown>;
}

interface UpstreamPollTable extends TenantTable {
  name: string;
  polled_at: Date;
}

interface UpstreamAccountTable {
  key: string;
  last_at: Date;
  blocked_until: Date | null;
}

interface UpstreamSlotTable {
  id: string;
  account_key: string;
  class: 'money' | 'query' | 'money_read' | 'lookup' | 'payer' | 'payer_read' | 'poll';
  /** The token of a payer's request. */
  subject: string | null;
  network: string | null;
  held_until: Date;
}
