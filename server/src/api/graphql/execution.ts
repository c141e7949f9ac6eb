import {
  defaultFieldResolver,
  defaultTypeResolver,
  type ExecutionArgs,
  type ExecutionResult,
  execute as executeReference,
  type FieldNode,
  type GraphQLAbstractType,
  GraphQLError,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getArgumentValues,
  getOperationAST,
  getVariableValues,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  locatedError,
  type OperationDefinitionNode,
  OperationTypeNode,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
  TypeNameMetaFieldDef,
} from 'graphql';
import { inspect } from 'graphql/jsutils/inspect.js';
import { closestName, shownName } from '../http/names.ts';
import { contextOfField } from './context.ts';
import { type Failure, keysOf, type Path, settleFailures } from './failures.ts';
import { MAX_WRONG_VARIABLES } from './limits.ts';
import { collectFields, type Fragments, fragmentsOf, type Variables } from './selections.ts';
import { isSemanticNonNull } from './semantic-non-null.ts';

/**
 * Executes an operation as graphql's `execute` does, except for its errors. `execute` returns as soon as a non-null field has
 * failed, so the resolver that fails first decides which error is shown. Here every field is resolved, and `settleFailures`
 * decides. A mutation stops after a field that has made its data null.
 */
export function execute(
  args: ExecutionArgs & {
    /** The values of the variables, where graphql's `getVariableValues` has returned them already. */
    coercedVariables?: Variables;
  },
): ExecutionResult | Promise<ExecutionResult> {
  const { schema, document, operationName, contextValue: context, rootValue: root } = args;
  const operation = getOperationAST(document, operationName);
  const rootType = operation && schema.getRootType(operation.operation);
  // graphql's own function returns the error of an operation without a root type.
  if (!rootType) return executeReference(args);
  const undeclared = undeclaredVariables(operation, args.variableValues);
  if (undeclared.length > 0) return { errors: undeclared };
  const { coerced: variables, errors } = args.coercedVariables
    ? { coerced: args.coercedVariables, errors: undefined }
    : getVariableValues(schema, operation.variableDefinitions ?? [], args.variableValues ?? {}, {
        maxErrors: MAX_WRONG_VARIABLES,
      });
  if (!variables) return { errors };
  const run: Run = {
    schema,
    operation,
    variables,
    context,
    root,
    fragments: fragmentsOf(document),
    collected: new Map(),
    failures: [],
  };
  let fields: Fields;
  try {
    fields = collectFields(run, rootType, [operation.selectionSet]);
  } catch (error) {
    return { errors: [error as GraphQLError], data: null };
  }
  if (operation.operation === OperationTypeNode.MUTATION) return executeSerially(run, rootType, fields);
  const data = executeFields(run, rootType, fields, root, undefined);
  return isPromise(data) ? data.then((settled) => resultOf(run, settled)) : resultOf(run, data);
}

/**
 * The errors of variables that a mutation does not declare. A query may have some, as GraphQL allows. In a mutation, a
 * misspelled variable would not limit the effect as intended.
 */
function undeclaredVariables(
  { operation, variableDefinitions = [] }: OperationDefinitionNode,
  variables: ExecutionArgs['variableValues'],
): GraphQLError[] {
  if (operation !== OperationTypeNode.MUTATION) return [];
  const declared = variableDefinitions.map(({ variable }) => variable.name.value);
  const others = Object.keys(variables ?? {}).filter((name) => !declared.includes(name));
  return others.slice(0, MAX_WRONG_VARIABLES).map((name) => {
    const meant = closestName(name, declared);
    const hint = meant === null ? '' : `; $${meant} may be meant`;
    return new GraphQLError(`The mutation does not declare the variable ${shownName(`$${name}`)}${hint}`);
  });
}

interface Run {
  readonly schema: GraphQLSchema;
  readonly operation: OperationDefinitionNode;
  readonly fragments: Fragments;
  readonly variables: Variables;
  readonly context: unknown;
  readonly root: unknown;
  /** The fields of an object, by the nodes that select it and by its type: all objects of a list share them. */
  readonly collected: Map<readonly FieldNode[], Map<GraphQLObjectType, Fields>>;
  readonly failures: Failure[];
}

type Fields = ReadonlyMap<string, readonly FieldNode[]>;
type Data = Record<string, unknown>;

function resultOf({ failures }: Run, data: Data): ExecutionResult {
  return failures.length === 0 ? { data } : errorsFirst(settleFailures(data, failures));
}

/** Builds a result with its members in graphql's order. */
function errorsFirst({
  data,
  errors,
}: {
  data: Data | null;
  errors: readonly GraphQLError[];
}): ExecutionResult {
  return errors.length === 0 ? { data } : { errors, data };
}

async function executeSerially(run: Run, type: GraphQLObjectType, fields: Fields): Promise<ExecutionResult> {
  const data: Data = Object.create(null);
  const errors: GraphQLError[] = [];
  for (const field of fields) {
    const one = await executeFields(run, type, new Map([field]), run.root, undefined);
    const settled = settleFailures(one, run.failures.splice(0));
    errors.push(...settled.errors);
    if (!settled.data) return errorsFirst({ data: null, errors });
    Object.assign(data, settled.data);
  }
  return errorsFirst({ data, errors });
}

// ── Fields ──────────────────────────────────────────────────────────────────────────────────────

/** A field of an object, and the nodes that select it, one at least. */
export interface FieldOf {
  readonly parentType: GraphQLObjectType;
  readonly definition: GraphQLField<unknown, unknown>;
  readonly nodes: readonly FieldNode[];
}

/** Executes the fields of an object. Never throws, and never rejects. */
function executeFields(
  run: Run,
  parentType: GraphQLObjectType,
  fields: Fields,
  source: unknown,
  prev: Path | undefined,
): Data | Promise<Data> {
  const data: Data = Object.create(null);
  const later: Promise<void>[] = [];
  for (const [key, nodes] of fields) {
    const definition = definitionOf(run.schema, parentType, nodes[0]!.name.value);
    // A validated document selects only fields that exist.
    if (!definition) continue;
    const isNonNull = isNonNullType(definition.type);
    const path: Path = { prev, key, typename: parentType.name, isNonNull };
    const field = { parentType, definition, nodes };
    const value = prev ? executeField(run, field, source, path) : executeRootField(run, field, source, path);
    // Reserves the field's position in the order of the object.
    data[key] = null;
    if (isPromise(value))
      later.push(
        value.then((settled) => {
          data[key] = settled;
        }),
      );
    else data[key] = value;
  }
  return later.length === 0 ? data : Promise.all(later).then(() => data);
}

function definitionOf(schema: GraphQLSchema, parentType: GraphQLObjectType, name: string) {
  if (name === TypeNameMetaFieldDef.name) return TypeNameMetaFieldDef;
  if (parentType === schema.getQueryType()) {
    if (name === SchemaMetaFieldDef.name) return SchemaMetaFieldDef;
    if (name === TypeMetaFieldDef.name) return TypeMetaFieldDef;
  }
  return parentType.getFields()[name];
}

function executeRootField(run: Run, field: FieldOf, source: unknown, path: Path): unknown {
  const context = contextOfRootField(run.context, field, String(path.key));
  return executeField({ ...run, context }, field, source, {
    ...path,
    isSemanticNonNull: isSemanticNonNull(field.definition),
  });
}

/**
 * Returns the context of one root field. `__typename`, the schema and the one field of a subscription's update keep the
 * context of the operation.
 */
export function contextOfRootField(
  context: unknown,
  { parentType, definition }: Pick<FieldOf, 'parentType' | 'definition'>,
  responseKey: string,
): unknown {
  const isRead = parentType.name !== 'Subscription' && !definition.name.startsWith('__');
  return isRead ? contextOfField(context, responseKey) : context;
}

function executeField(run: Run, field: FieldOf, source: unknown, path: Path): unknown {
  const { definition, nodes } = field;
  return orFailure(run, nodes, path, () => {
    const args = getArgumentValues(definition, nodes[0]!, run.variables);
    const resolve = definition.resolve ?? defaultFieldResolver;
    const value: unknown = resolve(source, args, run.context, infoOf(run, field, path));
    const complete = (resolved: unknown) => completeValue(run, field, definition.type, path, resolved);
    return isPromise(value) ? value.then(complete) : complete(value);
  });
}

/** Returns the result of `complete`. If that throws or rejects, returns null and records a failure. */
function orFailure(run: Run, nodes: readonly FieldNode[], path: Path, complete: () => unknown): unknown {
  const fail = (thrown: unknown) => {
    run.failures.push({ path, error: locatedError(thrown, nodes, keysOf(path)) });
    return null;
  };
  try {
    const value = complete();
    return isPromise(value) ? value.then(undefined, fail) : value;
  } catch (thrown) {
    return fail(thrown);
  }
}

export function infoOf(
  { schema, operation, fragments, variables, root }: Omit<Run, 'context' | 'collected' | 'failures'>,
  { definition, parentType, nodes }: FieldOf,
  path: Path,
): GraphQLResolveInfo {
  return {
    fieldName: definition.name,
    fieldNodes: nodes,
    returnType: definition.type,
    parentType,
    path,
    schema,
    fragments,
    rootValue: root,
    operation,
    variableValues: variables as Record<string, unknown>,
  };
}

/**
 * Whether a resolver has a fourth parameter, the info. Most have none, and building the info takes longer than the resolver.
 */
export function takesInfo(resolve: (...args: never[]) => unknown): boolean {
  return resolve.length >= 4;
}

export const NO_INFO = undefined as unknown as GraphQLResolveInfo;

// ── Values ──────────────────────────────────────────────────────────────────────────────────────

/** Completes a value by its type. Throws, or rejects, if the value is not of the type. */
function completeValue(
  run: Run,
  field: FieldOf,
  type: GraphQLOutputType,
  path: Path,
  value: unknown,
): unknown {
  if (value instanceof Error) throw value;
  if (isNonNullType(type)) {
    const completed = completeValue(run, field, type.ofType, path, value);
    if (completed === null) throw new Error(`Cannot return null for non-nullable field ${nameOf(field)}.`);
    return completed;
  }
  if (value == null) return null;
  if (isListType(type)) return completeList(run, field, type.ofType, path, value);
  if (isLeafType(type)) {
    const written: unknown = type.serialize(value);
    if (written == null) throw notSerialized(type, value, written);
    return written;
  }
  if (isAbstractType(type)) return completeAbstract(run, field, type, path, value);
  return completeObject(run, field, type, path, value);
}

function completeList(
  run: Run,
  field: FieldOf,
  itemType: GraphQLOutputType,
  prev: Path,
  value: unknown,
): unknown {
  if (typeof value !== 'object' || value === null || !(Symbol.iterator in value)) throw notIterable(field);
  const isNonNull = isNonNullType(itemType);
  const items = Array.from(value as Iterable<unknown>, (item, key) => {
    const path = { prev, key, typename: undefined, isNonNull };
    const complete = (resolved: unknown) => completeValue(run, field, itemType, path, resolved);
    return orFailure(run, field.nodes, path, () => (isPromise(item) ? item.then(complete) : complete(item)));
  });
  return items.some(isPromise) ? Promise.all(items) : items;
}

function completeAbstract(
  run: Run,
  field: FieldOf,
  type: GraphQLAbstractType,
  path: Path,
  value: unknown,
): unknown {
  const resolveType = type.resolveType ?? defaultTypeResolver;
  const named: unknown = resolveType(value, run.context, infoOf(run, field, path), type);
  const complete = (name: unknown) => {
    const runtimeType = typeof name === 'string' ? run.schema.getType(name) : undefined;
    if (!isObjectType(runtimeType) || !run.schema.isSubType(type, runtimeType))
      throw new GraphQLError(
        `Abstract type "${type.name}" was resolved to ${inspect(name)}, which is none of its types.`,
        { nodes: field.nodes },
      );
    return completeObject(run, field, runtimeType, path, value);
  };
  return isPromise(named) ? named.then(complete) : complete(named);
}

function completeObject(
  run: Run,
  field: FieldOf,
  type: GraphQLObjectType,
  path: Path,
  value: unknown,
): unknown {
  const isOfType = type.isTypeOf?.(value, run.context, infoOf(run, field, path)) ?? true;
  const complete = (matches: boolean) => {
    if (!matches) throw notOfType(type, value, field);
    return executeFields(run, type, fieldsOf(run, type, field.nodes), value, path);
  };
  return isPromise(isOfType)
    ? isOfType.then((resolved) => complete(resolved as boolean))
    : complete(isOfType);
}

function fieldsOf(run: Run, type: GraphQLObjectType, nodes: readonly FieldNode[]): Fields {
  const byType = run.collected.get(nodes) ?? new Map<GraphQLObjectType, Fields>();
  run.collected.set(nodes, byType);
  let fields = byType.get(type);
  if (!fields) {
    const selectionSets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
    fields = collectFields(run, type, selectionSets);
    byType.set(type, fields);
  }
  return fields;
}

// ── Errors that compiled operations throw too ────────────────────────────────────────────

export function nameOf({ parentType, definition }: FieldOf): string {
  return `${parentType.name}.${definition.name}`;
}

export function notIterable(field: FieldOf): GraphQLError {
  return new GraphQLError(`Expected Iterable, but did not find one for field "${nameOf(field)}".`);
}

export function notOfType(type: GraphQLObjectType, value: unknown, { nodes }: FieldOf): GraphQLError {
  return new GraphQLError(`Expected value of type "${type.name}" but got: ${inspect(value)}.`, { nodes });
}

export function notSerialized(type: GraphQLOutputType, value: unknown, written: unknown): Error {
  return new Error(
    `Expected \`${inspect(type)}.serialize(${inspect(value)})\` to return non-nullable value, returned: ${inspect(written)}`,
  );
}

export function isPromise(value: unknown): value is Promise<unknown> {
  return (
    typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
  );
}
