/** What GraphiQL opens with: the way of one payment, in the order in which one would try it. */
const START = `# Put the API key that the server printed at its first start into "Headers" below:
# { "authorization": "Bearer ps_live_…" }

query Wallet {
  viewer { environment credential rateLimit { limit remaining } }
  wallet { balanceCents withdrawableCents pendingReleaseCents }
}
`;

const CREATE = `# Open checkoutUrl in a new tab and pay with the test card 4242 4242 4242 4242.

mutation CreateCardPayment($input: CreateCardPaymentInput!) {
  createCardPayment(input: $input) {
    ... on CardPaymentSuccess {
      replayed
      cardPayment { orderCode status amountCents checkoutUrl expiresAt }
    }
    ... on ValidationError { message fields { path message } }
    ... on UserError { code message }
  }
}
`;

const FOLLOW = `# Start it, then pay in another tab: the status comes by itself.

subscription CardPayments {
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

const TOKEN = `# What a page shows to everyone: put the token into <psa-checkout>.

mutation CreateCheckoutToken {
  createCheckoutToken(input: { amount: { fixedCents: 4990 }, description: "Caneca", reusable: true }) {
    ... on CheckoutTokenSuccess { token expiresAt }
    ... on ValidationError { message fields { path message } }
    ... on UserError { code message }
  }
}
`;

/** Empty, for a key that is none would keep GraphiQL from reading the schema. */
const HEADERS = '{}';
const CREATE_VARIABLES = JSON.stringify(
  {
    input: {
      valueCents: 4990,
      description: 'Caneca de cerâmica',
      customer: { name: 'Ana', email: 'ana@example.com' },
    },
  },
  null,
  2,
);

export const EXAMPLE_TABS: {
  defaultQuery: string;
  headers: string;
  defaultTabs: { query: string; headers: string; variables?: string }[];
} = {
  defaultQuery: START,
  headers: HEADERS,
  defaultTabs: [
    { query: START, headers: HEADERS },
    { query: CREATE, headers: HEADERS, variables: CREATE_VARIABLES },
    { query: FOLLOW, headers: HEADERS },
    { query: LIST, headers: HEADERS },
    { query: TOKEN, headers: HEADERS },
  ],
};
