import { z } from 'zod';
import type { ListedRange, ListRange } from '../kernel/list-range.ts';
import type { Cents } from '../kernel/money.ts';
import type { Environment, Tenant } from '../kernel/tenant.ts';

export const REQUEST_OPERATIONS = [
  'requestPayout',
  'requestSubaccountPayout',
  'transferToSubaccount',
  'createCardPayment',
  'startCheckout',
  'startPixCheckout',
  'createPayment',
  'createCharge',
  'createSubscription',
  'createDelivery',
  'refund',
  'submitDisputeEvidence',
] as const;

export type RequestOperation = (typeof REQUEST_OPERATIONS)[number];

/** A request to the service behind a facade whose outcome is not known yet. */
export interface RequestInDoubt {
  /** The id: `int_` and 24 hex digits. */
  id: string;
  operation: RequestOperation | 'unknown';
  /** The caller's key; null if the caller gave none. */
  idempotencyKey: string | null;
  amountCents: Cents | null;
  requestedAt: Date;
  /** The number of lookups that the service has answered. */
  lookups: number;
  lookedUpAt: Date | null;
  /** The result of the last lookup, in words. */
  finding: string | null;
  /** The id of the payout that stands for the request; null for other requests. */
  payoutId: string | null;
  subaccountPayoutId: string | null;
}

export interface RequestsInDoubtService {
  /**
   * Lists the requests in doubt of these operations, the oldest first: `after` reads towards the newer. Without
   * `operations` it lists those of all, unknown operations included. An embedded service has none: it knows
   * every outcome.
   */
  list(
    tenant: Tenant,
    range: ListRange,
    operations?: readonly RequestOperation[],
  ): Promise<ListedRange<{ position: number; request: RequestInDoubt }>>;
}

// ── For the operator of the server ─────────────────────────────────────────────────────────────────

/** A request in doubt as the command line shows it. */
export interface ListedDoubt
  extends Pick<RequestInDoubt, 'id' | 'amountCents' | 'requestedAt' | 'lookups' | 'finding'> {
  accountId: string;
  environment: Environment;
  operation: string;
  key: string;
}

export const settleDoubtInput = z.strictObject({
  id: z.string().regex(/^int_[0-9a-f]{24}$/, 'must be int_ and 24 hex digits'),
  /** The service's name for the resource that the request made; null if it made none. */
  made: z.string().min(1, 'must not be empty').max(128, 'is too long').nullable(),
});

export type SettleDoubtInput = z.output<typeof settleDoubtInput>;

export interface Doubts {
  /** Lists the requests in doubt of all accounts, the oldest first. */
  listDoubts(): Promise<{ doubts: ListedDoubt[] }>;
  /** Settles a request by hand. @throws NotFoundError, ValidationError */
  settleDoubt(input: SettleDoubtInput): Promise<{ doubt: ListedDoubt; made: string | null }>;
}
