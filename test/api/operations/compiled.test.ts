import fc from 'fast-check';
import {
  buildSchema,
  type DocumentNode,
  type ExecutionResult,
  execute as executeByGraphQL,
  type GraphQLSchema,
  getOperationAST,
  isEnumType,
  isObjectType,
  parse,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import { execute } from '../../../server/src/api/graphql/execution.ts';
import { bytesOfCompiled, compileOperation } from '../../../server/src/api/operations/fast/compile.ts';
import { anyText } from '../../support/any-text.ts';
import { generated } from '../../support/scale.ts';

const schema: GraphQLSchema = buildSchema(`
  type Subscription { update: Thing update2(text: String): Thing! }
  type Query { thing: Thing must: Thing! things: [Thing] musts: [Thing!]! echo(text: String = "x", many: [Int!]): String }
  type Thing {
    text: String textMust: String! number: Int numberMust: Int! flag: Boolean id: ID color: Color
    list: [String] lists: [[Int!]] child: Child childMust: Child! own: String sure: Boolean!
  }
  interface Named { text: String }
  type Other implements Named { text: String }
  type Child implements Named { text: String textMust: String! grand: Grand! }
  type Grand { numberMust: Int! }
  enum Color { RED GREEN }
`);
for (const type of Object.values(schema.getTypeMap())) {
  if (isEnumType(type) || !isObjectType(type)) continue;
  // One resolver of each kind: without and with the fourth parameter.
  const { own, sure } = type.getFields();
  if (own) own.resolve = (source) => (source as { text: unknown }).text;
  if (sure)
    sure.resolve = (source, _args, _context, info) => (source as Record<string, unknown>)[info.fieldName];
  if (type.name === 'Child') type.isTypeOf = (value) => (value as { other?: unknown }).other === undefined;
}
schema.getQueryType()!.getFields().echo!.resolve = (_, args) => JSON.stringify(args);

// ── Values of every kind, at once and later ─────────────────────────────────────────────────────

const leaf = fc.oneof(
  { weight: 6, arbitrary: anyText },
  { weight: 6, arbitrary: fc.integer() },
  fc.constantFrom<unknown>(true, false, null, undefined, 1.5, 1e21, -0, Number.NaN, 'RED', {}, []),
  fc.constantFrom<unknown>(
    new Error('a value'),
    () => 'called',
    () => {
      throw new Error('called');
    },
  ),
);
/** A value or an error that a resolver gives, after this number of turns. */
interface Coming {
  fails: boolean;
  turns: number;
}
const AT_ONCE: Coming[] = [0, 0, 0, 0, 0, 1].map((fails) => ({ fails: fails === 1, turns: 0 }));
const LATER: Coming[] = [0, 0, 0, 1, 2, 3, 5].flatMap((turns) => [
  { fails: false, turns },
  { fails: false, turns },
  { fails: true, turns },
]);

/** Reads a value after its turns, or at once. */
type Read = (atOnce: boolean) => unknown;

function roots(ways: Coming[]) {
  const coming = (value: fc.Arbitrary<unknown>) =>
    fc.tuple(value, fc.constantFrom(...ways)).map(
      ([given, { fails, turns }]): Read =>
        (atOnce) => {
          const come = () => {
            if (fails) throw new Error('failed');
            return given;
          };
          // A value that is a function is called at once, never after turns.
          const isAtOnce = atOnce || turns === 0 || typeof given === 'function';
          return isAtOnce ? come() : after(turns).then(come);
        },
    );
  const members = (values: Record<string, fc.Arbitrary<unknown>>) =>
    fc.record(Object.fromEntries(Object.entries(values).map(([name, value]) => [name, coming(value)])));
  const mostly = (value: fc.Arbitrary<unknown>) => fc.oneof({ weight: 9, arbitrary: value }, leaf);
  const grand = members({ numberMust: mostly(fc.integer()) });
  const child = members({ text: leaf, textMust: mostly(fc.string()), grand: mostly(grand) });
  const thing = members({
    text: leaf,
    textMust: mostly(fc.string()),
    number: leaf,
    numberMust: mostly(fc.integer()),
    flag: leaf,
    id: leaf,
    color: leaf,
    sure: mostly(fc.boolean()),
    list: mostly(fc.array(leaf)),
    lists: mostly(fc.array(fc.array(leaf))),
    child: mostly(child),
    childMust: mostly(child),
  });
  return members({
    thing: mostly(thing),
    must: mostly(thing),
    things: mostly(fc.array(mostly(thing), { maxLength: 3 })),
    musts: mostly(fc.array(thing, { maxLength: 3 })),
  });
}

const FIELDS = `__typename text a: text textMust number numberMust flag id color list lists own sure
  child { text textMust grand { numberMust } ...C } childMust { textMust } child { again: text } empty: child { ...Others }`;
const QUERIES = ['thing', 'must', 'things', 'musts'].map(
  (name) =>
    `{ before: __typename ${name} { ${FIELDS} } after: echo } fragment C on Child { text grand { n: numberMust } }
      fragment Others on Named { ... on Other { text } }`,
);

async function after(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await undefined;
}

/** The fields of the root are getters, which throw as a resolver would. */
function alive(value: unknown, atOnce: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => alive(item, atOnce));
  if (typeof value !== 'object' || value === null || value instanceof Error) return value;
  const object = {};
  for (const [name, read] of Object.entries(value))
    Object.defineProperty(object, name, {
      get() {
        const given = (read as Read)(atOnce);
        return given instanceof Promise ? given.then((each) => alive(each, atOnce)) : alive(given, atOnce);
      },
    });
  return object;
}

/** The answer to a query whose values arrive in this way. */
async function answerTo(
  query: string,
  given: unknown,
  atOnce: boolean,
  run: (document: DocumentNode) => ExecutionResult | Promise<ExecutionResult>,
) {
  const queryFields = schema.getQueryType()!.getFields();
  for (const name of ['thing', 'must', 'things', 'musts'])
    queryFields[name]!.resolve = () => (alive(given, atOnce) as Record<string, unknown>)[name];
  const { data, errors = [] } = await run(parse(query));
  return { data: JSON.stringify(data), errors: errors.map((error) => error.toJSON()) };
}

const byGraphQL = (document: DocumentNode) => executeByGraphQL({ schema, document });
const byExecution = (document: DocumentNode) => execute({ schema, document });
async function byCompiled(document: DocumentNode): Promise<ExecutionResult> {
  const { data, errors } = await compileOperation(schema, document, getOperationAST(document)!)!({}, {});
  return { data: JSON.parse(data), errors };
}

describe.each([
  ['execution', byExecution],
  ['a compiled query', byCompiled],
])('%s', (_, run) => {
  test('the result is the one of graphql, with the same errors in the same order', async () => {
    await fc.assert(
      fc.asyncProperty(roots(AT_ONCE), fc.constantFrom(...QUERIES), async (given, query) => {
        expect(await answerTo(query, given, true, run)).toEqual(
          await answerTo(query, given, true, byGraphQL),
        );
      }),
      { numRuns: generated(300) },
    );
  });

  test('the result is the same whether values and errors come at once or later', async () => {
    await fc.assert(
      fc.asyncProperty(roots(LATER), fc.constantFrom(...QUERIES), async (given, query) => {
        expect(await answerTo(query, given, false, run)).toEqual(
          await answerTo(query, given, true, byGraphQL),
        );
      }),
      { numRuns: generated(600) },
    );
  });
});

describe('execution', () => {
  const schemaOf = buildSchema(`
    interface Named { name: String! }
    type A implements Named { name: String! a: Int }
    type B implements Named { name: String! b: Int! }
    union Either = A | B
    type Query { named: Named either(of: String): Either! many: [Either] }
    type Mutation { first(fails: Boolean): Either second: String! third: Either! }
  `);
  const both = async (query: string, rootValue: object, variableValues = {}) => {
    const document = parse(query);
    const args = { schema: schemaOf, document, rootValue, variableValues };
    const [ours, graphqls] = [await execute(args), await executeByGraphQL(args)];
    const shown = ({ data, errors }: ExecutionResult) => ({
      data: JSON.stringify(data),
      errors: errors?.map((error) => error.toJSON()),
    });
    expect(shown(ours)).toEqual(shown(graphqls));
    return ours;
  };

  test('execution resolves interfaces and unions, fragments and directives as graphql does', async () => {
    const a = { __typename: 'A', name: 'a', a: 1 };
    const b = { __typename: 'B', name: 'b', b: null };
    const query = `query ($with: Boolean = true, $without: Boolean!) {
      named { __typename name @include(if: $with) ...OnA ... on B @skip(if: $without) { b } }
      many { ... on Named { name } ... on B { b } ...OnA }
      either { __typename ... on Either { ... on A { a } } ... { ... on Named @include(if: $without) { name } } }
    } fragment OnA on A { a }`;
    for (const without of [true, false])
      for (const named of [a, b])
        for (const asked of [{ without }, { without, with: false }, { without, with: null }, {}])
          await both(query, { named, many: [a, null, b], either: a }, asked);
  });

  test.each(['None', 'Query', undefined])(
    'a value of the type %s in a union gives an error',
    async (__typename) => {
      const document = parse('{ named { name } many { __typename } }');
      const rootValue = { named: { __typename, name: 'x' }, many: [] };
      const { data, errors } = await execute({ schema: schemaOf, document, rootValue });
      expect(data).toEqual({ named: null, many: [] });
      expect(errors).toMatchObject([{ path: ['named'], message: expect.stringContaining('"Named"') }]);
    },
  );

  test('a mutation ends with the first field that fails', async () => {
    const query = 'mutation { first { ... on A { name } } second third { ... on B { b } } again: second }';
    const ran: string[] = [];
    const root = (second: () => unknown, third: object) => ({
      first: () => ({ __typename: 'A', name: null }),
      second: async () => {
        ran.push('second');
        return second();
      },
      third: () => ({ __typename: 'B', ...third }),
    });
    expect(
      (
        await both(
          query,
          root(() => 'x', { b: 1 }),
        )
      ).data,
    ).toMatchObject({ first: null, again: 'x' });
    expect(ran.splice(0)).toHaveLength(4);
    expect(
      (
        await both(
          query,
          root(() => 'x', { b: null }),
        )
      ).data,
    ).toBeNull();
    expect(ran.splice(0)).toHaveLength(2);
    const fails = () => Promise.reject(new Error('second'));
    expect((await both(query, root(fails, { b: 1 }))).errors).toHaveLength(2);
    expect(ran).toHaveLength(2);
  });

  test('a request without an operation has the result of graphql', async () => {
    for (const query of [
      'query A { __typename } query B { __typename }',
      'fragment A on Query { __typename }',
    ])
      await both(query, {});
    await both('query ($of: String!) { either(of: $of) { __typename } }', {}, { of: 1 });
    await both('{ __schema { queryType { name } } __type(name: "A") { kind } }', {});
  });
});

test('a compiled resolver gets its arguments, with variables and without', async () => {
  const document = parse(
    'query ($text: String, $many: [Int!]) { a: echo b: echo(text: null, many: [1]) c: echo(text: $text, many: $many) }',
  );
  const compiled = compileOperation(schema, document, getOperationAST(document)!)!;
  for (const variableValues of [{}, { text: 'y' }, { text: null, many: [1, 2] }]) {
    const expected = await executeByGraphQL({ schema, document, variableValues });
    expect((await compiled({}, variableValues)).data).toBe(JSON.stringify(expected.data));
  }
});

test('a compiled subscription executes each of its updates', async () => {
  const { update, update2 } = schema.getSubscriptionType()!.getFields();
  update!.resolve = (item, _args, context) => ({ text: `${item} ${context}` });
  update2!.resolve = (_item, args, context, info) => ({ text: `${info.rootValue} ${args.text} ${context}` });
  const document = parse(
    'subscription ($text: String) { update { text } more: update2(text: $text) { text textMust } }',
  );
  const compiled = compileOperation(schema, document, getOperationAST(document)!)!;
  for (const rootValue of ['an event', 'another']) {
    const variableValues = { text: 'y' };
    const expected = await executeByGraphQL({
      schema,
      document,
      rootValue,
      contextValue: 'context',
      variableValues,
    });
    const { data, errors } = await compiled('context', variableValues, rootValue);
    expect(JSON.parse(data)).toEqual(expected.data);
    expect(errors.map((error) => error.toJSON())).toEqual(expected.errors?.map((error) => error.toJSON()));
    expect(errors).toHaveLength(1);
  }
});

test('a compiled operation counts more bytes for more fields', () => {
  const bytes = (text: string) => {
    const document = parse(text);
    return bytesOfCompiled(compileOperation(schema, document, getOperationAST(document)!) ?? false);
  };
  expect(bytes('{ echo other: echo }')).toBe(2 * bytes('{ echo }'));
  expect(bytesOfCompiled(false)).toBe(0);
});

test.each([
  ['a directive', '{ thing { text @include(if: true) } }'],
  ['the schema', '{ __schema { queryType { name } } }'],
  ['a type', '{ __type(name: "Thing") { name } }'],
])('%s is not compiled', (_, query) => {
  const document = parse(query);
  expect(compileOperation(schema, document, getOperationAST(document)!)).toBeNull();
});
