import type { IncomingMessage, ServerResponse } from 'node:http';
import { renderGraphiQL } from '@graphql-yoga/render-graphiql';
import { execute, type GraphQLSchema, parse, subscribe } from 'graphql';
import { createYoga, type Plugin, type YogaServerInstance } from 'graphql-yoga';
import { HttpError, type Route, readBody, sendJson } from '../http/routes.ts';
import type { ContextFactory, Presented } from './caller-context.ts';
import type { Context } from './context.ts';
import { toGraphQLError } from './errors.ts';
import { EXAMPLE_TABS } from './examples.ts';
import { introspectionGuard } from './introspection.ts';
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
    plugins: [limitsPlugin, referenceEngine, introspectionGuard({ open: graphiql, onFault }), partialAnswers],
  });
}

/** The path itself, with what Yoga would let through: its body's size, and forms that another site could post. */
export function graphqlRoute(yoga: Yoga): Route {
  return {
    methods: ['GET', 'POST', 'OPTIONS', 'HEAD'],
    path: /^\/graphql$/,
    async handle({ request, response }) {
      // Answers are the caller's alone; and a page reads a refusal as well as an answer.
      response.setHeader('cache-control', 'no-store');
      response.setHeader('access-control-allow-origin', '*');
      response.setHeader('access-control-expose-headers', 'retry-after');
      try {
        // Where Yoga looks for a body that was read before it.
        if (request.method === 'POST') Object.assign(request, { body: await readOperation(request) });
      } catch (error) {
        if (!(error instanceof HttpError)) throw error;
        const errors = [{ message: error.message, extensions: { code: 'BAD_USER_INPUT' } }];
        return sendJson(response, error.status, { errors }, error.headers);
      }
      await yoga(request, response);
    },
  };
}

/** @throws HttpError 415, 413, 400 */
async function readOperation(request: IncomingMessage): Promise<string> {
  const [type = '', ...parameters] = (request.headers['content-type'] ?? '')
    .split(';')
    .map((part) => part.trim());
  if (type.toLowerCase() !== 'application/json')
    throw new HttpError(415, 'Send the operation as application/json');
  if (parameters.some((parameter) => /^charset=(?!"?utf-8"?$)/i.test(parameter)))
    throw new HttpError(415, 'Send the operation in UTF-8');
  const body = await readBody(request, BODY_LIMIT_BYTES);
  if (body.trim() === '') throw new HttpError(400, 'The body is empty');
  return body;
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

/** What was answered in part is an answer: the status of a refused field would make clients throw it all away. */
const partialAnswers: Plugin = {
  onExecutionResult({ result }) {
    if (!result || Array.isArray(result) || !('data' in result) || result.data == null) return;
    for (const { extensions } of result.errors ?? []) delete extensions?.http;
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
