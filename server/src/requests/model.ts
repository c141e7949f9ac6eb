import { z } from 'zod';
import type { Cents } from '../kernel/money.ts';
import type { Environment, Tenant } from '../kernel/tenant.ts';

export const REQUEST_OPERATIONS = [
  'requestPayout',
  'requestSubaccountPayout',
  'transferToSubaccount',
  'createCardPayment',
  'startCheckout',
] as const;

export type RequestOperation = (typeof REQUEST_OPERATIONS)[number];

/** A request to the service behind a facade whose outcome nobody knows yet. */
export interface UnresolvedRequest {
  /** `int_` and 24 hex. */
  id: string;
  operation: RequestOperation | 'unknown';
  /** The caller's; null where the caller gave none. */
  idempotencyKey: string | null;
  amountCents: Cents | null;
  requestedAt: Date;
  /** How often the service was asked for the outcome since, and has answered. */
  lookups: number;
  lookedUpAt: Date | null;
  /** The result of the last lookup, in words. */
  finding: string | null;
  /** The payout as which it is shown, by its id; null of anything else. */
  payoutId: string | null;
  subaccountPayoutId: string | null;
}

export interface UnresolvedRequestService {
  /** The oldest first, no more than `limit`. None where the service is embedded: there every outcome is known. */
  list(tenant: Tenant, limit: number): Promise<UnresolvedRequest[]>;
}

// ── For the operator of the server ─────────────────────────────────────────────────────────────────

/** As the command line shows one. */
export interface UnresolvedDoubt
  extends Pick<UnresolvedRequest, 'id' | 'amountCents' | 'requestedAt' | 'lookups' | 'finding'> {
  accountId: string;
  environment: Environment;
  operation: string;
  key: string;
}

export const settleDoubtInput = z.strictObject({
  id: z.string().regex(/^int_[0-9a-f]{24}$/, 'must be int_ and 24 hex digits'),
  /** By the name that the service has for it; null where it has made nothing. */
  made: z.string().min(1, 'must not be empty').max(128, 'is too long').nullable(),
});

export type SettleDoubtInput = z.output<typeof settleDoubtInput>;

export interface Doubts {
  /** The oldest first, of all accounts. */
  listDoubts(): Promise<{ doubts: UnresolvedDoubt[] }>;
  /** Ends a request by what a person knows of it. @throws NotFoundError, ValidationError */
  settleDoubt(input: SettleDoubtInput): Promise<{ doubt: UnresolvedDoubt; made: string | null }>;
}
