import { describe, expect, test } from 'vitest';
import {
  assertMayHaveAnotherKey,
  createAccountInput,
  createKeyInput,
  listKeysInput,
  MAX_ACTIVE_KEYS,
  noInput,
  revokeKeyInput,
  updateAccountInput,
} from '../../server/src/access/keys.ts';
import {
  assertMayBind,
  createDashboardTokenInput,
  DEFAULT_SETTINGS,
  normalizeOrigins,
  PAYMENT_TOKEN_MS,
} from '../../server/src/access/model.ts';
import {
  allowsOrigin,
  assertMay,
  assertMayFollowAccount,
  assertUnrestrictedKey,
  bearer,
  type Caller,
  type Credential,
  DASHBOARD_SCOPES,
  type DashboardScope,
  environmentOfKey,
  may,
  mayReadCardPayment,
  mayReadPayment,
  presentsToken,
  type Right,
  rightsOf,
  seesCustomer,
  seesSubaccount,
} from '../../server/src/kernel/caller.ts';
import { PermissionError, PreconditionError, UnauthenticatedError } from '../../server/src/kernel/errors.ts';

/** A token of each scope alone. */
const TOKENS_BY_SCOPE = Object.fromEntries(
  DASHBOARD_SCOPES.map((scope) => [scope, { kind: 'dashboard_token', id: `tok_${scope}`, scopes: [scope] }]),
) as unknown as Record<DashboardScope, Extract<Credential, { kind: 'dashboard_token' }>>;

const CREDENTIALS = {
  key: { kind: 'api_key', id: 'key_1', permissions: [] },
  'key of a service that does not tell': { kind: 'api_key', id: 'key_2', permissions: null },
  manager: { kind: 'api_key', id: 'key_3', permissions: ['subcontas.gerenciar'] },
  both: { kind: 'api_key', id: 'key_6', permissions: ['subcontas.sacar', 'subcontas.gerenciar'] },
  withdrawer: { kind: 'api_key', id: 'key_4', permissions: ['subcontas.sacar'] },
  checkout: {
    kind: 'checkout_token',
    id: 'tok_1',
    grant: { amount: { kind: 'fixed', cents: 500 }, reusable: true },
  },
  payment: { kind: 'payment_token', id: 'tok_2', orderCode: 'PSC-1' },
  'payment by PIX': { kind: 'payment_token', id: 'tok_11', paymentId: 'psa_1' },
  ...TOKENS_BY_SCOPE,
} as const satisfies Record<string, Credential>;
type Who = keyof typeof CREDENTIALS;
const EVERYBODY = Object.keys(CREDENTIALS) as Who[];

const KEYS: Who[] = ['key', 'key of a service that does not tell'];
const PAYERS: Who[] = ['checkout', 'payment', 'payment by PIX'];
const TOKENS_OF_THE_ACCOUNT: readonly Who[] = DASHBOARD_SCOPES;

function caller(credential: Credential, rest: Partial<Caller> = {}): Caller {
  return {
    tenant: { accountId: 'acc_1', environment: 'live' },
    credential,
    allowedOrigins: [],
    expiresAt: null,
    trustedDocumentsOnly: false,
    endsWith: [credential.id],
    ...rest,
  };
}

const mayDo = (right: Right) => (each: Caller) => assertMay(each, right);

const letIn = (assertMay: (caller: Caller) => unknown) =>
  EVERYBODY.filter((who) => {
    try {
      return assertMay(caller(CREDENTIALS[who])) !== false;
    } catch (error) {
      expect(error).toBeInstanceOf(PermissionError);
      return false;
    }
  });

describe('who may', () => {
  test.each<[string, (caller: Caller) => unknown, Who[]]>([
    ['do what no permission covers', assertUnrestrictedKey, KEYS],
    [
      'follow the account',
      assertMayFollowAccount,
      [...KEYS, 'manager', 'both', 'withdrawer', ...TOKENS_OF_THE_ACCOUNT],
    ],
    ['read the wallet', mayDo('wallet.read'), [...KEYS, 'wallet']],
    ['read all card payments', mayDo('card_payments.read'), [...KEYS, 'card_payments']],
    ['read subscriptions', mayDo('subscriptions.read'), [...KEYS, 'subscriptions']],
    ['read payouts', mayDo('payouts.read'), [...KEYS, 'payouts']],
    ['read webhooks', mayDo('webhooks.read'), [...KEYS, 'webhooks']],
    ['read the bodies of webhooks', mayDo('webhooks.payloads'), [...KEYS, 'webhook_payloads']],
    ['read disputes', mayDo('disputes.read'), [...KEYS, 'disputes']],
    ['read products', mayDo('products.read'), [...KEYS, 'products']],
    ['open subaccounts and transfer to them', mayDo('subaccounts.manage'), [...KEYS, 'manager', 'both']],
    ['read subaccounts', mayDo('subaccounts.read'), [...KEYS, 'manager', 'both', 'subaccounts']],
    [
      'request payouts of subaccounts',
      mayDo('subaccount_payouts.request'),
      [...KEYS, 'manager', 'both', 'withdrawer'],
    ],
    [
      'read payouts of subaccounts',
      mayDo('subaccount_payouts.read'),
      [...KEYS, 'manager', 'both', 'withdrawer', 'subaccounts'],
    ],
    ['see whose a subaccount’s payout is', seesSubaccount, EVERYBODY.filter((who) => who !== 'withdrawer')],
    ['see customers', seesCustomer, EVERYBODY.filter((who) => !PAYERS.includes(who))],
    [
      'read the payment PSC-1',
      (each) => mayReadCardPayment(each, 'PSC-1'),
      [...KEYS, 'payment', 'card_payments'],
    ],
    [
      'read the payment psa_1',
      (each) => mayReadPayment(each, 'psa_1'),
      [...KEYS, 'payment by PIX', 'payments'],
    ],
    ['read the payment psa_2', (each) => mayReadPayment(each, 'psa_2'), [...KEYS, 'payments']],
    ['be asked whether they read the wallet', (each) => may(each, 'wallet.read'), [...KEYS, 'wallet']],
    ['read the payment PSC-2', (each) => mayReadCardPayment(each, 'PSC-2'), [...KEYS, 'card_payments']],
  ])('Only these credentials may %s', (_, assertMay, expected) => {
    expect(new Set(letIn(assertMay))).toEqual(new Set(expected));
  });

  test('A refusal lists the permissions that would grant the operation', () => {
    const refusal = (assertMay: (caller: Caller) => void, who: Who) => {
      try {
        assertMay(caller(CREDENTIALS[who]));
      } catch (error) {
        return (error as PermissionError).requiresAnyOf;
      }
      return 'none';
    };
    expect(refusal(mayDo('subaccounts.manage'), 'withdrawer')).toEqual(['subcontas.gerenciar']);
    const neither = caller({ kind: 'api_key', id: 'key_5', permissions: ['other' as never] });
    expect(() => mayDo('subaccount_payouts.request')(neither)).toThrow(
      expect.objectContaining({ requiresAnyOf: ['subcontas.gerenciar', 'subcontas.sacar'] }),
    );
    expect(refusal(mayDo('wallet.read'), 'manager')).toEqual(['statement.read']);
  });

  test('An unrestricted key is identified by its id', () => {
    expect(assertUnrestrictedKey(caller(CREDENTIALS.key))).toBe('key_1');
  });
});

describe('a page’s origin', () => {
  const SHOP = 'https://shop.example';
  test.each([
    [[], SHOP, true],
    [[], null, true],
    [[], undefined, true],
    [[SHOP], SHOP, true],
    [['https://other.example', SHOP], SHOP, true],
    [[SHOP], 'https://other.example', false],
    [[SHOP], `${SHOP}:8443`, false],
    [[SHOP], null, false],
    [[SHOP], undefined, false],
    [[SHOP], 'null', false],
  ])('A token for the origins %j on a page of %j is allowed: %s', (allowedOrigins, origin, allowed) => {
    expect(allowsOrigin(caller(CREDENTIALS.checkout, { allowedOrigins }), origin)).toBe(allowed);
  });
});

describe('callers see the same', () => {
  const of = (credential: Credential, rest: Partial<Caller> = {}) => rightsOf(caller(credential, rest));

  test('Callers with the same account, environment, rights and origins share a key', () => {
    expect(of({ ...CREDENTIALS.key, id: 'key_9' })).toBe(of(CREDENTIALS.key));
    expect(of({ ...CREDENTIALS.wallet, id: 'tok_9' })).toBe(of(CREDENTIALS.wallet));
    expect(of({ ...CREDENTIALS.wallet, scopes: ['wallet', 'payouts'] })).toBe(
      of({ ...CREDENTIALS.wallet, scopes: ['payouts', 'wallet'] }),
    );
  });

  test('Callers that differ in account, environment, rights, origins or payer share no key', () => {
    const all = [
      ...EVERYBODY.filter((who) => who !== 'key of a service that does not tell').map((who) =>
        of(CREDENTIALS[who]),
      ),
      of(CREDENTIALS.key, { tenant: { accountId: 'acc_1', environment: 'sandbox' } }),
      of(CREDENTIALS.key, { tenant: { accountId: 'acc_2', environment: 'live' } }),
      of(CREDENTIALS.key, { allowedOrigins: ['https://shop.example'] }),
      of({ ...CREDENTIALS.wallet, scopes: ['payouts', 'wallet'] }),
      of({ ...CREDENTIALS.payment, orderCode: 'PSC-2' }),
      // Each payer has a share of its own, chosen by its token.
      of({ ...CREDENTIALS.checkout, id: 'tok_9' }),
      of({ ...CREDENTIALS.payment, id: 'tok_9' }),
    ];
    expect(new Set(all).size).toBe(all.length);
  });

  test('The scopes of a caller keep their order', () => {
    const scopes = ['wallet', 'payouts'] as const;
    of({ ...CREDENTIALS.wallet, scopes });
    expect(scopes).toEqual(['wallet', 'payouts']);
  });
});

describe('an Authorization header', () => {
  test.each([
    ['Bearer ps_live_a', 'ps_live_a'],
    ['bearer ps_live_a', 'ps_live_a'],
    ['Bearer   ps_live_a', 'ps_live_a'],
    ['Bearer a.b-c_d~e+f/g==', 'a.b-c_d~e+f/g=='],
    [`Bearer ${'a'.repeat(256)}`, 'a'.repeat(256)],
  ])('The header %j carries the credential %j', (header, credential) => {
    expect(bearer(header)).toBe(credential);
  });

  test.each([
    null,
    undefined,
    '',
    'ps_live_a',
    'Bearer',
    'Bearer ',
    'Bearerps_live_a',
    'Basic ps_live_a',
    'xBearer ps_live_a',
    'Bearer ps_live_a ',
    'Bearer ps_live_a b',
    'Bearer =a',
    'Bearer a=b',
    'Bearer ps_live_\n',
    `Bearer ${'a'.repeat(257)}`,
  ])('The header %j carries no credential', (header) => {
    expect(() => bearer(header)).toThrow(UnauthenticatedError);
  });

  test.each([
    ['ps_live_a', 'live'],
    ['ps_test_a', 'sandbox'],
    ['ps_checkout_a', null],
    ['xps_live_a', null],
    ['xps_test_a', null],
    ['a_ps_live_', null],
    ['a_ps_test_', null],
    ['', null],
  ])('The credential %j is a key of %s', (secret, environment) => {
    expect(environmentOfKey(secret)).toBe(environment);
  });
});

/** The path of each refusal; null without one. */
function wrong(result: {
  success: boolean;
  error?: { issues: { path: PropertyKey[] }[] } | undefined;
}): string[] | null {
  return result.success ? null : [...new Set(result.error!.issues.map(({ path }) => path.join('.')))];
}

test.each([
  ['Bearer ps_checkout_1', true],
  ['bearer   ps_payment_1', true],
  ['Bearer ps_dashboard_1', true],
  ['Bearer ps_live_1', false],
  ['Bearer x ps_checkout_1', false],
  ['Basic ps_checkout_1', false],
  ['x Bearer ps_checkout_1', false],
  [null, false],
  [undefined, false],
])('The header %j presents a token of this server: %j', (header, expected) => {
  expect(presentsToken(header)).toBe(expected);
});

test('A payment token lives for seven days', () => {
  expect(PAYMENT_TOKEN_MS).toBe(7 * 24 * 3_600_000);
});

test('Origins are kept as a browser sends them, and none is no origin', () => {
  expect(normalizeOrigins(['HTTPS://Shop.example:443/', 'http://localhost:80'])).toEqual([
    'https://shop.example',
    'http://localhost',
  ]);
  expect([normalizeOrigins(null), normalizeOrigins(undefined)]).toEqual([[], []]);
});

test('A token is bound to trusted documents only where the server has a manifest of them', () => {
  for (const [isBound, hasManifest] of [
    [true, true],
    [false, true],
    [false, false],
  ] as const)
    expect(() => assertMayBind(isBound, hasManifest)).not.toThrow();
  expect(() => assertMayBind(true, false)).toThrow(
    expect.objectContaining({
      fields: [
        {
          path: 'input.trustedDocumentsOnly',
          message: 'must be left out, because this server has no manifest of trusted documents',
        },
      ],
    }),
  );
});

describe('a dashboard token', () => {
  const SCOPES = [
    'wallet',
    'payouts',
    'subaccounts',
    'card_payments',
    'disputes',
    'products',
    'webhooks',
    'webhook_payloads',
  ];
  test.each<[string[] | null, Record<string, unknown>]>([
    [null, { scopes: SCOPES }],
    [null, { scopes: ['wallet'], expiresInSeconds: 60, allowedOrigins: ['https://shop.example'] }],
    [null, { scopes: ['wallet'], expiresInSeconds: 86_400 }],
    [null, { scopes: ['wallet'], expiresInSeconds: null }],
    [
      ['allowedOrigins', 'trustedDocumentsOnly'],
      { scopes: ['wallet'], allowedOrigins: null, trustedDocumentsOnly: null },
    ],
    [['scopes'], {}],
    [['scopes'], { scopes: [] }],
    [['scopes'], { scopes: ['wallet', 'wallet'] }],
    [['scopes.0'], { scopes: ['wallets'] }],
    [['scopes.0'], { scopes: [''] }],
    [['expiresInSeconds'], { scopes: ['wallet'], expiresInSeconds: 59 }],
    [['expiresInSeconds'], { scopes: ['wallet'], expiresInSeconds: 61.5 }],
    [['expiresInSeconds'], { scopes: ['wallet'], expiresInSeconds: 86_401 }],
    [['allowedOrigins.0'], { scopes: ['wallet'], allowedOrigins: ['shop.example'] }],
  ])('A dashboard token’s input is refused for %j: %j', (fields, asked) => {
    expect(wrong(createDashboardTokenInput.safeParse(asked))).toEqual(fields);
  });

  test('A dashboard token’s input is kept as it was given', () => {
    const asked = { scopes: ['wallet'], expiresInSeconds: 60, allowedOrigins: ['https://shop.example'] };
    expect(createDashboardTokenInput.parse(asked)).toEqual(asked);
  });
});

describe('what is asked about keys and accounts', () => {
  const key = (rest: Record<string, unknown>) => ({
    environment: 'live',
    permissions: [],
    name: null,
    ...rest,
  });
  test.each<[string[] | null, { safeParse(value: unknown): Parameters<typeof wrong>[0] }, unknown]>([
    [null, createKeyInput, key({})],
    [null, createKeyInput, key({ accountId: 'acc_1', environment: 'sandbox', name: 'Caixa' })],
    [null, createKeyInput, key({ accountId: 'a'.repeat(100), name: 'a'.repeat(100) })],
    [null, createKeyInput, key({ permissions: ['subcontas.gerenciar', 'subcontas.sacar'] })],
    [['permissions.0'], createKeyInput, key({ permissions: ['subcontas'] })],
    [['permissions.0'], createKeyInput, key({ permissions: [''] })],
    [['environment'], createKeyInput, key({ environment: 'test' })],
    [['environment'], createKeyInput, key({ environment: '' })],
    [['name'], createKeyInput, key({ name: '' })],
    [['name'], createKeyInput, key({ name: 'a'.repeat(101) })],
    [['accountId'], createKeyInput, key({ accountId: '' })],
    [['accountId'], createKeyInput, key({ accountId: 'a'.repeat(101) })],
    [[''], createKeyInput, key({ secret: 'mine' })],
    [['environment', 'permissions', 'name'], createKeyInput, {}],
    [null, listKeysInput, { revokedToo: true }],
    [null, listKeysInput, { revokedToo: false, accountId: 'acc_1' }],
    [['revokedToo'], listKeysInput, {}],
    [[''], listKeysInput, { revokedToo: true, other: 1 }],
    [null, revokeKeyInput, { id: 'key_1' }],
    [['id'], revokeKeyInput, {}],
    [[''], revokeKeyInput, { id: 'key_1', other: 1 }],
    [null, noInput, {}],
    [[''], noInput, { other: 1 }],
    [null, createAccountInput, { name: 'Padaria' }],
    [
      null,
      createAccountInput,
      {
        name: 'Padaria',
        cardPaymentsEnabled: false,
        cardReleaseDays: 0,
        payoutFeesCents: { pix: 0, pix_turbo: 100_000, ltc: 5, usd: 5 },
        subaccountMarkupCents: 100_000,
        pixEnabled: false,
        pixFeeCents: 100_000,
        ltcEnabled: false,
        pixMaxCents: 1_500_000,
      },
    ],
    [null, createAccountInput, { name: 'Padaria', cardReleaseDays: 365 }],
    [['name'], createAccountInput, {}],
    [[''], createAccountInput, { name: 'Padaria', other: 1 }],
    [['cardReleaseDays'], createAccountInput, { name: 'Padaria', cardReleaseDays: 366 }],
    [['cardReleaseDays'], createAccountInput, { name: 'Padaria', cardReleaseDays: -1 }],
    [['cardReleaseDays'], createAccountInput, { name: 'Padaria', cardReleaseDays: 1.5 }],
    [['cardPaymentsEnabled'], createAccountInput, { name: 'Padaria', cardPaymentsEnabled: 'no' }],
    [['subaccountMarkupCents'], createAccountInput, { name: 'Padaria', subaccountMarkupCents: -1 }],
    [['subaccountMarkupCents'], createAccountInput, { name: 'Padaria', subaccountMarkupCents: 0.5 }],
    [['subaccountMarkupCents'], createAccountInput, { name: 'Padaria', subaccountMarkupCents: 100_001 }],
    [['pixFeeCents'], createAccountInput, { name: 'Padaria', pixFeeCents: 100_001 }],
    [['pixFeeCents'], createAccountInput, { name: 'Padaria', pixFeeCents: 0.5 }],
    [['pixMaxCents'], createAccountInput, { name: 'Padaria', pixMaxCents: 0 }],
    [['pixMaxCents'], createAccountInput, { name: 'Padaria', pixMaxCents: 1.5 }],
    [null, updateAccountInput, { id: 'acc_1', pixMaxCents: null }],
    [['pixEnabled'], createAccountInput, { name: 'Padaria', pixEnabled: 'no' }],
    [['ltcEnabled'], createAccountInput, { name: 'Padaria', ltcEnabled: 1 }],
    [['payoutFeesCents.pix'], createAccountInput, { name: 'Padaria', payoutFeesCents: { pix: 100_001 } }],
    [['payoutFeesCents'], createAccountInput, { name: 'Padaria', payoutFeesCents: {} }],
    [['payoutFeesCents'], createAccountInput, { name: 'Padaria', payoutFeesCents: { pix: undefined } }],
    [['payoutFeesCents'], createAccountInput, { name: 'Padaria', payoutFeesCents: { card: 5 } }],
    [null, createAccountInput, { name: 'Padaria', payoutFeesCents: { usd: 5 } }],
    [null, updateAccountInput, { id: 'acc_1', name: 'Padaria' }],
    [null, updateAccountInput, { id: 'acc_1', cardPaymentsEnabled: false }],
    [null, updateAccountInput, { id: 'acc_1', name: undefined, cardReleaseDays: 1 }],
    [[''], updateAccountInput, { id: 'acc_1' }],
    [[''], updateAccountInput, { id: 'acc_1', name: undefined, cardReleaseDays: undefined }],
    [['id'], updateAccountInput, { name: 'Padaria' }],
    [[''], updateAccountInput, { id: 'acc_1', name: 'Padaria', other: 1 }],
  ])('An input about keys or accounts is refused for %j: %# %j', (fields, schema, asked) => {
    expect(wrong(schema.safeParse(asked))).toEqual(fields);
  });

  test('An input is kept as it was given, without repeated permissions', () => {
    const settings = {
      name: 'Padaria',
      cardPaymentsEnabled: false,
      cardReleaseDays: 3,
      payoutFeesCents: { pix: 1, pix_turbo: 2, ltc: 3, usd: 4 },
      subaccountMarkupCents: 5,
      pixEnabled: false,
      pixFeeCents: 6,
      ltcEnabled: false,
    };
    expect(createAccountInput.parse(settings)).toEqual(settings);
    expect(updateAccountInput.parse({ id: 'acc_1', ...settings })).toEqual({ id: 'acc_1', ...settings });
    expect(
      createKeyInput.parse(key({ permissions: ['subcontas.sacar', 'subcontas.sacar'] })).permissions,
    ).toEqual(['subcontas.sacar']);
  });

  test('An account without settings has the service’s defaults', () => {
    expect(DEFAULT_SETTINGS).toEqual({
      cardPaymentsEnabled: true,
      cardReleaseDays: 14,
      pixEnabled: true,
      pixFeeCents: 0,
      ltcEnabled: true,
      payoutFeesCents: expect.objectContaining({ pix: 100, pix_turbo: 200, ltc: 500, usd: 500 }),
      pixMaxCents: null,
      subaccountMarkupCents: 50,
    });
  });

  test('The eleventh active key is refused', () => {
    expect(() => assertMayHaveAnotherKey(MAX_ACTIVE_KEYS - 1)).not.toThrow();
    for (const active of [MAX_ACTIVE_KEYS, MAX_ACTIVE_KEYS + 1])
      expect(() => assertMayHaveAnotherKey(active)).toThrow(
        expect.objectContaining({ constructor: PreconditionError, code: 'LIMIT_REACHED' }),
      );
    expect(MAX_ACTIVE_KEYS).toBe(10);
  });
});
