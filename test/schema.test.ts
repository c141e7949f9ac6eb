import { readFileSync } from 'node:fs';
import {
  astFromValue,
  buildSchema,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInterfaceType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLScalarType,
  type GraphQLSchema,
  type GraphQLUnionType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isLeafType,
  isNonNullType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
  isUnionType,
  parse,
  print,
  validate,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import { RULES } from '../server/src/api/graphql/common-descriptions.ts';
import { DEPRECATING_RELEASES } from '../server/src/api/graphql/deprecations.ts';
import { printSorted } from '../server/src/api/graphql/print-schema.ts';
import { isSemanticNonNull } from '../server/src/api/graphql/semantic-non-null.ts';
import { schema } from '../server/src/programs/modes/schema.ts';
import * as developers from '../widget/console/developer-operations.ts';
import * as pages from '../widget/console/operations.ts';
import * as products from '../widget/console/products/operations.ts';
import * as subaccounts from '../widget/console/subaccount-operations.ts';
import * as subscriptions from '../widget/console/subscriptions/operations.ts';
import * as checkout from '../widget/src/operations.ts';
import * as payouts from '../widget/src/payouts/operations.ts';

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');

test('The schema is committed as the code prints it', () => {
  expect(printSorted(schema)).toBe(read('../schema.graphql'));
});

test('Everything is described, and every scalar names its specification', () => {
  const silent = partsOf(schema).filter(
    // The members of a union are types, which have their own descriptions.
    ({ description, signature }) => signature !== 'member' && !description?.trim(),
  );
  expect(silent.map(({ place }) => place)).toEqual([]);
  const scalars = Object.values(schema.getTypeMap()).filter(
    (type) => isScalarType(type) && !isSpecifiedScalarType(type),
  );
  expect(scalars.filter((type) => !(type as GraphQLScalarType).specifiedByURL)).toEqual([]);
  expect(scalars.length).toBeGreaterThan(3);
});

test('A description says more than the name', () => {
  const words = (text: string) => text.toLowerCase().match(/[a-zà-ÿ0-9_]+/g) ?? [];
  const repeated = partsOf(schema).filter(({ place, description }) => {
    const ofName = new Set(words(place.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').replaceAll('_', ' ')));
    return (
      description && words(description).every((word) => ofName.has(word) || /^(the|a|an|of)$/.test(word))
    );
  });
  // These names repeat the names on the wire.
  expect(
    repeated.map(({ place }) => place).filter((place) => !/^OptionalWebhookEvent\./.test(place)),
  ).toEqual([]);
});

/** Reserved words, which a member of a generated class cannot be named: of Java, Kotlin, Dart, Swift, Rust, Python, Ruby and PHP. */
const RESERVED = new Set(
  `abstract alias and as assert async await base become begin bool boolean box break byte case catch char class clone const
  continue crate declare def default defer defined deinit del delete die do double dyn echo elif else elseif elsif empty end
  ensure enum eval except exit export extends extension extern fallthrough false fileprivate final finally float fn for foreach
  from fun func function global goto guard if impl implements import in include init inout instanceof int interface internal is
  isset lambda let list long loop macro match mod module move mut namespace native new next nil nonlocal not null object open
  operator or override package pass precedencegroup print private protected protocol pub public raise redo ref repeat require
  rescue rethrow rethrows retry return self short static strictfp struct subscript super switch synchronized this throw throws
  trait transient true try type typealias typeof undef unless unsafe unset unsized until use using val var virtual void volatile
  when where while with xor yield`.split(/\s+/),
);

test('No member has the name of a reserved word, but those of 0.1.0, which are deprecated', () => {
  const members = Object.values(schema.getTypeMap())
    .filter((type) => isObjectType(type) || isInterfaceType(type) || isInputObjectType(type))
    .filter(({ name }) => !name.startsWith('__'))
    .flatMap((type) => Object.values<GraphQLField<unknown, unknown> | GraphQLArgument>(type.getFields()))
    .flatMap((field) => ('args' in field ? [field, ...field.args] : [field]));
  const reserved = members.filter(({ name }) => RESERVED.has(name));
  expect(reserved.filter(({ deprecationReason }) => !deprecationReason).map(({ name }) => name)).toEqual([]);
  expect(reserved.length).toBeGreaterThan(0);
});

test('A deprecation names the release that began it', () => {
  const reasons = printSorted(schema).match(/@deprecated\(reason: "(.*?)"\)/g) ?? [];
  const releases = Object.keys(DEPRECATING_RELEASES).map((release) => `Deprecated since ${release}.")`);
  expect(reasons.filter((reason) => !releases.some((end) => reason.endsWith(end)))).toEqual([]);
  expect(reasons.length).toBeGreaterThan(0);
});

test('A shared description is of something that has none of its own', () => {
  const texts = new Set(partsOf(schema).map(({ description }) => description));
  const unused = RULES.filter(([, text]) => typeof text === 'string' && !texts.has(text));
  expect(unused.map(([, text]) => text)).toEqual([]);
});

test('A list is read from either end', () => {
  const both = ['first: Int', 'after: String', 'last: Int', 'before: String'];
  const connections = Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .flatMap((type) => Object.values(type.getFields()).map((field) => ({ type, field })))
    .filter(({ field }) => getNamedType(field.type).name.endsWith('Connection'));
  const lacking = connections
    .filter(({ field }) => {
      const given = field.args.map(({ name, type }) => `${name}: ${type}`);
      return !both.every((each) => given.includes(each));
    })
    .map(({ type, field }) => `${type.name}.${field.name}`);
  expect(lacking).toEqual([]);
  expect(connections.length).toBeGreaterThan(14);
});

test('A root field of a query or a mutation is never non-null, so that each can fail alone', () => {
  const roots = [schema.getQueryType()!, schema.getMutationType()!].flatMap((type) =>
    Object.values(type.getFields()),
  );
  // The specification of Federation defines the types of the two others.
  expect(roots.flatMap(({ name, type }) => (isNonNullType(type) ? name : []))).toEqual([
    '_entities',
    '_service',
  ]);
  // The other fields are lookups, whose null is an answer.
  expect(roots.filter((field) => isSemanticNonNull(field)).length).toBeGreaterThan(roots.length / 2);
  // The printed schema says the same to tools; its directive is the one that Relay's compiler defines.
  const printed = buildSchema(printSorted(schema));
  const directive = printed.getDirective('semanticNonNull')!;
  expect([directive.locations, directive.args[0]!.name, directive.args.map(inputSignature)]).toEqual([
    ['FIELD_DEFINITION'],
    'levels',
    ['[Int] = [0]'],
  ]);
  expect(signatures(printed)).toEqual(signatures(schema));
});

/** Each type, field, argument, value and member by its path, with its type in SDL. */
function signatures(of: GraphQLSchema): Map<string, string> {
  return new Map(partsOf(of).map(({ place, signature }) => [place, signature]));
}

interface Part {
  place: string;
  signature: string;
  description?: string | null | undefined;
}

function partsOf(of: GraphQLSchema): Part[] {
  return Object.values(of.getTypeMap())
    .filter((type) => !type.name.startsWith('__') && !isSpecifiedScalarType(type))
    .flatMap((type) => [
      { place: `type ${type.name}`, signature: kindOf(type), description: type.description },
      ...membersOf(type),
    ]);
}

function kindOf(type: GraphQLNamedType): string {
  if (isObjectType(type) || isInterfaceType(type))
    return [
      type.constructor.name,
      ...type
        .getInterfaces()
        .map(({ name }) => name)
        .sort(),
    ].join(' ');
  return isInputObjectType(type) && type.isOneOf ? 'oneOf input' : type.constructor.name;
}

function membersOf(type: GraphQLNamedType): Part[] {
  if (isEnumType(type))
    return type
      .getValues()
      .map(({ name, description }) => ({ place: `${type.name}.${name}`, signature: 'value', description }));
  if (isUnionType(type))
    return type.getTypes().map(({ name }) => ({ place: `${type.name}.${name}`, signature: 'member' }));
  if (isInputObjectType(type))
    return Object.values(type.getFields()).map((field) => ({
      place: `${type.name}.${field.name}`,
      signature: inputSignature(field),
      description: field.description,
    }));
  if (isObjectType(type) || isInterfaceType(type))
    return Object.values(type.getFields()).flatMap((field) => [
      {
        place: `${type.name}.${field.name}`,
        signature: outputSignature(field),
        description: field.description,
      },
      ...field.args.map((argument) => ({
        place: `${type.name}.${field.name}(${argument.name})`,
        signature: inputSignature(argument),
        description: argument.description,
      })),
    ]);
  return [];
}

function outputSignature(field: GraphQLField<unknown, unknown>): string {
  const isSemantic =
    isSemanticNonNull(field) ||
    field.astNode?.directives?.some(({ name }) => name.value === 'semanticNonNull');
  return isSemantic ? `${field.type} @semanticNonNull` : String(field.type);
}

function inputSignature({ type, defaultValue }: Pick<GraphQLArgument, 'type' | 'defaultValue'>): string {
  // The default as SDL: a parsed schema has other internal values of enums.
  const literal = astFromValue(defaultValue, type);
  return literal ? `${type} = ${print(literal)}` : String(type);
}

describe('mutations', () => {
  const mutations = Object.values(schema.getMutationType()!.getFields());
  const errors = schema.getPossibleTypes(schema.getType('UserError') as GraphQLInterfaceType);

  /** The success type by the name of its mutation, and whatever else its result has that is no error. */
  function successesOf({ name, type }: GraphQLField<unknown, unknown>) {
    const result = getNamedType(type);
    if (!isUnionType(result)) throw new Error(`${name} has no union`);
    const expected = name[0]!.toUpperCase() + name.slice(1);
    return {
      result: [result.name, `${expected}Result`],
      types: result.getTypes().filter((each) => !errors.includes(each)),
      expected: `${expected}Success`,
    };
  }

  test('The result of a mutation is a success type of its own, named after it, or an error', () => {
    for (const mutation of mutations) {
      const { result, types, expected } = successesOf(mutation);
      expect(result[0]).toBe(result[1]);
      expect(types.map(({ name }) => name)).toEqual([expected]);
    }
    const named = Object.keys(schema.getTypeMap()).filter((name) => name.endsWith('Success'));
    const own = mutations.map((mutation) => successesOf(mutation).expected);
    // The others are the names of 0.1.0, as interfaces.
    const former = named.filter((name) => !own.includes(name));
    expect(former.filter((name) => !isInterfaceType(schema.getType(name)))).toEqual([]);
    const released = buildSchema(read('../server/released/schema.graphql'));
    expect(former).toEqual(former.filter((name) => released.getType(name)));
  });

  test('A document that selects on a success type of the last release stays valid', () => {
    const released = buildSchema(read('../server/released/schema.graphql'));
    for (const { name, type, args } of Object.values(released.getMutationType()!.getFields())) {
      const success = (getNamedType(type) as GraphQLUnionType)
        .getTypes()
        .find((each) => each.name.endsWith('Success'))!;
      const [argument] = args;
      const document = parse(`mutation ($value: ${argument!.type}) {
        ${name}(${argument!.name}: $value) { ... on ${success.name} { ${leavesOf(success)} } } }`);
      expect(validate(schema, document)).toEqual([]);
    }
  });

  /** The mutations that create something and cannot be replayed, each with the reason. */
  const NEVER_REPLAYED: Record<string, string> = {
    createCheckoutToken: 'a token whose answer was lost is known to nobody, and starts nothing',
    createDashboardToken: 'a token whose answer was lost is known to nobody, and ends by itself',
    createTestPayment: 'the balance of the sandbox is simulated',
    createProduct: 'a product that was created twice sells nothing, and is deleted',
    createWebhookEndpoint: 'a second one with the same URL is refused, and a lost secret is rotated',
  };

  test('A mutation that creates something, or takes a key, says whether it was replayed', () => {
    const silent = mutations.filter((mutation) => {
      const [success] = successesOf(mutation).types;
      const input = getNamedType(mutation.args.find(({ name }) => name === 'input')?.type);
      const takesKey = isInputObjectType(input) && 'idempotencyKey' in input.getFields();
      const creates = /^(create|start|request|transfer|refund|submit)/.test(mutation.name);
      return (takesKey || creates) && String(success!.getFields().replayed?.type) !== 'Boolean!';
    });
    expect(silent.map(({ name }) => name).sort()).toEqual(Object.keys(NEVER_REPLAYED).sort());
  });

  test('A lookup takes the key of the mutation that makes its resource', () => {
    const queries = schema.getQueryType()!.getFields();
    const LOOKUPS: Record<string, string> = {
      createCardPayment: 'cardPayment',
      createCharge: 'charge',
      createDelivery: 'delivery',
      createPayment: 'payment',
      createSubscription: 'subscription',
      refundCardPayment: 'refund',
      refundCharge: 'refund',
      refundPayment: 'refund',
      requestPayout: 'payout',
      requestSubaccountPayout: 'subaccountPayout',
      transferToSubaccount: 'subaccountTransfer',
    };
    const keyed = mutations.filter(({ args }) => {
      const input = getNamedType(args.find(({ name }) => name === 'input')?.type);
      return isInputObjectType(input) && 'idempotencyKey' in input.getFields();
    });
    const without = keyed.filter(
      ({ name }) => !queries[LOOKUPS[name] ?? '']?.args.some((each) => each.name === 'idempotencyKey'),
    );
    // Evidence is read in its dispute, whose id the caller has. A redelivery moves nothing: its request is repeated.
    expect(without.map(({ name }) => name)).toEqual(['redeliverWebhooks', 'submitDisputeEvidence']);
  });
});

/** The selection of all leaves of a type, and of the `__typename` of its other fields. */
function leavesOf(type: GraphQLObjectType): string {
  return Object.values(type.getFields())
    .map(({ name, type }) => (isLeafType(getNamedType(type)) ? name : `${name} { __typename }`))
    .join(' ');
}

test('An update is the value of its field at once: nothing is validated again, and no turn is waited for', () => {
  const update = {};
  const context = { loaders: { subaccount: { clearAll: () => undefined } } };
  const fields = Object.values(schema.getSubscriptionType()!.getFields());
  expect(fields.length).toBeGreaterThan(20);
  for (const { name, resolve } of fields)
    expect([name, resolve?.(update, { filter: 7 }, context, {} as never)]).toEqual([name, update]);
});

test('The id of a node is there at once: no row of a list waits for a promise', () => {
  const node = schema.getType('Node') as GraphQLInterfaceType;
  const nodes = schema.getPossibleTypes(node);
  expect(nodes.length).toBeGreaterThan(10);
  const context = { caller: { tenant: { accountId: 'acc_1', environment: 'live' } } };
  const row = new Proxy({}, { get: () => 'one' });
  for (const type of nodes) {
    const id = type.getFields().id!.resolve!(row, {}, context, {} as never);
    expect(Buffer.from(id as string, 'base64').toString()).toMatch(new RegExp(`^${type.name}:.*(one|acc_1)`));
  }
});

const OPERATION = /^(?:query|mutation|subscription)\b/;

describe('the widget’s documents', () => {
  const ofConsole = [pages, developers, products, subaccounts, subscriptions];
  const documents = [checkout, payouts, ...ofConsole].flatMap((operations) =>
    Object.entries<unknown>({ ...operations }).filter(
      (each): each is [string, string] => typeof each[1] === 'string' && OPERATION.test(each[1]),
    ),
  );

  test.each(documents)(
    'The widget’s documents fit the schema, their variables too: %s',
    (_name, document) => {
      expect(validate(schema, parse(document))).toEqual([]);
    },
  );

  test('The documents of the elements and of the console are among them', () => {
    const names = documents.map(([name]) => name);
    expect(names).toEqual(expect.arrayContaining(['START_CHECKOUT', 'SUBACCOUNTS']));
    expect(names.length).toBeGreaterThan(25);
  });
});
