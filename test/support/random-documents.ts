import {
  coerceInputValue,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLInterfaceType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isAbstractType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredArgument,
} from 'graphql';
import type { Random } from '../faults/random.ts';

/** A document with its variables: valid values for nearly all cases, and others that may be invalid. */
export interface RandomDocument {
  query: string;
  operationName: string | undefined;
  fitting: Record<string, unknown>;
  others(): Record<string, unknown>;
}

/** Values of an argument: the intended ones, and unusual or invalid ones. */
export interface Values {
  fitting: readonly unknown[];
  others: readonly unknown[];
}

/** The values that an argument of a field may have; an empty list leaves it out. */
export type ValuesOf = (field: string, argument: GraphQLArgument) => Values;

const MAX_DEPTH = 7;
/** Fields of one document: a list inside a list makes an answer of hundreds of each. */
const MAX_FIELDS = 14;

/** Generates a valid operation of the root type with random fields below it. */
export function randomDocument(
  schema: GraphQLSchema,
  rootType: GraphQLObjectType,
  valuesOf: ValuesOf,
  random: Random,
): RandomDocument {
  const variables: { name: string; type: string; values: Values }[] = [];
  const fragments: string[] = [];
  let aliases = 0;
  let left = 2 + random.below(MAX_FIELDS);
  const chance = (percent: number) => random.below(100) < percent;
  const hasConditions = chance(6);
  const hasAbstract = chance(6) || rootType !== schema.getQueryType();

  function args(parent: GraphQLObjectType, field: GraphQLField<unknown, unknown>): string {
    const passed = field.args.flatMap((argument) => {
      const values = valuesOf(`${parent.name}.${field.name}`, argument);
      const isIntended = values.fitting.length > 0 && !values.fitting.includes(null);
      const isPassed =
        isRequiredArgument(argument) || isIntended || (values.fitting.length > 0 && chance(60));
      return isPassed ? [`${argument.name}: ${valueFor(argument, values)}`] : [];
    });
    return passed.length > 0 ? `(${passed.join(', ')})` : '';
  }

  function valueFor({ type }: GraphQLArgument, values: Values): string {
    if (chance(60)) {
      const name = `v${variables.length}`;
      variables.push({ name, type: String(type), values });
      return `$${name}`;
    }
    // A value of another type would make the document invalid.
    const others = values.others.filter((value) => isOfType(value, type));
    return literal(random.pick(chance(90) || others.length === 0 ? values.fitting : others), type);
  }

  function condition(): string {
    if (!hasConditions || chance(60)) return '';
    return ` @${random.pick(['include', 'skip'])}(if: ${random.pick(['true', 'false'])})`;
  }

  function fieldOf(type: GraphQLObjectType, depth: number, isBesideOthers = false): string {
    const all = Object.values(type.getFields());
    // Only some documents have abstract types: the compiler leaves those to graphql's own execution.
    const field = random.pick(
      hasAbstract ? all : all.filter((each) => !isAbstractType(getNamedType(each.type))),
    );
    left -= 1;
    const named = getNamedType(field.type);
    const isLeaf = isLeafType(named);
    if (!isLeaf && depth >= MAX_DEPTH) return '__typename';
    // Fields of one name with different arguments conflict. Fields whose value differs at each request get no alias.
    const hasAlias =
      !isLeaf || field.args.length > 0 || isBesideOthers || (chance(20) && !COUNTED.has(field.name));
    if (hasAlias) aliases += 1;
    const head = `${hasAlias ? `a${aliases}: ` : ''}${field.name}${args(type, field)}${condition()}`;
    if (isLeaf) return head;
    if (isObjectType(named)) return `${head} ${selectionOf(named, depth + 1)}`;
    if (!isAbstractType(named)) return head;
    const members = schema.getPossibleTypes(named).filter(() => chance(30));
    // Two members may have fields of one name and different types.
    const inner = members.map((member) => `... on ${member.name} ${selectionOf(member, depth + 1, true)}`);
    return `${head} { __typename ${inner.join(' ')} }`;
  }

  function selectionOf(type: GraphQLObjectType, depth: number, isBesideOthers = false): string {
    const selections: string[] = [];
    const count = 1 + random.below(depth === 0 ? 5 : 6);
    for (let at = 0; at < count && (at === 0 || left > 0); at += 1) {
      const percentile = random.below(100);
      const [named] = type.getInterfaces();
      if (percentile < 5) selections.push('__typename');
      else if (percentile < 8 && named)
        selections.push(`... on ${named.name} { ${leavesOf(named).join(' ')} }`);
      else if (percentile < 12 && depth < MAX_DEPTH) {
        const on = random.pick(['', ` on ${type.name}`]);
        selections.push(`...${on}${condition()} ${selectionOf(type, depth + 1, isBesideOthers)}`);
      } else if (percentile < 20 && depth < MAX_DEPTH) {
        const name = `F${fragments.length}`;
        // Reserves its position before those of the fragments that it spreads.
        const position = fragments.push('') - 1;
        fragments[position] =
          `fragment ${name} on ${type.name} ${selectionOf(type, depth + 1, isBesideOthers)}`;
        selections.push(`...${name}`);
      } else selections.push(fieldOf(type, depth, isBesideOthers));
    }
    return `{ ${selections.join(' ')} }`;
  }

  // A subscription has one root field.
  const isSubscription = rootType === schema.getSubscriptionType();
  const selection = isSubscription ? `{ ${fieldOf(rootType, 0)} }` : selectionOf(rootType, 0);
  const declared = variables.map(({ name, type }) => `$${name}: ${type}`).join(', ');
  const operationName = chance(20) ? 'Meant' : undefined;
  const head = `${OPERATION[rootType.name]} ${operationName ?? ''}${declared ? `(${declared})` : ''}`;
  const beside = operationName && chance(50) ? ['query Beside { __typename }'] : [];
  const pickValues = (candidates: (values: Values) => readonly unknown[]) =>
    Object.fromEntries(variables.map(({ name, values }) => [name, random.pick(candidates(values))]));
  return {
    query: [`${head} ${selection}`, ...beside, ...fragments].join('\n'),
    operationName,
    fitting: pickValues(({ fitting }) => fitting),
    others: () => pickValues(({ fitting, others }) => (chance(60) || others.length === 0 ? fitting : others)),
  };
}

const OPERATION: Record<string, string> = {
  Query: 'query',
  Mutation: 'mutation',
  Subscription: 'subscription',
};
const COUNTED = new Set(['remaining', 'resetAt']);

function leavesOf(type: GraphQLInterfaceType): string[] {
  return Object.values(type.getFields()).flatMap(({ name, type: of }) =>
    isLeafType(getNamedType(of)) ? [name] : [],
  );
}

function isOfType(value: unknown, type: GraphQLInputType): boolean {
  let fits = true;
  coerceInputValue(value, type, () => {
    fits = false;
  });
  return fits;
}

/** Writes a value as a literal of a document. */
function literal(value: unknown, type: GraphQLInputType): string {
  const nullable = getNullableType(type);
  if (value === null || value === undefined) return 'null';
  if (isListType(nullable))
    return Array.isArray(value)
      ? `[${value.map((item) => literal(item, nullable.ofType)).join(', ')}]`
      : literal(value, nullable.ofType);
  if (isEnumType(nullable)) return String(value);
  if (isInputObjectType(nullable) && typeof value === 'object')
    return `{${Object.entries(value)
      .map(([name, member]) => `${name}: ${literal(member, nullable.getFields()[name]!.type)}`)
      .join(', ')}}`;
  return JSON.stringify(value);
}

/** Values of a type for arguments that name no existing resource. */
export function anyValues(type: GraphQLInputType): Values {
  const nullable = getNullableType(type);
  const nulls = isNonNullType(type) ? [] : [null];
  if (isListType(nullable)) {
    const { fitting } = anyValues(nullable.ofType);
    return {
      fitting: [[], fitting.slice(0, 1), fitting],
      others: [...nulls, fitting.slice(-1), [null], 'x'],
    };
  }
  if (isEnumType(nullable)) {
    const names = nullable.getValues().map(({ name }) => name);
    return { fitting: names, others: nulls };
  }
  return { fitting: nulls, others: [] };
}
