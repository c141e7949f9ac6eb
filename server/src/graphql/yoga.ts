import type { IncomingMessage, ServerResponse } from 'node:http';
import { renderGraphiQL } from '@graphql-yoga/render-graphiql';
import { execute, type GraphQLSchema, parse, subscribe } from 'graphql';
import { createYoga, type Plugin, type YogaServerInstance } from 'graphql-yoga';
import { HttpError, type Route, readBody } from '../http/routes.ts';
import type { ContextFactory, Presented } from './caller-context.ts';
import type { Context } from './context.ts';
import { toGraphQLError } from './errors.ts';
import { EXAMPLE_TABS } from './examples.ts';
import { documentLimits, LIMITS } from './limits.ts';

export type Yoga = YogaServerInstance<{ req: IncomingMessage; res: ServerResponse }, Context>;

const BODY_LIMIT_BYTES = 100_000;

export function createGraphQLServer({
  schema,
  contexts,
  graphiql,
  onFault,
}: {
  schema: GraphQLSchema;
  contexts: ContextFactory;
  graphiql: boolean;
  onFault: (fault: unknown) => void;
}): Yoga {
  return createYoga<{ req: IncomingMessage; res: ServerResponse }, Context>({
    schema,
    context: async ({ req, request }) => {
      const presented = presentedBy(req, request.headers.get('authorization'));
      return contexts.create(presented, await contexts.identify(presented));
    },
    // Any page may embed the widget; nothing is allowed by a cookie, so there is nothing to protect from a page.
    cors: {
      origin: '*',
      credentials: false,
      methods: ['GET', 'POST', 'OPTIONS'],
      allowedHeaders: ['authorization', 'content-type', 'accept'],
      maxAge: 86_400,
    },
    maskedErrors: { maskError: (error) => toGraphQLError(error, onFault) },
    graphiql: graphiql && { title: 'PSA', ...EXAMPLE_TABS },
    renderGraphiQL,
    landingPage: false,
    multipart: false,
    // Yoga's own cap rebuilds each request through a stream, which costs two thirds of its speed; `graphqlRoute` has one.
    maxRequestBodySize: false,
    logging: false,
    plugins: [limitsPlugin, referenceEngine],
  });
}

/** The path itself, with what Yoga would let through: its body's size, and forms that another site could post. */
export function graphqlRoute(yoga: Yoga): Route {
  return {
    methods: ['GET', 'POST', 'OPTIONS', 'HEAD'],
    path: /^\/graphql$/,
    async handle({ request, response }) {
      if (request.method === 'POST') {
        const type = request.headers['content-type'] ?? '';
        if (!/^application\/json\s*(;|$)/i.test(type))
          throw new HttpError(415, 'Send the operation as application/json');
        const body = await readBody(request, BODY_LIMIT_BYTES);
        if (body === '') throw new HttpError(400, 'The body is empty');
        // Where Yoga looks for a body that was read before it.
        Object.assign(request, { body });
      }
      await yoga(request, response);
    },
  };
}

/** The sender of an HTTP request. */
export function presentedBy(request: IncomingMessage, authorization: string | null): Presented {
  return {
    authorization,
    origin: request.headers.origin ?? null,
    address: request.socket.remoteAddress ?? '',
  };
}

/** Yoga's own executor puts a field that resolves later behind its siblings; the reference keeps the query's order. */
const referenceEngine: Plugin = {
  onExecute({ setExecuteFn }) {
    setExecuteFn(execute);
  },
  onSubscribe({ setSubscribeFn }) {
    setSubscribeFn(subscribe);
  },
};

const limitsPlugin: Plugin = {
  onParse({ setParseFn }) {
    setParseFn((source: string, options: object) => parse(source, { ...options, maxTokens: LIMITS.tokens }));
  },
  onValidate({ addValidationRule }) {
    addValidationRule(documentLimits);
  },
};
