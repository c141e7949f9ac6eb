// Our schema, as the servers that take SDL and resolvers are given it: with resolvers for what is measured.
import { readFileSync } from 'node:fs';
import { PAYOUTS, WALLET } from './data.mjs';

export const typeDefs = readFileSync(new URL('../../../schema.graphql', import.meta.url), 'utf8');

// Inside ours they are other words; not every peer has a place to say so.
const nodes = PAYOUTS.map((payout) => ({
  ...payout,
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
