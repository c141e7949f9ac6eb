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
    mutate: ['ledger/postings.ts', 'kernel/money.ts'],
    tests: ['ledger/postings.test.ts', 'kernel/money.test.ts'],
  },
  {
    group: 'ledger',
    mutate: ['ledger/store.ts'],
    tests: ['ledger/store.test.ts'],
    database: true,
  },
  {
    group: 'ledger',
    mutate: ['commit/idempotency.ts'],
    tests: ['commit/idempotency.test.ts', 'payouts/contract.test.ts'],
    database: true,
  },
  {
    group: 'signing',
    mutate: ['webhooks/signing.ts'],
    tests: ['webhooks/signing.test.ts'],
  },
  {
    group: 'tokens',
    mutate: ['access/model.ts', 'access/keys.ts', 'events/credential.ts'],
    tests: ['access/model.test.ts', 'events/credential.test.ts'],
  },
  {
    group: 'tokens',
    mutate: ['access/service.ts', 'card-payments/tokens/model.ts', 'card-payments/tokens/service.ts'],
    tests: ['access/contract.test.ts', 'card-payments/tokens.test.ts'],
    database: true,
  },
  {
    group: 'state machines',
    mutate: [
      'card-payments/model.ts',
      'checkout/model.ts',
      'card-payments/decisions.ts',
      'card-payments/upstream-card-payment.ts',
      'receiving/upstream-payment.ts',
      'receiving/poll-interval.ts',
    ],
    tests: ['card-payments/model.test.ts', 'card-payments/mirror.test.ts'],
  },
  {
    group: 'state machines',
    mutate: ['payments/upstream-payment.ts', 'pix/upstream-resource.ts'],
    tests: ['payments/mirror.test.ts'],
  },
  {
    group: 'ledger',
    mutate: ['receiving/model.ts', 'card-payments/refunding.ts'],
    tests: ['receiving/model.test.ts', 'card-payments/refunding.test.ts', 'disputes/laws.test.ts'],
  },
  {
    group: 'ledger',
    // Of a credit there are types alone in pix/credit.ts.
    mutate: ['pix/decisions.ts', 'pix/refunding.ts', 'charges/decisions.ts'],
    tests: ['pix/decisions.test.ts', 'payments/laws.test.ts', 'charges/laws.test.ts'],
  },
  {
    group: 'ledger',
    mutate: ['charges/splitting.ts', 'charges/percent.ts'],
    tests: ['charges/splitting.test.ts'],
  },
  {
    group: 'state machines',
    mutate: ['refunds/decisions.ts'],
    tests: ['refunds/decisions.test.ts'],
  },
  {
    group: 'state machines',
    mutate: ['refunds/sending.ts'],
    tests: ['refunds/contract.test.ts'],
    database: true,
  },
  {
    group: 'state machines',
    mutate: ['deliveries/decisions.ts'],
    tests: ['deliveries/laws.test.ts'],
  },
  {
    group: 'state machines',
    mutate: ['store/model.ts'],
    tests: ['store/model.test.ts'],
  },
  {
    group: 'state machines',
    mutate: ['ltc/decisions.ts', 'ltc/model.ts'],
    tests: ['ltc/laws.test.ts', 'ltc/decisions.test.ts'],
  },
  {
    group: 'state machines',
    mutate: ['calendar', 'instructions', 'decisions', 'cycles'].map((name) => `subscriptions/${name}.ts`),
    tests: ['calendar', 'instructions', 'decisions', 'laws'].map((name) => `subscriptions/${name}.test.ts`),
  },
  {
    group: 'state machines',
    mutate: ['disputes/decisions.ts', 'pix/disputing.ts'],
    tests: ['disputes/decisions.test.ts', 'disputes/laws.test.ts'],
  },
  {
    group: 'state machines',
    mutate: [
      ...['model', 'decisions', 'limits', 'destinations', 'upstream-payout'].map(
        (name) => `payouts/${name}.ts`,
      ),
    ],
    tests: ['payouts/model.test.ts', 'payouts/mirror.test.ts'],
  },
  {
    group: 'state machines',
    mutate: [
      'subaccounts/model.ts',
      'subaccounts/names.ts',
      'subaccounts/payout-rules.ts',
      'subaccounts/transfers.ts',
      'subaccounts/upstream-payout.ts',
    ],
    tests: ['subaccounts/model.test.ts', 'subaccounts/mirror.test.ts'],
  },
  {
    group: 'state machines',
    mutate: ['wallet/model.ts', 'ledger/funds.ts', 'sandbox/model.ts', 'webhooks/model.ts'],
    tests: ['wallet/model.test.ts', 'sandbox/model.test.ts', 'webhooks/model.test.ts'],
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
