import { createHash } from 'node:crypto';
import { type Caller, isPayer, presentsToken } from '../../kernel/caller.ts';
import { PermissionError } from '../../kernel/errors.ts';
import { createSharedCache } from '../../kernel/shared-cache.ts';
import { tenantKey } from '../../kernel/tenant.ts';
import { refusalOf } from '../graphql/errors.ts';
import { BACKEND_DOCUMENTS } from './widget-documents.ts';

/**
 * The limit on the documents that clients have registered. A dropped document is registered again by its next client. The
 * tenant with the most drops its own, so that no tenant displaces those of others.
 */
const REGISTERED_BYTES = 4_000_000;
/** The limit on documents registered with public tokens, kept apart so that a visitor cannot evict those of others. */
const PUBLIC_BYTES = 1_000_000;

/** The callers whose operations must be trusted documents: none, all but API keys, or all. */
export type TrustedOnly = 'off' | 'tokens' | 'all';

/**
 * The callers for whom a document is trusted: all for a document of a manifest or of the widget, API keys for one of their
 * own package.
 */
export type Trust = 'everybody' | 'keys' | 'nobody';

/** The members of a request that say which document it is for. A client may send anything in them. */
interface DocumentParams {
  readonly query?: unknown;
  /** The document's identifier, as the appendix of GraphQL over HTTP on persisted documents names it. */
  readonly documentId?: unknown;
  /** Apollo's protocol has the identifier in `persistedQuery.sha256Hash`. */
  readonly extensions?: unknown;
}

export interface PersistedDocuments {
  /**
   * Returns the document of a request.
   * @throws GraphQLError: an unknown or a wrong hash
   * @throws PermissionError: a document that the caller may not run
   */
  read(params: DocumentParams, caller: Caller | null): unknown;
  /**
   * Registers the document of a request that contains its hash, if its caller is known. `read` has compared the two, and the
   * document is valid: a document that can never run takes no room.
   */
  register(params: DocumentParams, caller: Caller | null): void;
  /** Finds the document of a request that has an identifier in its place; null if that is unknown. Never throws. */
  find(params: DocumentParams): string | null;
  /** Whether `read` does more than return the query, for a request with this `Authorization`. */
  concerns(params: DocumentParams, authorization: string | undefined): boolean;
  trustOf(document: string): Trust;
  /** Whether the caller may run a document. */
  allows(trust: Trust, caller: Caller | null): boolean;
}

/** @param trusted the trusted documents by their identifiers */
export function createPersistedDocuments({
  trusted,
  only,
}: {
  trusted: ReadonlyMap<string, string>;
  only: TrustedOnly;
}): PersistedDocuments {
  const trustedTexts = new Set(trusted.values());
  const backendTexts = new Set(BACKEND_DOCUMENTS);
  const registered = createSharedCache<string>(REGISTERED_BYTES, (text) => 2 * text.length);
  const registeredByPublic = createSharedCache<string>(PUBLIC_BYTES, (text) => 2 * text.length);
  const findText = (id: string) => trusted.get(id) ?? registered.get(id) ?? registeredByPublic.get(id);

  const documents: PersistedDocuments = {
    read(params, caller) {
      const id = identifierIn(params);
      const { query } = params;
      const isGiven = typeof query === 'string' && query !== '';
      const text = id === null || isGiven ? query : findText(id);
      if (id !== null && text === undefined) throw NOT_FOUND();
      if (id !== null && isGiven && trusted.get(id) !== query && hashOf(query) !== id) throw WRONG_HASH();
      if (typeof text === 'string' && !documents.allows(documents.trustOf(text), caller))
        throw new PermissionError(
          `This ${caller?.trustedDocumentsOnly ? 'token' : 'server'} runs only trusted documents, and this is not one of them`,
        );
      return text;
    },
    register(params, caller) {
      const { query } = params;
      if (!caller || typeof query !== 'string' || query === '') return;
      const id = identifierIn(params);
      if (id === null || trusted.get(id) === query) return;
      const owner = tenantKey(caller.tenant);
      if (!isPayer(caller)) registered.add(owner, id, query);
      else if (registered.get(id) === undefined) registeredByPublic.add(owner, id, query);
    },
    find(params) {
      if (typeof params.query === 'string' && params.query !== '') return null;
      try {
        const id = identifierIn(params);
        return id === null ? null : (findText(id) ?? null);
      } catch {
        return null;
      }
    },
    concerns: ({ documentId, extensions }, authorization) =>
      only !== 'off' ||
      documentId != null ||
      persistedQueryIn(extensions) != null ||
      presentsToken(authorization),
    trustOf(document) {
      if (trustedTexts.has(document)) return 'everybody';
      return backendTexts.has(document) ? 'keys' : 'nobody';
    },
    allows(trust, caller) {
      const hasKey = caller?.credential.kind === 'api_key';
      if (trust === 'everybody' || (trust === 'keys' && hasKey)) return true;
      return !caller?.trustedDocumentsOnly && (only === 'off' || (only === 'tokens' && hasKey));
    },
  };
  return documents;
}

/** The hash that identifies a document. */
export function hashOf(document: string): string {
  return createHash('sha256').update(document).digest('hex');
}

/** Returns the identifier that a request has beside its document or in its place; null for none. @throws GraphQLError */
function identifierIn({ documentId, extensions }: DocumentParams): string | null {
  const persisted = persistedQueryIn(extensions);
  if (persisted != null) {
    const { version, sha256Hash } = persisted as Record<string, unknown>;
    if (version !== 1) throw malformed('extensions.persistedQuery.version must be 1');
    if (typeof sha256Hash !== 'string' || sha256Hash === '')
      throw malformed('extensions.persistedQuery.sha256Hash must be the hash of a document');
    return sha256Hash;
  }
  if (documentId == null) return null;
  if (typeof documentId !== 'string' || documentId === '')
    throw malformed('documentId must be the identifier of a document');
  return documentId.replace(/^sha256:/, '');
}

function persistedQueryIn(extensions: unknown): unknown {
  return typeof extensions === 'object' && extensions !== null
    ? (extensions as { persistedQuery?: unknown }).persistedQuery
    : undefined;
}

const malformed = (message: string) => refusalOf('BAD_USER_INPUT', message, 400);
const WRONG_HASH = () =>
  malformed('The hash is not that of the query: send its SHA-256 as 64 hexadecimal digits in lower case');
/** The message and the code by which Apollo’s clients know that they have to send the document. */
const NOT_FOUND = () => refusalOf('PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound', 404);
