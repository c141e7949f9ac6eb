// Subscriptions over graphql-ws with Yoga, line for line as in Yoga's documentation.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { answerParent, cpuMicroseconds } from './answer.mjs';
import { cardPayment } from './data.mjs';
import { createResolvers, typeDefs } from './peer-schema.mjs';

/** The peer's own folder of packages, which is installed when it is needed. */
const installed = createRequire(new URL('../peers/yoga/', import.meta.url));

/** @type {any} */
let pubSub;
let published = 0;

answerParent({
  async start() {
    const { createPubSub, createSchema, createYoga } = installed('graphql-yoga');
    const { useServer } = installed('graphql-ws/use/ws');
    const { WebSocketServer } = installed('ws');
    const { GraphQLScalarType } = installed('graphql');

    pubSub = createPubSub();
    const resolvers = {
      ...createResolvers(GraphQLScalarType),
      Subscription: {
        allCardPaymentUpdates: {
          subscribe: () => pubSub.subscribe('cardPayments'),
          resolve: (/** @type {unknown} */ update) => update,
        },
      },
    };
    const yoga = createYoga({
      schema: createSchema({ typeDefs, resolvers }),
      graphiql: { subscriptionsProtocol: 'WS' },
    });
    const httpServer = createServer(yoga);
    const wsServer = new WebSocketServer({ server: httpServer, path: yoga.graphqlEndpoint });
    useServer(
      {
        execute: (/** @type {any} */ args) => args.rootValue.execute(args),
        subscribe: (/** @type {any} */ args) => args.rootValue.subscribe(args),
        onSubscribe: async (/** @type {any} */ ctx, /** @type {string} */ _id, /** @type {any} */ params) => {
          const { schema, execute, subscribe, contextFactory, parse, validate } = yoga.getEnveloped({
            ...ctx,
            req: ctx.extra.request,
            socket: ctx.extra.socket,
            params,
          });
          const args = {
            schema,
            operationName: params.operationName,
            document: parse(params.query),
            variableValues: params.variables,
            contextValue: await contextFactory(),
            rootValue: { execute, subscribe },
          };
          const errors = validate(args.schema, args.document);
          if (errors.length) return errors;
          return args;
        },
      },
      wsServer,
    );
    httpServer.listen(0, '127.0.0.1');
    await once(httpServer, 'listening');
    const address = /** @type {import('node:net').AddressInfo} */ (httpServer.address());
    return { url: `http://127.0.0.1:${address.port}` };
  },
  cpu: cpuMicroseconds,
  tell() {
    const at = String(process.hrtime.bigint());
    published += 1;
    pubSub.publish('cardPayments', {
      cursor: `${published}`.padStart(40, '0'),
      occurredAt: new Date(),
      previousStatus: null,
      cardPayment: cardPayment(published),
    });
    return { at };
  },
});
