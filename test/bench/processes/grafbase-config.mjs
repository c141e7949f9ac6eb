/** The measured part of the service in GraphQL: a router asks for it in this form alone. */
export const SERVICE_SCHEMA = `
  type Query {
    wallet: Wallet!
    cardPayment(orderCode: String!): CardPayment
  }
  type Wallet { balanceCents: Int! withdrawableCents: Int! pendingReleaseCents: Int! }
  type CardPayment {
    orderCode: String!
    status: String!
    amountCents: Int!
    currency: String!
    checkoutUrl: String!
    expiresAt: String!
    createdAt: String!
    description: String
    paidAt: String
  }`;

/** The configuration of Grafbase in front of that service. @param {string} upstream @param {string} schemaPath */
export const configOf = (upstream, schemaPath) => `
[subgraphs.payments]
schema_path = ${JSON.stringify(schemaPath)}
url = ${JSON.stringify(`${upstream}/graphql`)}

[[headers]]
rule = "forward"
name = "authorization"
`;
