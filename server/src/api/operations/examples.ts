/** The tabs that GraphiQL opens with: the steps of a payment, then those of a payout, in the order to try them. */
const START = `# Put an API key into the field above.
# It is sent with the requests of each tab.

query Wallet {
  viewer {
    environment
    credential
    rateLimit { limit remaining resetAt }
  }
  wallet {
    balanceCents
    withdrawableCents
    pendingReleaseCents
  }
}
`;

const CREATE = `# Open checkoutUrl in a new tab and pay
# with the card 4242 4242 4242 4242.

mutation CreateCardPayment($input: CreateCardPaymentInput!) {
  createCardPayment(input: $input) {
    ... on CreateCardPaymentSuccess {
      replayed
      cardPayment { orderCode status amountCents checkoutUrl expiresAt }
    }
    ... on ValidationError { message fields { path message } }
    ... on UserError { code message }
  }
}
`;

const FOLLOW = `# Start it, then pay in another tab:
# the status comes by itself.

subscription FollowCardPayments {
  allCardPaymentUpdates {
    cursor
    occurredAt
    previousStatus
    cardPayment { orderCode status amountCents paidAt version }
  }
}
`;

const LIST = `query CardPayments {
  updatesCursor
  cardPayments(first: 10) {
    totalCount
    nodes { orderCode status amountCents description createdAt paidAt }
    pageInfo { hasNextPage endCursor }
  }
}
`;

const TOKEN = `# What a page may show to everyone: put
# the token into <psa-checkout>.

mutation CreateCheckoutToken {
  createCheckoutToken(input: { amount: { fixedCents: 4990 }, description: "Caneca", reusable: true }) {
    ... on CreateCheckoutTokenSuccess { token expiresAt }
    ... on ValidationError { message fields { path message } }
    ... on UserError { code message }
  }
}
`;

const PAYOUT = `# The balance must cover it: credit some
# at /simulator first. negado@psa.example is
# denied, demora@psa.example waits.

mutation RequestPayout($input: RequestPayoutInput!) {
  requestPayout(input: $input) {
    ... on RequestPayoutSuccess {
      replayed
      payout { withdrawalId code status amountCents serviceFeeCents destination }
    }
    ... on InsufficientFundsError { message withdrawableCents }
    ... on ValidationError { message fields { path message } }
    ... on UserError { code message }
  }
}
`;

const FOLLOW_PAYOUTS = `# Start it, then request a payout in the
# other tab: PENDING, then COMPLETED.

subscription FollowPayouts {
  allPayoutUpdates {
    occurredAt
    previousStatus
    payout { code method status amountCents final version }
  }
}
`;

const CREATE_VARIABLES = JSON.stringify(
  {
    input: {
      amountCents: 4990,
      description: 'Caneca de cerâmica',
      customer: { name: 'Ana', email: 'ana@example.com' },
    },
  },
  null,
  2,
);

const PAYOUT_VARIABLES = JSON.stringify(
  {
    input: {
      method: 'PIX_TURBO',
      amountCents: 2550,
      destination: 'ana@example.com',
      idempotencyKey: 'graphiql-1',
    },
  },
  null,
  2,
);

export const EXAMPLE_TABS: {
  defaultQuery: string;
  defaultTabs: { query: string; variables?: string }[];
} = {
  defaultQuery: START,
  defaultTabs: [
    { query: START },
    { query: CREATE, variables: CREATE_VARIABLES },
    { query: FOLLOW },
    { query: LIST },
    { query: TOKEN },
    { query: PAYOUT, variables: PAYOUT_VARIABLES },
    { query: FOLLOW_PAYOUTS },
  ],
};
