// Our schema for servers that take SDL and resolvers, with resolvers for the measured fields.
import { readFileSync } from 'node:fs';
import { PAYOUTS, WALLET } from './data.mjs';

export const typeDefs = readFileSync(new URL('../../../schema.graphql', import.meta.url), 'utf8');

// The internal names of enum values differ, and not every peer can map them.
const nodes = PAYOUTS.map((payout) => ({
  ...payout,
  serviceFeeCents: payout.feeCents,
  method: payout.method.toUpperCase(),
  status: payout.status.toUpperCase(),
}));

/** @param {typeof import('graphql').GraphQLScalarType} GraphQLScalarType of the peer's own `graphql` */
export function createResolvers(GraphQLScalarType) {
  return {
    Query: {
      wallet: () => WALLET,
      payouts: () => ({ nodes }),
    },
    DateTime: new GraphQLScalarType({
      name: 'DateTime',
      serialize: (value) => /** @type {Date} */ (value).toISOString(),
    }),
  };
}
