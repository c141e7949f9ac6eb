import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  getOperationAST,
  getVariableValues,
  OperationTypeNode,
} from 'graphql';
import { isAsyncIterable, type Plugin } from 'graphql-yoga';
import type { Caller } from '../../../kernel/caller.ts';
import { OutageError } from '../../../kernel/errors.ts';
import { createLRUCache } from '../../../kernel/lru-cache.ts';
import type { Context } from '../../graphql/context.ts';
import { deprecationHeaders } from '../../graphql/deprecations.ts';
import { asksForSchema } from '../../graphql/introspection.ts';
import { compressResponse, encodingFor, MIN_COMPRESSED_BYTES } from '../../http/compression.ts';
import { repeatedMember } from '../../http/json-input.ts';
import { endBatched } from '../../http/routes.ts';
import type { ContextFactory, PresentedCredential } from '../caller-context.ts';
import { bytesOf } from '../documents.ts';
import { tooManyListItems } from '../list-items.ts';
import type { PersistedDocuments, Trust } from '../persisted-documents.ts';
import { REQUEST_PARAMS } from '../request-params.ts';
import { bytesOfCompiled, type CompiledOperation, compileOperation, createCompiledCache } from './compile.ts';

/** The limit on the cached documents. */
const DOCUMENTS_BYTES = 16_000_000;
/** The limit on the cached bodies: whole requests that need no further check. */
const BODIES_BYTES = 16_000_000;
/** The longest body that is cached, in characters. */
const MAX_BODY_LENGTH = 4_000;
/** The memory of an object for each character that it was parsed from. */
const VARIABLES_BYTES = 20;
const ACCEPTS_BYTES = 200_000;
/** The memory of the headers of a response. */
const HEADERS_BYTES = 1_000;

/**
 * A faster replacement for parts of Yoga and of graphql's execution. It only saves time: without it the server sends the
 * same responses. Each query is executed: a response that was kept could be older than a write that its reader has seen.
 * Yoga loads `plugin`, through which the fast path observes Yoga's responses.
 */
export interface FastPath {
  /** Sends the response to a known request. Returns false if nothing was sent, and Yoga answers. @throws OutageError */
  tryAnswer(request: IncomingMessage, response: ServerResponse, body: string): Promise<boolean>;
  /** The number of requests that the fast path has answered. */
  answers(): number;
  plugin: Plugin<object, ServerContext>;
}

interface ServerContext {
  req: IncomingMessage;
}

/**
 * Answers a query that Yoga has answered before, with the same bytes: Yoga takes ten times as long to bring a request to the
 * schema and a result to the client. Only certain requests qualify: Yoga has parsed, validated and executed the same
 * document; Yoga has chosen the media type for the same `Accept`; the limits and the context are the same. Refusals and
 * results with errors are left to Yoga.
 */
export function createFastPath({
  schema,
  contexts,
  documents: persisted,
  presentedBy,
  goneOf,
  headers: commonHeaders,
  compileAfter = 2,
}: {
  schema: GraphQLSchema;
  contexts: ContextFactory;
  documents: PersistedDocuments;
  presentedBy: (request: IncomingMessage) => PresentedCredential;
  /** Returns a signal that aborts when the client has left. */
  goneOf: (response: ServerResponse) => AbortSignal;
  /** The headers of every response. */
  headers: Readonly<Record<string, string>>;
  /** The number of Yoga's answers to a query before it is compiled. */
  compileAfter?: number | undefined;
}): FastPath {
  const documents = createLRUCache<KnownDocument>(DOCUMENTS_BYTES, ({ document }) => bytesOf(document));
  const compiled = createCompiledCache();
  const bodies = createLRUCache<PreparedOperation>(
    BODIES_BYTES,
    ({ run }, body) => bytesOfCompiled(run) + VARIABLES_BYTES * body.length,
  );
  const headersByAccept = createLRUCache<string[]>(ACCEPTS_BYTES, () => HEADERS_BYTES);
  let answers = 0;
  /** Results with errors, which Yoga sends. */
  const resultsForYoga = new WeakMap<IncomingMessage, { result: ExecutionResult; context: Context }>();

  /** Looks a request up before its caller is identified. Returns null if Yoga answers. */
  function matchRequest(body: string): PreparedOperation | KnownRequest | null {
    const prepared = bodies.get(body);
    if (prepared) return prepared;
    const params = parseParams(body, persisted);
    const known = params && documents.get(params.query);
    return known && known.hits >= compileAfter ? { params, document: known.document, body } : null;
  }

  function prepare({ params, document, body }: KnownRequest): PreparedOperation | null {
    const { operationName = null, variables = null } = params;
    const ast = getOperationAST(document, operationName);
    // The whole document is refused to a caller that may not read the schema, and a body with a member twice to every
    // caller.
    if (
      ast?.operation !== OperationTypeNode.QUERY ||
      asksForSchema(document) ||
      repeatedMember(body) !== null
    )
      return null;
    const key = `${ast.name?.value ?? ''} ${params.query}`;
    let run = compiled.get(key);
    if (run === undefined) {
      run = compileOperation(schema, document, ast) ?? false;
      compiled.set(key, run);
    }
    if (!run) return null;
    const { coerced } = getVariableValues(schema, ast.variableDefinitions ?? [], variables ?? {}, {
      maxErrors: 1,
    });
    if (!coerced || tooManyListItems({ schema, document, operationName, variableValues: variables }))
      return null;
    const trust = persisted.trustOf(params.query);
    const operation: PreparedOperation = {
      run,
      variables: deepFreeze(coerced),
      trust,
      deprecation: Object.entries(deprecationHeaders(schema, document)).flat(),
    };
    if (body.length <= MAX_BODY_LENGTH) bodies.set(body, operation);
    return operation;
  }

  return {
    async tryAnswer(request, response, body) {
      const headers = headersByAccept.get(acceptOf(request));
      const matched = headers && matchRequest(body);
      if (!matched) return false;
      const presented = presentedBy(request);
      let caller: Caller | null;
      try {
        const identified = contexts.identify(presented);
        caller = identified instanceof Promise ? await identified : identified;
      } catch (error) {
        // Yoga would wait for the database a second time.
        if (error instanceof OutageError) throw error;
        return false;
      }
      // Nothing is compiled for a caller without a credential.
      const operation = caller && ('run' in matched ? matched : prepare(matched));
      if (!caller || !operation || !persisted.allows(operation.trust, caller)) return false;
      const context = contexts.create(presented, caller, { gone: () => goneOf(response) });
      const running = operation.run(context, operation.variables);
      const { data, errors } = running instanceof Promise ? await running : running;
      const { deprecation } = operation;
      if (errors.length > 0) {
        // Yoga executes no operation whose result is ready, and announces nothing of it.
        for (let at = 0; at < deprecation.length; at += 2)
          response.setHeader(deprecation[at]!, deprecation[at + 1]!);
        resultsForYoga.set(request, { result: { errors, data: JSON.parse(data) }, context });
        return false;
      }
      const extensions = context.extensions();
      const text = extensions
        ? `{"data":${data},"extensions":${JSON.stringify(extensions)}}`
        : `{"data":${data}}`;
      const bytes = Buffer.byteLength(text);
      answers += 1;
      if (bytes >= MIN_COMPRESSED_BYTES) {
        const encoding = encodingFor(request);
        if (encoding) {
          const content = await compressResponse(text, encoding);
          response.writeHead(200, [
            ...[...deprecation, ...headers.slice(0, -1), String(content.length)],
            ...['content-encoding', encoding, 'vary', 'accept-encoding'],
          ]);
          endBatched(response, { content, bytes: content.length });
          return true;
        }
      }
      // The last header of the list is the length. `writeHead` reads the list before it returns, so all responses share it.
      headers[headers.length - 1] = String(bytes);
      // Set one by one, the headers of a deprecation would make the writing of the head take three times as long.
      response.writeHead(200, deprecation.length === 0 ? headers : [...deprecation, ...headers]);
      endBatched(response, { content: text, bytes });
      return true;
    },

    answers: () => answers,

    plugin: {
      onParams({ context, setResult }) {
        const { req } = context as Partial<ServerContext>;
        const ready = req && resultsForYoga.get(req);
        if (!ready) return;
        // The members of the response beside the data.
        Object.assign(context, { extensions: ready.context.extensions });
        setResult(ready.result);
      },
      onExecute({ args: { document, contextValue } }) {
        const text = document.loc?.source.body;
        // An operation of a WebSocket has no request.
        if (text === undefined || !('req' in contextValue) || !(contextValue as unknown as Context).caller)
          return;
        return {
          onExecuteDone({ result }) {
            if (isAsyncIterable(result) || result.errors) return;
            const known = documents.get(text) ?? { document, hits: 0 };
            known.hits += 1;
            documents.set(text, known);
          },
        };
      },
      onResponse({ response, serverContext: { req } }) {
        const type = response.headers.get('content-type');
        if (response.status === 200 && type !== null && JSON_TYPE.test(type))
          headersByAccept.set(acceptOf(req), [
            ...Object.entries(commonHeaders).flat(),
            ...['content-type', type, 'content-length', ''],
          ]);
      },
    },
  };
}

interface KnownDocument {
  document: DocumentNode;
  /** The number of Yoga's answers to it without an error. */
  hits: number;
}

/** A request for an operation of a known document. */
interface KnownRequest {
  params: Params;
  document: DocumentNode;
  body: string;
}

interface PreparedOperation {
  run: CompiledOperation;
  variables: Readonly<Record<string, unknown>>;
  trust: Trust;
  /** The names and the values of the headers that announce a deprecation, in turns. */
  deprecation: string[];
}

const JSON_TYPE = /^application\/(graphql-response\+)?json; charset=utf-8$/;

function acceptOf({ headers }: IncomingMessage): string {
  return headers.accept ?? '';
}

interface Params {
  query: string;
  variables?: Record<string, unknown> | null;
  operationName?: string | null;
}

/** The parameters of a request; null for a body that Yoga may refuse. */
function parseParams(body: string, persisted: PersistedDocuments): Params | null {
  let params: unknown;
  try {
    params = JSON.parse(body);
  } catch {
    return null;
  }
  if (!isObject(params) || Object.keys(params).some((name) => !REQUEST_PARAMS.has(name))) return null;
  const { variables, operationName, extensions } = params;
  if (extensions != null && !isObject(extensions)) return null;
  const isNamed = extensions !== undefined || params.documentId !== undefined;
  const query = isNamed ? persisted.find(params) : params.query;
  if (typeof query !== 'string') return null;
  if (variables != null && !isObject(variables)) return null;
  if (operationName != null && typeof operationName !== 'string') return null;
  return { query, variables, operationName: operationName || null } as Params;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Freezes variables, which all requests with the same body share: a resolver must not change them. */
function deepFreeze<Value>(value: Value): Value {
  if (!Array.isArray(value) && !isPlainObject(value)) return value;
  for (const member of Object.values(value)) deepFreeze(member);
  return Object.freeze(value);
}

function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}
