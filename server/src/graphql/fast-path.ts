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
import type { Caller } from '../access/model.ts';
import { endBatched } from '../http/routes.ts';
import { OutageError } from '../kernel/errors.ts';
import { createLRUCache } from '../kernel/lru-cache.ts';
import type { ContextFactory, PresentedCredential } from './caller-context.ts';
import { bytesOfCompiled, type CompiledOperation, compileOperation, createCompiled } from './compiled.ts';
import type { Context } from './context.ts';
import { bytesOf } from './documents.ts';
import { asksForSchema } from './introspection.ts';
import { tooManyListItems } from './list-items.ts';

/** Bytes of the documents that are kept, and of whole requests of which nothing has to be looked at again. */
const DOCUMENTS_BYTES = 16_000_000;
const BODIES_BYTES = 16_000_000;
/** Characters of such a request. */
const LONGEST_BODY = 4_000;
/** Its variables: an object takes some 20 bytes for each character that it was read from. */
const VARIABLES_BYTES = 20;
const ACCEPTS_BYTES = 200_000;
/** The headers of an answer. */
const HEADERS_BYTES = 1_000;

export interface FastPath {
  /** Whether the request is answered; if not, it is Yoga's. @throws OutageError */
  answer(request: IncomingMessage, response: ServerResponse, body: string): Promise<boolean>;
  /** How many it has answered. */
  answers(): number;
  /** Looks at what Yoga has answered. */
  observeResponse(request: IncomingMessage, response: ServerResponse): void;
  /** Yoga's side of it. */
  plugin: Plugin;
}

/**
 * Answers, in front of Yoga, a query that Yoga has answered before, with the same bytes: Yoga takes ten times as long to bring
 * a request to the schema and an answer from it. It keeps to what is certain: the document is one that Yoga has
 * parsed, validated and run; the media type is the one that Yoga chose for the same `Accept`; the same limits and
 * the same context apply. Whatever is refused, and every answer with errors, Yoga writes.
 */
export function createFastPath({
  schema,
  contexts,
  presentedBy,
  goneOf,
  headers: always,
  compileAfter = 2,
}: {
  schema: GraphQLSchema;
  contexts: ContextFactory;
  presentedBy: (request: IncomingMessage) => PresentedCredential;
  /** Aborts when the client has left. */
  goneOf: (response: ServerResponse) => AbortSignal;
  /** Of every answer. */
  headers: Readonly<Record<string, string>>;
  /** How often Yoga answers a query before it is compiled. */
  compileAfter?: number | undefined;
}): FastPath {
  const documents = createLRUCache<KnownDocument>(DOCUMENTS_BYTES, ({ document }) => bytesOf(document));
  const compiled = createCompiled();
  const bodies = createLRUCache<Operation>(
    BODIES_BYTES,
    ({ run }, body) => bytesOfCompiled(run) + VARIABLES_BYTES * body.length,
  );
  const headersByAccept = createLRUCache<string[]>(ACCEPTS_BYTES, () => HEADERS_BYTES);
  let answers = 0;
  const finished = new WeakMap<IncomingMessage, { result: ExecutionResult; context: Context }>();

  /** What is known of it; the rest is done for a caller. Null for what is Yoga's. */
  function askedIn(body: string): Operation | Asked | null {
    const before = bodies.get(body);
    if (before) return before;
    const params = parseParams(body);
    const known = params && documents.get(params.query);
    return known && known.hits >= compileAfter ? { params, document: known.document, body } : null;
  }

  function prepare({ params, document, body }: Asked): Operation | null {
    const { operationName = null, variables = null } = params;
    const ast = getOperationAST(document, operationName);
    // Whoever may not ask for the schema is told so for the whole document.
    if (ast?.operation !== OperationTypeNode.QUERY || asksForSchema(document)) return null;
    const name = `${ast.name?.value ?? ''} ${params.query}`;
    let run = compiled.get(name);
    if (run === undefined) {
      run = compileOperation(schema, document, ast) ?? false;
      compiled.set(name, run);
    }
    if (!run) return null;
    const { coerced } = getVariableValues(schema, ast.variableDefinitions ?? [], variables ?? {}, {
      maxErrors: 1,
    });
    if (!coerced || tooManyListItems({ schema, document, operationName, variableValues: variables }))
      return null;
    const operation: Operation = { run, variables: frozen(coerced) };
    if (body.length <= LONGEST_BODY) bodies.set(body, operation);
    return operation;
  }

  return {
    async answer(request, response, body) {
      const headers = headersByAccept.get(acceptOf(request));
      const asked = headers && askedIn(body);
      if (!asked) return false;
      const presented = presentedBy(request);
      let caller: Caller | null;
      try {
        const identified = contexts.identify(presented);
        caller = identified instanceof Promise ? await identified : identified;
      } catch (error) {
        // Yoga would wait for the database once more.
        if (error instanceof OutageError) throw error;
        return false;
      }
      // Nothing is compiled for a caller without a credential.
      const operation = caller && ('run' in asked ? asked : prepare(asked));
      if (!caller || !operation) return false;
      const context = contexts.create(presented, caller, { gone: () => goneOf(response) });
      const running = operation.run(context, operation.variables);
      const { data, errors } = running instanceof Promise ? await running : running;
      if (errors.length > 0) {
        finished.set(request, { result: { errors, data: JSON.parse(data) }, context });
        return false;
      }
      const extensions = context.extensions();
      const text = extensions
        ? `{"data":${data},"extensions":${JSON.stringify(extensions)}}`
        : `{"data":${data}}`;
      const bytes = Buffer.byteLength(text);
      // Node reads them at once.
      headers[headers.length - 1] = String(bytes);
      response.writeHead(200, headers);
      endBatched(response, { content: text, bytes });
      answers += 1;
      return true;
    },

    answers: () => answers,

    observeResponse(request, response) {
      const type = response.getHeader('content-type');
      if (response.statusCode === 200 && typeof type === 'string' && JSON_ANSWER.test(type))
        headersByAccept.set(acceptOf(request), [
          ...Object.entries(always).flat(),
          ...['content-type', type, 'content-length', ''],
        ]);
    },

    plugin: {
      onParams({ context, setResult }) {
        const { req } = context as { req?: IncomingMessage };
        const ready = req && finished.get(req);
        if (!ready) return;
        // What is said beside the data.
        Object.assign(context, { extensions: ready.context.extensions });
        setResult(ready.result);
      },
      onExecute({ args: { document, contextValue } }) {
        const text = document.loc?.source.body;
        // One that came by a WebSocket has no request.
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
    },
  };
}

interface KnownDocument {
  document: DocumentNode;
  hits: number;
}

/** A request for an operation of a known document. */
interface Asked {
  params: Params;
  document: DocumentNode;
  body: string;
}

interface Operation {
  run: CompiledOperation;
  variables: Readonly<Record<string, unknown>>;
}

const JSON_ANSWER = /^application\/(graphql-response\+)?json; charset=utf-8$/;

function acceptOf({ headers }: IncomingMessage): string {
  return headers.accept ?? '';
}

interface Params {
  query: string;
  variables?: Record<string, unknown> | null;
  operationName?: string | null;
}

/** Null for what Yoga may have something to say about. */
function parseParams(body: string): Params | null {
  let params: unknown;
  try {
    params = JSON.parse(body);
  } catch {
    return null;
  }
  if (!isObject(params) || Object.keys(params).some((name) => !PARAMS.has(name))) return null;
  const { query, variables, operationName } = params;
  if (typeof query !== 'string') return null;
  if (variables != null && !isObject(variables)) return null;
  if (operationName != null && typeof operationName !== 'string') return null;
  return params as unknown as Params;
}

const PARAMS: ReadonlySet<string> = new Set(['query', 'variables', 'operationName']);

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** For all requests that bring the same: a resolver that changes what it is given would change it for each. */
function frozen<Value>(value: Value): Value {
  if (!Array.isArray(value) && !isPlain(value)) return value;
  for (const member of Object.values(value)) frozen(member);
  return Object.freeze(value);
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}
