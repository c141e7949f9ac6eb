import { z } from 'zod';
import {
  type Caller,
  type CheckoutGrant,
  DASHBOARD_SCOPES,
  type DashboardScope,
  type PaymentGrant,
} from '../kernel/caller.ts';
import { DAY_MS } from '../kernel/clock.ts';
import { ValidationError } from '../kernel/errors.ts';
import type { ListedRange, ListRange } from '../kernel/list-range.ts';
import type { Cents } from '../kernel/money.ts';
import { byMethod, methodOf, type PayoutMethod } from '../kernel/payout-methods/registry.ts';
import type { Tenant } from '../kernel/tenant.ts';
import { notNull, optionalLimit, originText } from '../kernel/text.ts';

/** The settings of an account. */
export interface AccountSettings {
  cardPaymentsEnabled: boolean;
  /** Days from a card sale to its release into the balance. */
  cardReleaseDays: number;
  pixEnabled: boolean;
  /** The part of each PIX payment that the service keeps. */
  pixFeeCents: Cents;
  ltcEnabled: boolean;
  /** The part of each payout that the service keeps. */
  payoutFeesCents: Record<PayoutMethod, Cents>;
  /** The largest payout by PIX of the account and of its subaccounts; null for no ceiling. */
  pixMaxCents: Cents | null;
  /** The fee that the account takes from each payout of its subaccounts. */
  subaccountMarkupCents: Cents;
}

export const DEFAULT_SETTINGS: AccountSettings = {
  cardPaymentsEnabled: true,
  cardReleaseDays: 14,
  pixEnabled: true,
  pixFeeCents: 0,
  ltcEnabled: true,
  payoutFeesCents: byMethod((method) => methodOf(method).defaultFeeCents),
  pixMaxCents: null,
  subaccountMarkupCents: 50,
};

/** The life of a payment token: the payer can return to the page, and sees a late confirmation. */
export const PAYMENT_TOKEN_MS = 7 * DAY_MS;
export const DASHBOARD_TOKEN_SECONDS = 3_600;

// ── Input ────────────────────────────────────────────────────────────────────────────────────────

/** The origins that may use a new token. */
export const allowedOrigins = optionalLimit(
  z.array(originText, { error: notNull('any origin') }).max(20, 'must name at most 20 origins'),
);
/** Whether a new token runs only trusted documents. */
export const trustedDocumentsOnly = optionalLimit(z.boolean({ error: notNull('any document') }));

export const createDashboardTokenInput = z.object({
  scopes: z
    .array(z.enum(DASHBOARD_SCOPES, 'is not a scope of this server'))
    .min(1, 'must name at least one scope')
    .refine((scopes) => new Set(scopes).size === scopes.length, 'must not name a scope twice'),
  allowedOrigins,
  expiresInSeconds: z
    .number()
    .int('must be a whole number of seconds')
    .min(60, 'must be at least 60')
    .max(86_400, 'must be at most a day (86400)')
    .nullish(),
  trustedDocumentsOnly,
});
export type CreateDashboardTokenInput = z.infer<typeof createDashboardTokenInput>;

/** A token to mint for a tenant. */
export interface NewToken {
  kind: 'checkout' | 'payment' | 'dashboard';
  /** The rights of the token, as they are stored. */
  grant: unknown;
  /** The API key whose revocation ends the token; null if no key has minted it. */
  mintedBy: string | null;
  /** The session of the console that ends the token; absent if none does. */
  sessionId?: string | null | undefined;
  allowedOrigins: string[];
  expiresAt: Date | null;
  trustedDocumentsOnly: boolean;
}

/** Makes a token. The change that it belongs to stores its record; `text` is the only copy of its text. */
export type PrepareToken = (
  tenant: Tenant,
  token: NewToken,
  now: Date,
) => {
  text: string;
  record: NewToken & Tenant & { id: string; secretHash: string; createdAt: Date; revokedAt: Date | null };
};

/** A token that was just minted: its id, which grants nothing, and the only copy of its text. */
export interface MintedToken {
  tokenId: string;
  token: string;
}

/** Mints a token and stores its hash. */
export type MintToken = (tenant: Tenant, token: NewToken) => Promise<MintedToken>;

/** A token that a merchant has minted, as lists show it. The text of none is known. */
export type ListedToken = {
  tokenId: string;
  /** The API key with which it ends; null if no key has minted it. */
  mintedBy: string | null;
  /** The session of the console with which it ends; null if it is of none. */
  sessionId?: string | null | undefined;
  allowedOrigins: readonly string[];
  trustedDocumentsOnly: boolean;
  createdAt: Date;
  expiresAt: Date | null;
  /** The instant at which it was revoked, or the key that minted it. */
  revokedAt: Date | null;
} & (
  | { kind: 'checkout'; grant: CheckoutGrant }
  | { kind: 'dashboard'; grant: { scopes: readonly DashboardScope[] } }
);

export interface TokenFilter {
  kind?: readonly ListedToken['kind'][] | undefined;
  /** Checkout tokens alone: those that serve many payers, or those that serve one. */
  reusable?: boolean | undefined;
  /** Whether those that have expired or were revoked are listed, too. */
  ended?: boolean | undefined;
}

/** The state of a token. It is active while it is paused, too. */
export function tokenStatus(
  { revokedAt, expiresAt }: Pick<ListedToken, 'revokedAt' | 'expiresAt'>,
  now: Date,
): 'active' | 'expired' | 'revoked' {
  if (revokedAt) return 'revoked';
  return expiresAt && expiresAt <= now ? 'expired' : 'active';
}

/** Whether a text is the id of a token, and not its secret text. */
export function isTokenId(text: string): boolean {
  return /^tok_[0-9a-f]{24}$/.test(text);
}

/**
 * Reads the token that an input names by its text or its id; it has one of the two.
 * @throws ValidationError
 */
export function namedToken({
  token,
  tokenId,
}: {
  token?: string | null | undefined;
  tokenId?: string | null | undefined;
}): string {
  if (token != null && tokenId != null)
    throw new ValidationError([{ path: 'tokenId', message: 'must not be given together with token' }]);
  if (tokenId != null && !isTokenId(tokenId))
    throw new ValidationError([{ path: 'tokenId', message: 'must be tok_ and 24 hex digits' }]);
  const named = token ?? tokenId;
  if (named == null) throw new ValidationError([{ path: 'tokenId', message: 'must be given, or token' }]);
  return named;
}

// ── The port ────────────────────────────────────────────────────────────────────────────────────

export interface AccessService {
  /**
   * Identifies the caller behind an `Authorization: Bearer …` value.
   * @throws UnauthenticatedError for a missing, malformed, unknown, expired or revoked credential
   */
  authenticate(authorization: string | null | undefined): Promise<Caller>;
  /**
   * Mints a short-lived token that reads and follows the data of its scopes, and changes nothing. The result
   * is the only copy.
   * @throws ValidationError
   */
  createDashboardToken(
    tenant: Tenant,
    keyId: string | null,
    input: CreateDashboardTokenInput,
  ): Promise<MintedToken & { expiresAt: Date }>;
  /**
   * Mints a token that reads and follows one payment. It is bound to trusted documents if the checkout token
   * is.
   */
  createPaymentToken(tenant: Tenant, grant: PaymentGrant, isBound?: boolean): Promise<string>;
  /**
   * Revokes a checkout or dashboard token of this tenant at once, named by its text or its id, and returns its id.
   * @throws NotFoundError
   */
  revokeToken(tenant: Tenant, named: string): Promise<{ tokenId: string; replayed: boolean }>;
  /** Lists checkout and dashboard tokens, newest first. */
  listTokens(
    tenant: Tenant,
    range: TokenFilter & ListRange,
  ): Promise<ListedRange<{ position: number; token: ListedToken }>>;
  /** Finds checkout and dashboard tokens by their ids, ended ones too; null for one that is not this tenant's. */
  findTokens(tenant: Tenant, tokenIds: readonly string[]): Promise<(ListedToken | null)[]>;
}

// ── Rules ───────────────────────────────────────────────────────────────────────────────────────

/** Converts origins to the form of a browser's `Origin` header. */
export function normalizeOrigins(origins: readonly string[] | null | undefined): string[] {
  return (origins ?? []).map((origin) => new URL(origin).origin);
}

/**
 * Refuses to bind a token to trusted documents on a server without a manifest of them. @throws
 * ValidationError
 */
export function assertMayBind(isBound: boolean, hasManifest: boolean): void {
  if (isBound && !hasManifest)
    throw new ValidationError([
      {
        path: 'input.trustedDocumentsOnly',
        message: 'must be left out, because this server has no manifest of trusted documents',
      },
    ]);
}
