/**
 * The mutated files, and the fast tests that must notice. Each target is a run of its own, so that
 * code that runs once, such as a schema, is tried against the tests of its target alone.
 *
 * @typedef {object} Target
 * @property {'ledger' | 'signing' | 'tokens' | 'state machines'} group whose score is held against the least
 * @property {string[]} mutate below server/src
 * @property {string[]} tests below test
 * @property {boolean} [database] the tests need one: each gets a copy of a PostgreSQL template in milliseconds
 */

/** @type {Target[]} */
export const TARGETS = [
  {
    group: 'ledger',
    mutate: ['state/ledger/postings.ts', 'kernel/money.ts'],
    tests: ['state/ledger/postings.test.ts', 'kernel/money.test.ts'],
  },
  {
    group: 'ledger',
    mutate: ['state/ledger/store.ts'],
    tests: ['state/ledger/store.test.ts'],
    database: true,
  },
  {
    group: 'ledger',
    mutate: ['state/commit/idempotency.ts'],
    tests: ['state/commit/idempotency.test.ts', 'money-out/payouts/contract.test.ts'],
    database: true,
  },
  {
    group: 'signing',
    mutate: ['webhooks/signing.ts'],
    tests: ['webhooks/signing.test.ts'],
  },
  {
    group: 'tokens',
    mutate: ['kernel/caller.ts', 'access/model.ts', 'access/keys.ts', 'state/events/credential.ts'],
    tests: ['access/model.test.ts', 'access/brand.test.ts', 'state/events/credential.test.ts'],
  },
  {
    group: 'tokens',
    mutate: [
      'access/service.ts',
      'money-in/card-payments/tokens/model.ts',
      'money-in/card-payments/tokens/service.ts',
    ],
    tests: ['access/contract.test.ts', 'money-in/card-payments/tokens.test.ts'],
    database: true,
  },
  {
    group: 'state machines',
    mutate: [
      'money-in/card-payments/model.ts',
      'money-in/checkout/model.ts',
      'money-in/card-payments/decisions.ts',
      'money-in/card-payments/upstream-card-payment.ts',
      'money-in/receiving/upstream-payment.ts',
      'money-in/receiving/poll-interval.ts',
    ],
    tests: ['money-in/card-payments/model.test.ts', 'money-in/card-payments/mirror.test.ts'],
  },
  {
    group: 'state machines',
    mutate: ['money-in/payments/upstream-payment.ts', 'money-in/pix/upstream-resource.ts'],
    tests: ['money-in/payments/mirror.test.ts'],
  },
  {
    group: 'ledger',
    mutate: ['money-in/receiving/model.ts', 'money-in/card-payments/refunding.ts'],
    tests: [
      'money-in/receiving/model.test.ts',
      'money-in/card-payments/refunding.test.ts',
      'money-in/disputes/laws.test.ts',
    ],
  },
  {
    group: 'ledger',
    // pix/credit.ts has only types.
    mutate: ['money-in/pix/decisions.ts', 'money-in/pix/refunding.ts', 'money-in/charges/decisions.ts'],
    tests: [
      'money-in/pix/decisions.test.ts',
      'money-in/payments/laws.test.ts',
      'money-in/charges/laws.test.ts',
    ],
  },
  {
    group: 'ledger',
    mutate: ['money-in/charges/splitting.ts', 'money-in/charges/percent.ts'],
    tests: ['money-in/charges/splitting.test.ts'],
  },
  {
    group: 'state machines',
    mutate: ['money-in/refunds/decisions.ts'],
    tests: ['money-in/refunds/decisions.test.ts'],
  },
  {
    group: 'state machines',
    mutate: ['money-in/refunds/sending.ts'],
    tests: ['money-in/refunds/contract.test.ts'],
    database: true,
  },
  {
    group: 'state machines',
    mutate: ['catalogue/deliveries/decisions.ts'],
    tests: ['catalogue/deliveries/laws.test.ts'],
  },
  {
    group: 'state machines',
    mutate: ['catalogue/store/model.ts'],
    tests: ['catalogue/store/model.test.ts'],
  },
  {
    group: 'state machines',
    mutate: ['money-in/ltc/decisions.ts', 'money-in/ltc/model.ts'],
    tests: ['money-in/ltc/laws.test.ts', 'money-in/ltc/decisions.test.ts'],
  },
  {
    group: 'state machines',
    mutate: ['calendar', 'instructions', 'decisions', 'cycles'].map(
      (name) => `money-in/subscriptions/${name}.ts`,
    ),
    tests: ['calendar', 'instructions', 'decisions', 'laws'].map(
      (name) => `money-in/subscriptions/${name}.test.ts`,
    ),
  },
  {
    group: 'state machines',
    mutate: ['money-in/disputes/decisions.ts', 'money-in/pix/disputing.ts'],
    tests: ['money-in/disputes/decisions.test.ts', 'money-in/disputes/laws.test.ts'],
  },
  {
    group: 'state machines',
    mutate: [
      ...['model', 'decisions', 'limits', 'destinations', 'upstream-payout'].map(
        (name) => `money-out/payouts/${name}.ts`,
      ),
    ],
    tests: ['money-out/payouts/model.test.ts', 'money-out/payouts/mirror.test.ts'],
  },
  {
    group: 'state machines',
    mutate: [
      'money-out/subaccounts/model.ts',
      'money-out/subaccounts/names.ts',
      'money-out/subaccounts/payout-rules.ts',
      'money-out/subaccounts/transfers.ts',
      'money-out/subaccounts/upstream-payout.ts',
    ],
    tests: ['money-out/subaccounts/model.test.ts', 'money-out/subaccounts/mirror.test.ts'],
  },
  {
    group: 'state machines',
    mutate: [
      'money-out/wallet/model.ts',
      'state/ledger/funds.ts',
      'money-in/sandbox/model.ts',
      'webhooks/model.ts',
    ],
    tests: ['money-out/wallet/model.test.ts', 'money-in/sandbox/model.test.ts', 'webhooks/model.test.ts'],
  },
  ...Object.entries({ 'card-payments': 'charging', payouts: 'sending', subaccounts: 'sending' }).map(
    ([slice, file]) => ({
      group: /** @type {const} */ ('state machines'),
      mutate: [`${slice}/${file}.ts`],
      tests: [`${slice}/contract.test.ts`],
      database: true,
    }),
  ),
];
