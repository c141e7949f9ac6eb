import {
  type DocumentNode,
  type FieldNode,
  type GraphQLError,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getArgumentValues,
  getNullableType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  locatedError,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionSetNode,
  TypeNameMetaFieldDef,
  visit,
} from 'graphql';
import type { LRUCache } from 'lru-cache';
import { createLRUCache } from '../../../kernel/lru-cache.ts';
import {
  contextOfRootField,
  type FieldOf,
  infoOf as infoOfField,
  isPromise,
  NO_INFO,
  nameOf,
  notIterable,
  notOfType,
  takesInfo,
} from '../../graphql/execution.ts';
import { keysOf, type Path, settleFailures } from '../../graphql/failures.ts';
import { collectFields, fragmentsOf, type Variables } from '../../graphql/selections.ts';
import { isSemanticNonNull } from '../../graphql/semantic-non-null.ts';
import { FIELD_BYTES, MAX_FIELDS } from '../update-plans.ts';
import { type Compilation, dropParsed, type Field } from './compilation.ts';
import { compileLeaf, inlineLeaf } from './leaves.ts';
import {
  type CompiledField,
  type Complete,
  createObjectWriter,
  type Run,
  type Text,
  type WriteFields,
} from './object-writer.ts';

/** An operation that is ready to run. `variables` are those that graphql's `getVariableValues` returns. */
export interface CompiledOperation {
  /** `root` is the update of a subscription. */
  (context: unknown, variables: Variables, root?: unknown): CompiledResult | Promise<CompiledResult>;
  /** The number of its fields; a fragment counts wherever it is spread. */
  readonly fieldCount: number;
}

export interface CompiledResult {
  /** The data as JSON. */
  data: string;
  /** The errors in the order of the document, whichever field failed first. */
  errors: readonly GraphQLError[];
}

/**
 * Compiles a query, or the operation that each update of a subscription runs, into functions that write JSON. They return
 * the result of `execute`, error by error, and call graphql's own functions for everything that depends on the request.
 * Fields, their types and constant arguments are looked up once.
 *
 * Null for an operation that only `execute` can run: mutations, directives, abstract types, the schema itself, and more
 * than `MAX_FIELDS` fields, which would take long to compile and much memory.
 */
export function compileOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): CompiledOperation | null {
  const rootType = schema.getRootType(operation.operation);
  // The fields of a mutation run one after the other.
  if (!rootType || operation.operation === OperationTypeNode.MUTATION || hasNode(document, Kind.DIRECTIVE))
    return null;
  const compilation: Compilation = {
    schema,
    operation,
    fragments: fragmentsOf(document),
    fieldCount: 0,
    fields: [],
  };
  let write: WriteFields;
  try {
    write = compileFields(compilation, rootType, [operation.selectionSet], compileRootField);
  } catch (error) {
    if (error === UNSUPPORTED) return null;
    throw error;
  }
  dropParsed(compilation);
  const compiled = (context: unknown, variables: Variables, root?: unknown) => {
    const run: Run = { context, variables, root, failures: [] };
    const data = write(root, undefined, run);
    return typeof data === 'string' ? resultOf(run, data) : data.then((text) => resultOf(run, text));
  };
  return Object.assign(compiled, { fieldCount: compilation.fieldCount });
}

function resultOf({ failures }: Run, text: string): CompiledResult {
  if (failures.length === 0) return { data: text, errors: [] };
  const { data, errors } = settleFailures(JSON.parse(text), failures);
  return { data: JSON.stringify(data), errors };
}

/** The limit on all cached operations together. */
const CACHE_BYTES = 8_000_000;

/** Compiled operations by their name and the text of the document; false for one that only `execute` can run. */
export function createCompiledCache(): LRUCache<string, CompiledOperation | false> {
  return createLRUCache(CACHE_BYTES, bytesOfCompiled);
}

/** The memory that a compiled operation takes. */
export function bytesOfCompiled(run: CompiledOperation | false): number {
  return run ? run.fieldCount * FIELD_BYTES : 0;
}

/** Thrown at a part of an operation that only `execute` can run. */
const UNSUPPORTED = new Error('unsupported');

// ── Fields ──────────────────────────────────────────────────────────────────────────────────────

function compileFields(
  compilation: Compilation,
  type: GraphQLObjectType,
  selectionSets: readonly SelectionSetNode[],
  compile = compileField,
): WriteFields {
  const { schema, fragments } = compilation;
  // A compiled document has no directives, so no variable decides which fields there are.
  const collected = [...collectFields({ schema, fragments, variables: {} }, type, selectionSets)];
  compilation.fieldCount += collected.length;
  if (compilation.fieldCount > MAX_FIELDS) throw UNSUPPORTED;
  return createObjectWriter(
    collected.map(([key, nodes]) => [key, compile(compilation, type, key, nodes)] as const),
  );
}

/** A root field, which may be executed in its own context. */
function compileRootField(...field: Parameters<typeof compileField>): CompiledField {
  const [, parentType, key, nodes] = field;
  const compiled = compileField(...field);
  const definition = definitionOf(parentType, nodes);
  const write: WriteFields = (source, parent, run) => {
    const context = contextOfRootField(run.context, { parentType, definition }, key);
    return compiled.write(source, parent, context === run.context ? run : { ...run, context });
  };
  return { ...compiled, write, inline: null };
}

function compileField(
  compilation: Compilation,
  parentType: GraphQLObjectType,
  key: string,
  nodes: readonly FieldNode[],
): CompiledField {
  const definition = definitionOf(parentType, nodes);
  const field: Field = { compilation, parentType, definition, nodes };
  compilation.fields.push(field);
  const { type } = definition;
  const argumentsOf = compileArguments(field);
  const read = compileRead(field, argumentsOf);
  const complete = compileValue(field, type);
  const isNonNull = isNonNullType(type);
  const isSemanticNonNullField = isSemanticNonNull(definition);
  const pathIn = (prev: Path | undefined): Path => ({
    prev,
    key,
    typename: parentType.name,
    isNonNull,
    isSemanticNonNull: isSemanticNonNullField,
  });
  // A leaf needs its path only if it fails.
  const needsPath = !isLeafType(getNullableType(type));

  const fail: CompiledField['fail'] = (thrown, parent, run) => {
    const path = pathIn(parent);
    run.failures.push({ path, error: locatedError(thrown, field.nodes, keysOf(path)) });
    return 'null';
  };
  const settle: Complete = (value, parent, run) => {
    const failed = (thrown: unknown) => fail(thrown, parent, run);
    try {
      const path = needsPath ? pathIn(parent) : undefined;
      if (isPromise(value)) return value.then((resolved) => settle(resolved, parent, run), failed);
      const text = complete(value, path, run);
      return typeof text === 'string' ? text : text.then(undefined, failed);
    } catch (thrown) {
      return fail(thrown, parent, run);
    }
  };
  const write: WriteFields = (source, parent, run) => {
    let value: unknown;
    try {
      value = read(source, () => pathIn(parent), run);
    } catch (thrown) {
      return fail(thrown, parent, run);
    }
    return settle(value, parent, run);
  };
  return { write, settle, fail, inline: compileInline(field, argumentsOf) };
}

function definitionOf(parentType: GraphQLObjectType, nodes: readonly FieldNode[]): FieldOf['definition'] {
  const name = nodes[0]!.name.value;
  const definition = name === TypeNameMetaFieldDef.name ? TypeNameMetaFieldDef : parentType.getFields()[name];
  // `__schema` and `__type`.
  if (!definition) throw UNSUPPORTED;
  return definition;
}

function compileInline({ definition }: Field, argumentsOf: ArgumentsOf): CompiledField['inline'] {
  const { name, resolve, type } = definition;
  if (resolve && takesInfo(resolve)) return null;
  const { leaf, bindings } = inlineLeaf(getNullableType(type));
  const settled = isNonNullType(type)
    ? 'settle#(v, path, run)'
    : `v == null ? 'null' : settle#(v, path, run)`;
  return {
    ...leaf,
    ...(resolve
      ? { read: 'resolve#(source, argumentsOf#(run), run.context)', otherwise: settled }
      : {
          read: `object.${name}`,
          otherwise: `typeof v === 'function' ? write#(source, path, run) : ${settled}`,
        }),
    bindings: { ...bindings, resolve, argumentsOf },
  };
}

type ArgumentsOf = (run: Run) => Record<string, unknown>;

/** Arguments without variables are computed once. */
function compileArguments(field: Field): ArgumentsOf {
  const compute = ({ variables }: Pick<Run, 'variables'>) =>
    getArgumentValues(field.definition, field.nodes[0]!, variables);
  if (field.nodes[0]!.arguments?.some((argument) => hasNode(argument, Kind.VARIABLE))) return compute;
  try {
    const values = compute({ variables: {} });
    return () => values;
  } catch {
    // Each execution throws the error at the field.
    return compute;
  }
}

function compileRead(
  field: Field,
  argumentsOf: ArgumentsOf,
): (source: unknown, path: () => Path, run: Run) => unknown {
  const { name, resolve } = field.definition;
  if (resolve)
    return (source, path, run) =>
      resolve(
        source,
        argumentsOf(run),
        run.context,
        takesInfo(resolve) ? infoOf(field, path(), run) : NO_INFO,
      );
  // The same as `defaultFieldResolver`.
  return (source, path, run) => {
    if ((typeof source !== 'object' || source === null) && typeof source !== 'function') return undefined;
    const member = (source as Record<string, unknown>)[name];
    return typeof member === 'function'
      ? member.call(source, argumentsOf(run), run.context, infoOf(field, path(), run))
      : member;
  };
}

function infoOf(field: Field, path: Path, { variables, root }: Run): GraphQLResolveInfo {
  const { schema, operation, fragments } = field.compilation;
  return infoOfField({ schema, operation, fragments, variables, root }, field, path);
}

// ── Values ──────────────────────────────────────────────────────────────────────────────────────

function compileValue(field: Field, type: GraphQLOutputType): Complete {
  if (!isNonNullType(type)) return compileNullable(field, type);
  const complete = compileNullable(field, type.ofType);
  return (value, path, run) => {
    const text = complete(value, path, run);
    // A promise is of an object or a list: never null.
    if (text !== 'null') return text;
    throw new Error(`Cannot return null for non-nullable field ${nameOf(field)}.`);
  };
}

function compileNullable(field: Field, type: GraphQLOutputType): Complete {
  const complete = compilePresent(field, type);
  return (value, path, run) => {
    if (value instanceof Error) throw value;
    return value == null ? 'null' : complete(value, path, run);
  };
}

function compilePresent(field: Field, type: GraphQLOutputType): Complete {
  if (isListType(type)) return compileList(field, type.ofType);
  if (isLeafType(type)) return compileLeaf(type);
  if (isObjectType(type)) return compileObject(field, type);
  throw UNSUPPORTED;
}

function compileList(field: Field, itemType: GraphQLOutputType): Complete {
  const complete = compileValue(field, itemType);
  const isNonNull = isNonNullType(itemType);

  function fail(thrown: unknown, path: Path, run: Run): string {
    run.failures.push({ path, error: locatedError(thrown, field.nodes, keysOf(path)) });
    return 'null';
  }
  function writeItem(item: unknown, path: Path, run: Run): Text {
    try {
      const text = isPromise(item)
        ? item.then((resolved) => complete(resolved, path, run))
        : complete(item, path, run);
      return typeof text === 'string' ? text : text.then(undefined, (thrown) => fail(thrown, path, run));
    } catch (thrown) {
      return fail(thrown, path, run);
    }
  }
  return (value, path, run) => {
    const items = itemsOf(value);
    if (!items) throw notIterable(field);
    let text = '';
    /** All texts, once one of them is a promise. */
    let waiting: Text[] | null = null;
    for (let index = 0; index < items.length; index += 1) {
      const item = writeItem(items[index], { prev: path, key: index, typename: undefined, isNonNull }, run);
      if (waiting === null && typeof item === 'string') text += index === 0 ? item : `,${item}`;
      else {
        waiting ??= index === 0 ? [] : [text];
        waiting.push(item);
      }
    }
    return waiting ? Promise.all(waiting).then((texts) => `[${texts.join(',')}]`) : `[${text}]`;
  };
}

function itemsOf(value: unknown): readonly unknown[] | null {
  if (Array.isArray(value)) return value;
  return typeof value === 'object' && value !== null && Symbol.iterator in value
    ? Array.from(value as Iterable<unknown>)
    : null;
}

function compileObject(field: Field, type: GraphQLObjectType): Complete {
  const { compilation, nodes } = field;
  const write = compileFields(
    compilation,
    type,
    nodes.flatMap(({ selectionSet }) => selectionSet ?? []),
  );
  const { isTypeOf } = type;
  if (!isTypeOf) return write;
  // A plugin's wrapper always has three parameters: only the declared function shows whether the info is read.
  const declared = (type.extensions.pothosOptions as Partial<GraphQLObjectType> | undefined)?.isTypeOf;
  const needsInfo = (declared ?? isTypeOf).length >= 3;
  const assertMatches = (value: unknown, matches: boolean) => {
    if (!matches) throw notOfType(type, value, field);
  };
  return (value, path, run) => {
    const matches = isTypeOf(value, run.context, needsInfo ? infoOf(field, path!, run) : NO_INFO);
    if (isPromise(matches))
      return matches.then((resolved) => {
        assertMatches(value, resolved);
        return write(value, path, run);
      });
    assertMatches(value, matches);
    return write(value, path, run);
  };
}

function hasNode(root: Parameters<typeof visit>[0], kind: Kind): boolean {
  let found = false;
  visit(root, {
    enter(node) {
      found ||= node.kind === kind;
    },
  });
  return found;
}
