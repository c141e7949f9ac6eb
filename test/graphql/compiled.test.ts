import fc from 'fast-check';
import {
  buildSchema,
  execute,
  type GraphQLSchema,
  getOperationAST,
  isEnumType,
  isObjectType,
  parse,
} from 'graphql';
import { expect, test } from 'vitest';
import { bytesOfCompiled, compileOperation } from '../../server/src/graphql/compiled.ts';
import { anyText } from '../support/any-text.ts';
import { generated } from '../support/scale.ts';

const schema: GraphQLSchema = buildSchema(`
  type Subscription { told: Thing told2(text: String): Thing! }
  type Query { thing: Thing must: Thing! things: [Thing] musts: [Thing!]! echo(text: String = "x", many: [Int!]): String }
  type Thing {
    text: String textMust: String! number: Int numberMust: Int! flag: Boolean id: ID color: Color
    list: [String] lists: [[Int!]] child: Child childMust: Child! own: String sure: Boolean!
  }
  type Child { text: String textMust: String! grand: Grand! }
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
/** As they come at once, or with promises among them, made anew for each of the two that run. */
type When = 'now' | 'thrown' | 'later' | 'rejected';
const AT_ONCE: When[] = ['now', 'now', 'now', 'now', 'now', 'thrown'];
const LATER: When[] = ['now', 'now', 'now', 'later', 'later', 'rejected', 'thrown'];

function roots(whens: When[]) {
  const coming = (value: fc.Arbitrary<unknown>) =>
    fc.tuple(value, fc.constantFrom(...whens)).map(([given, when]) => () => {
      if (when === 'later') return Promise.resolve(given);
      if (when === 'rejected') return Promise.reject(new Error('rejected'));
      if (when === 'thrown') throw new Error('thrown');
      return given;
    });
  const members = (values: Record<string, fc.Arbitrary<unknown>>) =>
    fc.record(Object.fromEntries(Object.entries(values).map(([name, value]) => [name, coming(value)])));
  const mostly = (value: fc.Arbitrary<unknown>) => fc.oneof({ weight: 9, arbitrary: value }, leaf);
  const grand = members({ numberMust: mostly(fc.integer()) });
  const child = members({ text: leaf, textMust: mostly(fc.string()), grand: mostly(grand) });
  const thing = members({
    ...{ text: leaf, textMust: mostly(fc.string()), number: leaf, numberMust: mostly(fc.integer()) },
    ...{ flag: leaf, id: leaf, color: leaf, sure: mostly(fc.boolean()) },
    ...{ list: mostly(fc.array(leaf)), lists: mostly(fc.array(fc.array(leaf))) },
    ...{ child: mostly(child), childMust: mostly(child) },
  });
  return members({
    ...{ thing: mostly(thing), must: mostly(thing) },
    ...{
      things: mostly(fc.array(mostly(thing), { maxLength: 3 })),
      musts: mostly(fc.array(thing, { maxLength: 3 })),
    },
  });
}

const FIELDS = `__typename text a: text textMust number numberMust flag id color list lists own sure
  child { text textMust grand { numberMust } ...C } childMust { textMust } child { again: text }`;
const QUERIES = ['thing', 'must', 'things', 'musts'].map(
  (name) =>
    `{ before: __typename ${name} { ${FIELDS} } after: echo } fragment C on Child { text grand { n: numberMust } }`,
);

/** What stands in the root stands behind getters, which throw where a resolver would. */
function alive(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(alive);
  if (typeof value !== 'object' || value === null || value instanceof Error) return value;
  const object = {};
  for (const [name, read] of Object.entries(value))
    Object.defineProperty(object, name, {
      get() {
        const given = (read as () => unknown)();
        return given instanceof Promise ? given.then(alive) : alive(given);
      },
    });
  return object;
}

async function both(given: unknown, query: string) {
  const document = parse(query);
  const queryFields = schema.getQueryType()!.getFields();
  for (const name of ['thing', 'must', 'things', 'musts'])
    queryFields[name]!.resolve = () => (alive(given) as Record<string, unknown>)[name];
  const { data, errors = [] } = await execute({ schema, document });
  const compiled = await compileOperation(schema, document, getOperationAST(document)!)!({}, {});
  return [
    { data: JSON.stringify(data), errors: errors.map((error) => error.toJSON()) },
    { data: compiled.data, errors: compiled.errors.map((error) => error.toJSON()) },
  ] as const;
}

test('a compiled query answers what execute answers, with the same errors in the same order', async () => {
  await fc.assert(
    fc.asyncProperty(roots(AT_ONCE), fc.constantFrom(...QUERIES), async (given, query) => {
      const [executed, compiled] = await both(given, query);
      expect(compiled).toEqual(executed);
    }),
    { numRuns: generated(300) },
  );
});

// `execute` itself leaves rejections alone where another item of a list, of which none may be null, throws at once.
test('and so it does with what comes later', async () => {
  await fc.assert(
    fc.asyncProperty(roots(LATER), fc.constantFrom(...QUERIES.slice(0, 3)), async (given, query) => {
      const [executed, compiled] = await both(given, query);
      expect(compiled.data).toBe(executed.data);
      expect(certain(compiled)).toEqual(certain(executed));
    }),
    { numRuns: generated(300) },
  );
});

/** Without those below what has become null by another: whether they are told depends on which comes first. */
function certain({ data, errors }: { data: string; errors: { path?: readonly (string | number)[] }[] }) {
  const shown = (path: readonly (string | number)[]) => {
    let value = JSON.parse(data);
    for (const key of path) {
      if (value === null) return false;
      value = value[key];
    }
    return true;
  };
  return errors
    .filter(({ path = [] }) => shown(path))
    .map((error) => JSON.stringify(error))
    .sort();
}

test('arguments are given as they are, with variables and without', async () => {
  const document = parse(
    'query ($text: String, $many: [Int!]) { a: echo b: echo(text: null, many: [1]) c: echo(text: $text, many: $many) }',
  );
  const compiled = compileOperation(schema, document, getOperationAST(document)!)!;
  for (const variableValues of [{}, { text: 'y' }, { text: null, many: [1, 2] }]) {
    const expected = await execute({ schema, document, variableValues });
    expect((await compiled({}, variableValues)).data).toBe(JSON.stringify(expected.data));
  }
});

test('of a subscription, each event', async () => {
  const { told, told2 } = schema.getSubscriptionType()!.getFields();
  told!.resolve = (item, _args, context) => ({ text: `${item} ${context}` });
  told2!.resolve = (_item, args, context, info) => ({ text: `${info.rootValue} ${args.text} ${context}` });
  const document = parse(
    'subscription ($text: String) { told { text } more: told2(text: $text) { text textMust } }',
  );
  const compiled = compileOperation(schema, document, getOperationAST(document)!)!;
  for (const rootValue of ['an event', 'another']) {
    const variableValues = { text: 'y' };
    const expected = await execute({ schema, document, rootValue, contextValue: 'context', variableValues });
    const { data, errors } = await compiled('context', variableValues, rootValue);
    expect(JSON.parse(data)).toEqual(expected.data);
    expect(errors.map((error) => error.toJSON())).toEqual(expected.errors?.map((error) => error.toJSON()));
    expect(errors).toHaveLength(1);
  }
});

test('is more to keep the more fields it is made of', () => {
  const bytes = (text: string) => {
    const document = parse(text);
    return bytesOfCompiled(compileOperation(schema, document, getOperationAST(document)!));
  };
  expect(bytes('{ echo other: echo }')).toBe(2 * bytes('{ echo }'));
  expect(bytesOfCompiled(null)).toBe(0);
});

test.each([
  ['a directive', '{ thing { text @include(if: true) } }'],
  ['the schema', '{ __schema { queryType { name } } }'],
  ['a type', '{ __type(name: "Thing") { name } }'],
])('%s is left to execute', (_, query) => {
  const document = parse(query);
  expect(compileOperation(schema, document, getOperationAST(document)!)).toBeNull();
});
