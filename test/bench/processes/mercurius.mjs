// Mercurius with its JIT, set up as its documentation says.
import { createRequire } from 'node:module';
import { answerParent, cpuMicroseconds } from './answer.mjs';
import { createResolvers, typeDefs } from './peer-schema.mjs';

/** The peer's own folder of packages, which is installed when it is needed. */
const installed = createRequire(new URL('../peers/mercurius/', import.meta.url));

answerParent({
  async start() {
    const { default: fastify } = installed('fastify');
    const { default: mercurius } = installed('mercurius');
    const { GraphQLScalarType } = installed('graphql');

    const app = fastify();
    app.register(mercurius, { schema: typeDefs, resolvers: createResolvers(GraphQLScalarType), jit: 1 });
    return { url: await app.listen({ port: 0, host: '127.0.0.1' }) };
  },
  cpu: cpuMicroseconds,
});
