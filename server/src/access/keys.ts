import { z } from 'zod';
import { PERMISSIONS, type Permission } from '../kernel/caller.ts';
import {
  BLACK,
  contrastOf,
  formatColor,
  MIN_CONTRAST,
  parseColor,
  WHITE,
  withContrast,
} from '../kernel/color.ts';
import { PreconditionError } from '../kernel/errors.ts';
import { byMethod } from '../kernel/payout-methods/registry.ts';
import type { Environment } from '../kernel/tenant.ts';
import { nameText, plainText, visibleText } from '../kernel/text.ts';
import { type Logo, MAX_LOGO_BYTES, readLogo } from './logo.ts';
import type { AccountSettings, ListedToken } from './model.ts';

/** The limit of active keys of an account, both environments together (the document's sections 5.4 and 8). */
export const MAX_ACTIVE_KEYS = 10;

/** An API key without its text, which is stored nowhere. */
export interface ApiKey {
  id: string;
  accountId: string;
  environment: Environment;
  name: string | null;
  /** The key's permissions; empty: unrestricted. */
  permissions: readonly Permission[];
  /** The last four characters of the key, if they were stored. */
  hint: string | null;
  createdAt: Date;
  revokedAt: Date | null;
}

export interface Account extends AccountSettings {
  id: string;
  name: string;
  /** The color of the hosted pages, as #rrggbb, and the SHA-256 of their logo. */
  color: string | null;
  logoHash: string | null;
  createdAt: Date;
  activeKeys: number;
}

// ── Input ────────────────────────────────────────────────────────────────────────────────────────

const label = visibleText(nameText({ max: 100 }));
const id = plainText({ max: 100 });
const environment = z.enum(['live', 'sandbox'], 'must be live or sandbox');
const permission = z.enum(PERMISSIONS, {
  error: ({ input }) =>
    `${JSON.stringify(input).slice(0, 60)} is unknown; there are ${PERMISSIONS.join(', ')}`,
});
/** A fee of at most R$ 1,000: a larger one is a typing error. */
const fee = z
  .number()
  .int('must be whole cents')
  .min(0, 'must not be negative')
  .max(100_000, 'must be at most R$ 1000.00');

const settings = {
  cardPaymentsEnabled: z.boolean().optional(),
  cardReleaseDays: z
    .number()
    .int('must be a whole number of days')
    .min(0, 'must lie from 0 to 365')
    .max(365, 'must lie from 0 to 365')
    .optional(),
  pixEnabled: z.boolean().optional(),
  pixFeeCents: fee.optional(),
  ltcEnabled: z.boolean().optional(),
  payoutFeesCents: z
    .strictObject(byMethod(() => fee.optional()))
    .refine((fees) => Object.values(fees).some((each) => each !== undefined), 'must name a method')
    .optional(),
  pixMaxCents: z.number().int('must be whole cents').min(1, 'must be more than 0').nullable().optional(),
  subaccountMarkupCents: fee.optional(),
};

/** A color on which white text can be read. */
const color = z
  .string()
  .regex(/^#[0-9a-f]{6}$/i, 'must be a color as #rrggbb, such as #7a1f5c')
  .transform((text) => text.toLowerCase())
  .superRefine((text, context) => {
    const parsed = parseColor(text)!;
    const contrast = contrastOf(parsed, WHITE);
    if (contrast >= MIN_CONTRAST) return;
    const darker = withContrast(parsed, BLACK, () => [WHITE]);
    context.addIssue({
      code: 'custom',
      message: `${text} has a contrast of ${(Math.floor(contrast * 10) / 10).toFixed(1)}:1 to the white text on it, and ${MIN_CONTRAST}:1 is the least; ${formatColor(darker)} would do`,
    });
  });

/** A file in base64. Its size is checked before it is decoded. */
const logo = z
  .string()
  .max(Math.ceil((MAX_LOGO_BYTES + 1) / 3) * 4, 'must have at most 100 kB')
  .transform((base64, context): Logo => {
    const read = readLogo(Buffer.from(base64, 'base64'));
    if (typeof read !== 'string') return read;
    context.addIssue({ code: 'custom', message: read });
    return z.NEVER;
  });

export const createKeyInput = z.strictObject({
  /** The key's account; optional if there is only one. */
  accountId: id.optional(),
  environment,
  permissions: z.array(permission).transform((all) => [...new Set(all)]),
  name: label.nullable(),
});
export const listKeysInput = z.strictObject({ accountId: id.optional(), revokedToo: z.boolean() });
export const revokeKeyInput = z.strictObject({ id });
export const createAccountInput = z.strictObject({ name: label, ...settings });
export const updateAccountInput = z
  .strictObject({
    id,
    name: label.optional(),
    ...settings,
    color: color.nullish(),
    logo: logo.nullish(),
  })
  .refine(({ id: _, ...changes }) => Object.values(changes).some((value) => value !== undefined), {
    message: 'nothing to change was given',
  });
export const listTokensInput = z.strictObject({
  accountId: id.optional(),
  reusable: z.boolean().optional(),
  ended: z.boolean().optional(),
});
export const revokeTokenInput = z.strictObject({
  token: z
    .string('must be a token or its id')
    .min(1, 'must be a token or its id')
    .max(256, 'must be a token or its id'),
});
export const noInput = z.strictObject({});

// ── The port ────────────────────────────────────────────────────────────────────────────────────

/** The operations of the document's dashboard, for the operator of the server. */
export interface Administration {
  /**
   * Creates a key. `secret` is its only copy.
   * @throws PreconditionError (ten are active), NotFoundError (the account), ValidationError (the account is
   *   ambiguous)
   */
  createKey(input: z.output<typeof createKeyInput>): Promise<{ key: ApiKey; secret: string }>;
  /** Lists keys, oldest first; without an account the keys of all. @throws NotFoundError */
  listKeys(input: z.output<typeof listKeysInput>): Promise<{ keys: ApiKey[] }>;
  /** Ends a key at once, with the tokens that it minted and their connections. @throws NotFoundError */
  revokeKey(input: z.output<typeof revokeKeyInput>): Promise<{ key: ApiKey }>;
  /** Creates an account without keys. */
  createAccount(input: z.output<typeof createAccountInput>): Promise<{ account: Account }>;
  /** Lists accounts, oldest first. */
  listAccounts(): Promise<{ accounts: Account[] }>;
  /** Changes only the given settings. @throws NotFoundError */
  updateAccount(input: z.output<typeof updateAccountInput>): Promise<{ account: Account }>;
}

/** The tokens of merchants, for the operator of the server. */
export interface TokenOverview {
  /** Lists the newest tokens of all accounts, or of one; at most 100. @throws NotFoundError (the account) */
  listTokens(
    input: z.output<typeof listTokensInput>,
  ): Promise<{ tokens: (ListedToken & { accountId: string; environment: Environment })[] }>;
  /** Ends a token, named by its text or its id, and closes what it has open. @throws NotFoundError */
  revokeToken(input: z.output<typeof revokeTokenInput>): Promise<{ tokenId: string }>;
}

/** Refuses another key if an account has ten active ones. @throws PreconditionError */
export function assertMayHaveAnotherKey(active: number): void {
  if (active >= MAX_ACTIVE_KEYS)
    throw new PreconditionError(
      'LIMIT_REACHED',
      `This account has ${active} active API keys, and ${MAX_ACTIVE_KEYS} are the most: revoke one first`,
    );
}
