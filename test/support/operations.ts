import {
  type GraphQLArgument,
  type GraphQLInputType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isInputObjectType,
  isLeafType,
  isNonNullType,
  isObjectType,
} from 'graphql';

/**
 * Every place of a schema where a caller names something: `Query.payout(code)`, `Mutation.createCardPayment(input.customer.name)`.
 * What is no text (a number, a switch, a word of an enum) names nothing.
 */
export function namedPlaces(schema: GraphQLSchema): string[] {
  return Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .filter(({ name }) => !name.startsWith('__'))
    .flatMap((type) =>
      Object.values(type.getFields()).flatMap((field) =>
        field.args.flatMap((argument) =>
          texts(argument.type, argument.name).map((path) => `${type.name}.${field.name}(${path})`),
        ),
      ),
    );
}

function texts(type: GraphQLInputType, path: string): string[] {
  const named = getNamedType(type);
  if (isInputObjectType(named))
    return Object.values(named.getFields()).flatMap((field) => texts(field.type, `${path}.${field.name}`));
  return named.name === 'String' || named.name === 'ID' ? [path] : [];
}

// biome-ignore lint/suspicious/noExplicitAny: JSON of a description
type Described = any;

/** The same of an OpenAPI description: `GET /v1/payouts/{id} (id)`. */
export function namedPlacesOfRest(description: Described): string[] {
  const resolve = (schema: Described): Described =>
    schema?.$ref ? resolve(description.components.schemas[schema.$ref.split('/').at(-1)]) : schema;
  const isText = (schema: Described): boolean => {
    const { type, anyOf, oneOf, enum: words } = resolve(schema);
    if (words) return false;
    return [type].flat().includes('string') || [...(anyOf ?? []), ...(oneOf ?? [])].some(isText);
  };
  const inside = (schema: Described, path: string): string[] => {
    const { properties, anyOf = [] } = resolve(schema);
    if (isText(schema)) return [path];
    const all = [{ properties }, ...anyOf.map(resolve)];
    return all.flatMap((each) =>
      Object.entries(each.properties ?? {}).flatMap(([name, field]) =>
        inside(field, path === '' ? name : `${path}.${name}`),
      ),
    );
  };
  return restOperations(description).flatMap(({ name, operation }) => {
    const parameters = operation.parameters
      .filter(({ schema }: Described) => isText(schema))
      .map((parameter: Described) => parameter.name);
    const body = operation.requestBody?.content['application/json'].schema;
    return [...parameters, ...(body ? inside(body, '') : [])].map((path) => `${name} (${path})`);
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

/** An operation that asks a root field for all that it has, as far as some objects deep. */
export function operationOn(
  schema: GraphQLSchema,
  root: string,
  args: Record<string, unknown>,
  deepest = DEEPEST,
): Operation {
  const [typeName, fieldName] = root.split('.') as [string, string];
  const field = (schema.getType(typeName) as ReturnType<GraphQLSchema['getQueryType']>)!.getFields()[
    fieldName
  ]!;
  const given = field.args.filter(({ name }) => name in args);
  const declared = given.map(({ name, type }) => `$${name}: ${type}`).join(', ');
  const passed = given.map(({ name }) => `${name}: $${name}`).join(', ');
  const selected = selectionOf(schema, field.type, DEEPEST - deepest);
  return {
    query: `${typeName.toLowerCase()}${declared && ` (${declared})`} { ${fieldName}${passed && `(${passed})`}${selected} }`,
    variables: args,
  };
}

const DEEPEST = 4;

/** Asks for two items of each list, so that lists in lists stay small. Fields of a union's members have own names. */
export function selectionOf(schema: GraphQLSchema, type: GraphQLOutputType, depth: number): string {
  const named = getNamedType(type);
  if (isLeafType(named)) return '';
  if (isAbstractType(named)) {
    const members = schema.getPossibleTypes(named);
    const each = members.map((member) => `... on ${member.name} ${fieldsOf(member, `${member.name}_`)}`);
    return ` { __typename ${each.join(' ')} }`;
  }
  return ` ${fieldsOf(named as Parameters<typeof fieldsOf>[0], '')}`;

  function fieldsOf(object: NonNullable<ReturnType<GraphQLSchema['getQueryType']>>, alias: string): string {
    const fields = Object.values(object.getFields()).filter(
      ({ args, type: fieldType }) =>
        !args.some(isRequired) && (isLeafType(getNamedType(fieldType)) || depth < DEEPEST),
    );
    const selected = fields.map(({ name, args, type: fieldType }) => {
      const first = args.some((argument) => argument.name === 'first') ? '(first: 2)' : '';
      return `${alias && `${alias}${name}: `}${name}${first}${selectionOf(schema, fieldType, depth + 1)}`;
    });
    return `{ __typename ${selected.join(' ')} }`;
  }
}

function isRequired({ type, defaultValue }: GraphQLArgument): boolean {
  return isNonNullType(type) && defaultValue === undefined;
}
