import { PermissionError, UnauthenticatedError } from './errors.ts';
import type { BudgetSubject } from './requester.ts';
import type { Environment, Tenant } from './tenant.ts';

// The caller of a request, what its credential grants, and who may do what.

/**
 * The limit of the document's section 8: the requests a minute to all `/v1` routes of an account, live and
 * sandbox together.
 */
export const REQUESTS_A_MINUTE = 120;

/** The permissions of restricted keys (the document's section 5, and two of ours). An unrestricted key has none of them. */
export const PERMISSIONS = [
  'subcontas.gerenciar',
  'subcontas.sacar',
  'statement.read',
  'webhooks.payloads',
] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** The scopes of dashboard tokens: the rights that each grants, and what it lets a page read, in the words of the schema. */
export const SCOPES = {
  wallet: {
    rights: ['wallet.read', 'statement.read'],
    description: 'Reads the wallet with its statement, and follows both.',
  },
  payouts: { rights: ['payouts.read'], description: 'Reads payouts of the main account, and follows them.' },
  subaccounts: {
    rights: ['subaccounts.read', 'subaccount_payouts.read'],
    description: 'Reads subaccounts with their statements and payouts, and follows them.',
  },
  card_payments: { rights: ['card_payments.read'], description: 'Card payments and their refunds.' },
  payments: { rights: ['payments.read'], description: 'PIX payments, charges, and their refunds.' },
  disputes: { rights: ['disputes.read'], description: 'Disputes, with their evidence.' },
  subscriptions: { rights: ['subscriptions.read'], description: 'Recurring PIX, with its cycles.' },
  products: {
    rights: ['products.read'],
    description: 'Products, deliveries without their content, and the products of the store.',
  },
  webhooks: {
    rights: ['webhooks.read'],
    description: 'Reads the deliveries of webhooks, without their bodies, and follows them.',
  },
  webhook_payloads: {
    rights: ['webhooks.payloads'],
    description:
      'Beside WEBHOOKS: the bodies of webhooks, with whole destinations and customers, the answers to them, and whole URLs.',
  },
} as const satisfies Record<string, { rights: readonly string[]; description: string }>;
export type DashboardScope = keyof typeof SCOPES;
export const DASHBOARD_SCOPES = Object.keys(SCOPES) as DashboardScope[];

/** Everything that a restricted key or a dashboard token can be allowed. The rest needs an unrestricted key. */
export type Right =
  | (typeof SCOPES)[DashboardScope]['rights'][number]
  /** Opening subaccounts and transferring to them. */
  | 'subaccounts.manage'
  | 'subaccount_payouts.request';

/** The rights that each permission grants (the document's 4.1.1 and 5). An unrestricted key has all of them. */
const GRANTS: Readonly<Record<Permission, readonly Right[]>> = {
  'subcontas.gerenciar': [
    'subaccounts.read',
    'subaccounts.manage',
    'subaccount_payouts.read',
    'subaccount_payouts.request',
  ],
  'subcontas.sacar': ['subaccount_payouts.read', 'subaccount_payouts.request'],
  /** Ours, for who closes the books: it moves no money. */
  'statement.read': ['wallet.read', 'statement.read'],
  /** Ours, for who looks after a receiver: it changes nothing. */
  'webhooks.payloads': ['webhooks.read', 'webhooks.payloads'],
};

/** The payment that a checkout token describes, whose members the slice of checkouts adds. The text of the token reveals nothing of it. */
export interface CheckoutGrant {
  /** The first token of the order, if this token was minted for an order that had one already. */
  orderTokenId?: string;
}

/**
 * Returns the id of the order's first token, under which its payments, attempts and pauses are stored. It is
 * the token's own id if the token is reusable or its order has no other.
 */
export function orderTokenOf({ id, grant }: { id: string; grant: CheckoutGrant }): string {
  return grant.orderTokenId ?? id;
}

/** The credential of a caller, and what it grants. */
export type Credential =
  /** Permissions are null if the service that issued the key does not show them; it enforces them itself. */
  | { kind: 'api_key'; id: string; permissions: readonly Permission[] | null }
  | { kind: 'checkout_token'; id: string; grant: CheckoutGrant }
  | ({ kind: 'payment_token'; id: string } & PaymentGrant)
  | { kind: 'dashboard_token'; id: string; scopes: readonly DashboardScope[] };

/** The one payment that a payment token reads and follows: a card payment, or a payment by PIX. */
export type FollowedPayment = { orderCode: string } | { paymentId: string };

/** The grant of a payment token, as it is stored. */
export type PaymentGrant = FollowedPayment & {
  /**
   * The payers who have started the payment, at a server in front of another service: the token uses their share of
   * its budget.
   */
  startedBy?: BudgetSubject;
};

export interface Caller {
  readonly tenant: Tenant;
  readonly credential: Credential;
  /** Origins that may use the credential; empty for any. */
  readonly allowedOrigins: readonly string[];
  readonly expiresAt: Date | null;
  /** Whether the credential runs only trusted documents, whatever the server lets others run. */
  readonly trustedDocumentsOnly: boolean;
  /** Credentials whose revocation ends this one: itself, and the key that minted it. */
  readonly endsWith: readonly string[];
}

/** The prefixes of API keys, from the document. The token prefixes below are this server's own. */
export const KEY_PREFIX: Record<Environment, string> = { live: 'ps_live_', sandbox: 'ps_test_' };
export const TOKEN_PREFIX = {
  checkout: 'ps_checkout_',
  payment: 'ps_payment_',
  dashboard: 'ps_dashboard_',
} as const;

// ── Rules ───────────────────────────────────────────────────────────────────────────────────────

/**
 * The syntax of a `Bearer` credential (RFC 6750). This server's own tokens use a subset; the document does not show the
 * form of the service's keys.
 */
export const TOKEN_TEXT = '[A-Za-z0-9._~+/-]+=*';
const BEARER = new RegExp(`^Bearer +(${TOKEN_TEXT})$`, 'i');
const CREDENTIAL_MAX = 256;

/** Reads the credential from `Bearer …`. @throws UnauthenticatedError */
export function bearer(authorization: string | null | undefined): string {
  const credential = BEARER.exec(authorization ?? '')?.[1];
  if (credential === undefined || credential.length > CREDENTIAL_MAX)
    throw new UnauthenticatedError('Invalid API key');
  return credential;
}

/** Whether an `Authorization` header presents a token of this server, which may be bound to trusted documents. */
export function presentsToken(authorization: string | null | undefined): boolean {
  return TOKEN.test(authorization ?? '');
}
const TOKEN = new RegExp(`^Bearer +(${Object.values(TOKEN_PREFIX).join('|')})`, 'i');

/** Reads the environment from a key's prefix; null for a text that is no key. */
export function environmentOfKey(secret: string): Environment | null {
  if (secret.startsWith(KEY_PREFIX.live)) return 'live';
  return secret.startsWith(KEY_PREFIX.sandbox) ? 'sandbox' : null;
}

/** The permissions that grant a right; none if only an unrestricted key has it. */
export function permissionsFor(right: Right): readonly Permission[] {
  return PERMISSIONS.filter((permission) => GRANTS[permission].includes(right));
}

/** Refuses a caller whose credential does not grant the right. @throws PermissionError */
export function assertMay(caller: Caller, right: Right): void {
  const { credential } = caller;
  if (isUnrestricted(credential)) return;
  const scope = DASHBOARD_SCOPES.find((each) => (SCOPES[each].rights as readonly Right[]).includes(right));
  if (credential.kind === 'dashboard_token' && scope) {
    if (!credential.scopes.includes(scope))
      throw new PermissionError(`This dashboard token does not have the scope ${scope}`);
    return;
  }
  const permissions = permissionsFor(right);
  if (permissions.length === 0 || credential.kind !== 'api_key') assertUnrestrictedKey(caller);
  else if (!grants(credential.permissions, right))
    throw new PermissionError(`This API key needs one of: ${permissions.join(', ')}`, permissions);
}

/** Refuses every caller but an unrestricted key, and returns the key's id. @throws PermissionError */
export function assertUnrestrictedKey({ credential }: Caller): string {
  if (credential.kind !== 'api_key') throw new PermissionError('This needs an API key');
  if (!isUnrestricted(credential))
    throw new PermissionError('This API key is restricted to other operations; it needs an unrestricted one');
  return credential.id;
}

/** Whether the credential is a key with every right. */
export function isUnrestricted(credential: Credential): boolean {
  return credential.kind === 'api_key' && !credential.permissions?.length;
}

/** Refuses tokens of a payer's page, which follows one payment and not the account. @throws PermissionError */
export function assertMayFollowAccount(caller: Caller): void {
  if (isPayer(caller)) throw new PermissionError('This token does not follow the account');
}

/** Whether the caller may read a card payment. For a payment token, no other payment exists. @throws PermissionError */
export function mayReadCardPayment(caller: Caller, orderCode: string): boolean {
  const { credential } = caller;
  if (credential.kind === 'payment_token')
    return 'orderCode' in credential && credential.orderCode === orderCode;
  assertMay(caller, 'card_payments.read');
  return true;
}

/** Whether the caller may read a payment. For a payment token, no other payment exists. @throws PermissionError */
export function mayReadPayment(caller: Caller, paymentId: string): boolean {
  const { credential } = caller;
  if (credential.kind === 'payment_token')
    return 'paymentId' in credential && credential.paymentId === paymentId;
  assertMay(caller, 'payments.read');
  return true;
}

/** Whether the caller may read the account and has a right. */
export function may(caller: Caller, right: Right): boolean {
  try {
    assertMay(caller, right);
    return true;
  } catch (error) {
    if (error instanceof PermissionError) return false;
    throw error;
  }
}

/** Whether the caller sees more of a subaccount than its id. A key that may only request payouts does not. */
export function seesSubaccount({ credential }: Caller): boolean {
  return credential.kind !== 'api_key' || grants(credential.permissions, 'subaccounts.read');
}

/**
 * Whether the caller sees customer and metadata. The payer's page does not: its checkout token may be public, and
 * starting a payment with it yields a payment token.
 */
export function seesCustomer(caller: Caller): boolean {
  return !isPayer(caller);
}

/** Whether a key's permissions grant a right. They are null if the service that issued the key enforces them. */
function grants(permissions: readonly Permission[] | null, right: Right): boolean {
  return !permissions?.length || permissionsFor(right).some((permission) => permissions.includes(permission));
}

/** Whether a payer's page is calling, with the token that starts its payment or follows it. */
export function isPayer({ credential }: Caller): boolean {
  return credential.kind === 'checkout_token' || credential.kind === 'payment_token';
}

/** Whether a page of this origin may use the credential. A request without an origin is not from a browser. */
export function allowsOrigin(caller: Caller, origin: string | null | undefined): boolean {
  return caller.allowedOrigins.length === 0 || (origin != null && caller.allowedOrigins.includes(origin));
}

/**
 * A key made of everything that the rules above and `viewer` depend on: two callers with the same key see the same
 * data. A payer's key is unique, because each token has its own share of the calls to the service behind a facade.
 */
export function rightsOf(caller: Caller): string {
  const { tenant, credential, allowedOrigins, trustedDocumentsOnly } = caller;
  const { id, ...granted } = credential;
  const sortedGrant = 'scopes' in granted ? { ...granted, scopes: [...granted.scopes].sort() } : granted;
  return JSON.stringify([
    tenant.accountId,
    tenant.environment,
    sortedGrant,
    allowedOrigins,
    trustedDocumentsOnly,
    isPayer(caller) ? id : null,
  ]);
}

/** The message for a request without a credential. A request with a wrong credential gets another one. */
export const NO_KEY = 'No API key: send one in the header Authorization, as Bearer …';

/** @throws UnauthenticatedError if no credential was presented */
export function callerOf({ caller }: { readonly caller: Caller | null }): Caller {
  if (!caller) throw new UnauthenticatedError(NO_KEY);
  return caller;
}
