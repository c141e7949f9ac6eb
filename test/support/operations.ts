import {
  type GraphQLArgument,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isAbstractType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  parse,
} from 'graphql';

/**
 * Lists the inputs of a schema that may name a resource: `Query.payout(code)`,
 * `Mutation.createCardPayment(input.customer.name)`. Only texts, ids and representations can name one, not numbers,
 * booleans or enums.
 */
export function namedPlaces(schema: GraphQLSchema): string[] {
  return Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .filter(({ name }) => !name.startsWith('__'))
    .flatMap((type) =>
      Object.values(type.getFields()).flatMap((field) =>
        field.args.flatMap((argument) =>
          textPaths(argument.type, argument.name).map((path) => `${type.name}.${field.name}(${path})`),
        ),
      ),
    );
}

function textPaths(type: GraphQLInputType, path: string): string[] {
  const named = getNamedType(type);
  if (isInputObjectType(named))
    return Object.values(named.getFields()).flatMap((field) =>
      textPaths(field.type, `${path}.${field.name}`),
    );
  // A gateway names objects by `_Any`.
  return ['String', 'ID', '_Any'].includes(named.name) ? [path] : [];
}

// biome-ignore lint/suspicious/noExplicitAny: JSON of a description
type Described = any;

/** Lists the inputs of an OpenAPI description that may name a resource: `GET /v1/payouts/{id} (id)`. */
export function namedPlacesOfRest(description: Described): string[] {
  const resolve = (schema: Described): Described =>
    schema?.$ref ? resolve(description.components.schemas[schema.$ref.split('/').at(-1)]) : schema;
  const isText = (schema: Described): boolean => {
    const { type, anyOf, oneOf, enum: values } = resolve(schema);
    if (values) return false;
    return [type].flat().includes('string') || [...(anyOf ?? []), ...(oneOf ?? [])].some(isText);
  };
  const inside = (schema: Described, path: string): string[] => {
    const { properties, anyOf = [] } = resolve(schema);
    if (isText(schema)) return [path];
    const alternatives = [{ properties }, ...anyOf.map(resolve)];
    return alternatives.flatMap((alternative) =>
      Object.entries(alternative.properties ?? {}).flatMap(([name, field]) =>
        inside(field, path === '' ? name : `${path}.${name}`),
      ),
    );
  };
  return restOperations(description).flatMap(({ name, operation }) => {
    const parameters = operation.parameters
      .filter(({ schema }: Described) => isText(schema))
      .map((parameter: Described) => parameter.name);
    const body = operation.requestBody?.content['application/json']?.schema;
    return [...parameters, ...(body ? inside(body, '') : [])].map((path) => `${name} (${path})`);
  });
}

/**
 * Lists all inputs of a schema: `Query.payout(code)`, and the members of a mutation's `input`:
 * `Mutation.createCharge(input.splits)`.
 */
export function inputPlaces(schema: GraphQLSchema): string[] {
  const inputsOf = ({ name, type }: GraphQLArgument): string[] => {
    const named = getNamedType(type);
    if (name !== 'input' || !isInputObjectType(named)) return [name];
    return Object.keys(named.getFields()).map((member) => `input.${member}`);
  };
  return Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .filter(({ name }) => !name.startsWith('__'))
    .flatMap((type) =>
      Object.values(type.getFields()).flatMap((field) =>
        field.args.flatMap(inputsOf).map((input) => `${type.name}.${field.name}(${input})`),
      ),
    );
}

/** Lists all parameters of an OpenAPI description and the members of its bodies: `POST /v1/charges (splits)`. */
export function inputPlacesOfRest(description: Described): string[] {
  const resolve = (schema: Described): Described =>
    schema?.$ref ? resolve(description.components.schemas[schema.$ref.split('/').at(-1)]) : schema;
  return restOperations(description).flatMap(({ name, operation }) => {
    const body = resolve(operation.requestBody?.content['application/json']?.schema) ?? {};
    const members = [body, ...(body.anyOf ?? []), ...(body.allOf ?? [])].flatMap((each) =>
      Object.keys(resolve(each).properties ?? {}),
    );
    const parameters = operation.parameters.map((parameter: Described) => parameter.name);
    return [...new Set([...parameters, ...members])].map((input) => `${name} (${input})`);
  });
}

function restOperations(description: Described): { name: string; operation: Described }[] {
  return Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods as object).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      operation,
    })),
  );
}

export interface Operation {
  query: string;
  variables: Record<string, unknown>;
}

/** Builds an operation that selects all fields below a root field, down to `depth` nested objects or as many as the server reads. */
export function operationOn(
  schema: GraphQLSchema,
  root: string,
  args: Record<string, unknown>,
  depth = MAX_DEPTH,
): Operation {
  const key = [root, ...Object.keys(args).sort(), depth].join(' ');
  let query = queries.get(schema)?.get(key);
  if (query === undefined) {
    query = queryOn(schema, root, args, depth);
    if (!queries.has(schema)) queries.set(schema, new Map());
    queries.get(schema)!.set(key, query);
  }
  return { query, variables: args };
}

/** Built queries, by the root field, the given arguments and the depth. */
const queries = new WeakMap<GraphQLSchema, Map<string, string>>();

function queryOn(schema: GraphQLSchema, root: string, args: Record<string, unknown>, depth: number): string {
  const [typeName, fieldName] = root.split('.') as [string, string];
  const field = (schema.getType(typeName) as ReturnType<GraphQLSchema['getQueryType']>)!.getFields()[
    fieldName
  ]!;
  const passedArgs = field.args.filter(({ name }) => name in args);
  const declared = passedArgs.map(({ name, type }) => `$${name}: ${type}`).join(', ');
  const passed = passedArgs.map(({ name }) => `${name}: $${name}`).join(', ');
  const selected = selectionOf(schema, field.type, MAX_DEPTH - depth);
  const query = `${typeName.toLowerCase()}${declared && ` (${declared})`} { ${fieldName}${passed && `(${passed})`}${selected} }`;
  return isTooLong(query) ? queryOn(schema, root, args, depth - 1) : query;
}

/** Whether a document has more tokens or aliases than the server accepts: an interface has fields of every family. */
function isTooLong(query: string): boolean {
  if ((query.match(/\b[A-Z]\w*_\w+: /g) ?? []).length > 100) return true;
  try {
    parse(query, { maxTokens: 2_000 });
    return false;
  } catch {
    return true;
  }
}

const MAX_DEPTH = 4;

/**
 * Builds a selection with two items of each page. An alias separates fields that have different types in a union's
 * members. A list without a page contains no other list, because the server multiplies their sizes: the refunds of
 * the payments of refunds, say.
 */
export function selectionOf(
  schema: GraphQLSchema,
  type: GraphQLOutputType,
  depth: number,
  isInList = false,
): string {
  const named = getNamedType(type);
  if (isLeafType(named)) return '';
  if (isAbstractType(named)) {
    const members = schema.getPossibleTypes(named);
    const typesOf = (name: string) =>
      new Set(members.flatMap((member) => member.getFields()[name]?.type.toString() ?? []));
    const fragments = members.map(
      (member) =>
        `... on ${member.name} ${fieldsOf(member, (name) => (typesOf(name).size > 1 ? `${member.name}_${name}: ` : ''))}`,
    );
    return ` { __typename ${fragments.join(' ')} }`;
  }
  return ` ${fieldsOf(named as Parameters<typeof fieldsOf>[0], () => '')}`;

  function fieldsOf(
    object: NonNullable<ReturnType<GraphQLSchema['getQueryType']>>,
    aliasOf: (name: string) => string,
  ): string {
    const fields = Object.values(object.getFields()).filter(
      ({ args, type: fieldType }) =>
        !args.some(isRequired) &&
        (isLeafType(getNamedType(fieldType)) || depth < MAX_DEPTH) &&
        !(isInList && (hasPages(args) || isListWithoutPage(object, fieldType))),
    );
    const selected = fields.map(({ name, args, type: fieldType }) => {
      const first = hasPages(args) ? '(first: 2)' : '';
      return `${aliasOf(name)}${name}${first}${selectionOf(schema, fieldType, depth + 1, isInList || isListWithoutPage(object, fieldType))}`;
    });
    return `{ __typename ${selected.join(' ')} }`;
  }
}

function hasPages(args: readonly GraphQLArgument[]): boolean {
  return args.some(({ name }) => name === 'first');
}

/** Whether a field is a list of objects that has no page. */
function isListWithoutPage({ name }: GraphQLObjectType, type: GraphQLOutputType): boolean {
  return isListType(getNullableType(type)) && !name.endsWith('Connection') && !isLeafType(getNamedType(type));
}

function isRequired({ type, defaultValue }: GraphQLArgument): boolean {
  return isNonNullType(type) && defaultValue === undefined;
}
