import type { ExecutionResult, GraphQLError } from 'graphql';

/** The path of a value in the result, as a list from its end to its beginning. */
export interface Path {
  readonly prev: Path | undefined;
  readonly key: string | number;
  readonly typename: string | undefined;
  /** Whether a failure here makes the parent null too. */
  readonly isNonNull: boolean;
  /** Whether null means only a failure; only root fields can declare that. */
  readonly isSemanticNonNull?: boolean;
}

/** A field, or an item of a list, that has failed. The data has null in its place. */
export interface Failure {
  readonly path: Path;
  readonly error: GraphQLError;
}

interface FailureNode {
  isNonNull: boolean;
  isSemanticNonNull: boolean;
  error: GraphQLError | null;
  inner: Map<string | number, FailureNode>;
}

/**
 * Builds the result of an operation whose fields have all been resolved. The errors are those of an execution of one field
 * after the other: in the order of the document, up to the one that makes the parent object null. The order in which
 * resolvers end does not change the data, the errors or the HTTP status.
 *
 * @param data is changed
 */
export function settleFailures<Data extends object>(
  data: Data,
  failures: readonly Failure[],
): { data: Data | null; errors: GraphQLError[] } {
  const root = createNode({ isNonNull: false });
  for (const { path, error } of failures) nodeOf(path, root).error = error;
  const errors: GraphQLError[] = [];
  const fatal = settle(root, data, errors);
  if (!fatal) return { data, errors };
  errors.push(fatal);
  return { data: null, errors };
}

function createNode({
  isNonNull,
  isSemanticNonNull = false,
}: Pick<Path, 'isNonNull' | 'isSemanticNonNull'>): FailureNode {
  return { isNonNull, isSemanticNonNull, error: null, inner: new Map() };
}

function nodeOf(path: Path | undefined, root: FailureNode): FailureNode {
  if (!path) return root;
  const { inner } = nodeOf(path.prev, root);
  let node = inner.get(path.key);
  if (!node) {
    node = createNode(path);
    inner.set(path.key, node);
  }
  return node;
}

/** Settles a value and everything inside it. Returns the error that makes the value null; null for none. */
function settle({ inner, error }: FailureNode, value: unknown, errors: GraphQLError[]): GraphQLError | null {
  if (inner.size > 0 && typeof value === 'object' && value !== null)
    for (const key of Array.isArray(value) ? value.keys() : Object.keys(value)) {
      const node = inner.get(key);
      const fatal = node && settle(node, (value as Record<string | number, unknown>)[key], errors);
      if (!fatal) continue;
      if (node.isNonNull) return fatal;
      errors.push(fatal);
      if (node.isSemanticNonNull) semanticNonNullErrors.add(fatal);
      // An alias may be `__proto__`.
      Object.defineProperty(value, key, {
        value: null,
        configurable: true,
        enumerable: true,
        writable: true,
      });
    }
  return error;
}

/** The errors of failed root fields with `@semanticNonNull`. */
const semanticNonNullErrors = new WeakSet<GraphQLError>();

/** Carries the mark of a failed `@semanticNonNull` field over to the error that replaces it. */
export function replaceError(error: GraphQLError, replacement: GraphQLError): GraphQLError {
  if (semanticNonNullErrors.has(error)) semanticNonNullErrors.add(replacement);
  return replacement;
}

/**
 * Whether a result has the HTTP status of its errors: a field with `@semanticNonNull` has failed, and no root field has a
 * value. `__typename` does not count as a value: clients add it to each selection, also at the root.
 */
export function isRefusal({ data, errors = [] }: ExecutionResult): boolean {
  if (!data) return true;
  return (
    errors.some((error) => semanticNonNullErrors.has(error)) &&
    Object.values(data).every((value) => value === null || value === 'Query' || value === 'Mutation')
  );
}

export function keysOf(path: Path | undefined): (string | number)[] {
  const keys: (string | number)[] = [];
  for (let each = path; each; each = each.prev) keys.unshift(each.key);
  return keys;
}
