// Apollo Server's standalone server, set up as its documentation says.
import { createRequire } from 'node:module';
import { answerParent, cpuMicroseconds } from './answer.mjs';
import { createResolvers, typeDefs } from './peer-schema.mjs';

/** The peer's own folder of packages, which is installed when it is needed. */
const installed = createRequire(new URL('../peers/apollo/', import.meta.url));

answerParent({
  async start() {
    const { ApolloServer } = installed('@apollo/server');
    const { startStandaloneServer } = installed('@apollo/server/standalone');
    const { GraphQLScalarType } = installed('graphql');

    const server = new ApolloServer({ typeDefs, resolvers: createResolvers(GraphQLScalarType) });
    const { url } = await startStandaloneServer(server, { listen: { port: 0, host: '127.0.0.1' } });
    return { url: url.replace(/\/$/, '') };
  },
  cpu: cpuMicroseconds,
});
