import { defaultFieldResolver, type GraphQLObjectType, isObjectType, parse } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { keysOfEntity, sdlOf } from '../../../server/src/api/graphql/federation.ts';
import { schema } from '../../../server/src/programs/modes/schema.ts';
import { addAccount, addKey, addToken } from '../../support/accounts.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { createManualClock } from '../../support/clock.ts';
import { openFreshDatabase } from '../../support/database.ts';
import { recordStatements } from '../../support/statements.ts';

const nodeTypes = Object.values(schema.getTypeMap())
  .filter(isObjectType)
  .filter((type) => type.getInterfaces().some(({ name }) => name === 'Node'));
const encoded = (text: string) => Buffer.from(text).toString('base64');

describe('the keys of the types', () => {
  test.each(nodeTypes)('The type $name is an entity, with its keys in the SDL', (type) => {
    const keys = keysOfEntity(type.name);
    expect(keys[0]).toBe('id');
    for (const key of keys) expect(type.getFields()[key]!.type.toString()).toMatch(/^(ID|String)!$/);
    const directives = keys.map((key) => `@key(fields: "${key}")`).join(' ');
    const interfaces = type.getInterfaces().map(({ name }) => name);
    expect(interfaces).toContain('Node');
    expect(sdlOf(schema)).toContain(
      `type ${type.name} implements ${interfaces.sort().join(' & ')} ${directives} {`,
    );
  });

  test.each(nodeTypes.filter(({ name }) => keysOfEntity(name).length > 1))(
    'The natural key of $name is the text in its id',
    async (type) => {
      const [, naturalKey] = keysOfEntity(type.name);
      // An object whose members hold their own names.
      const source = new Proxy({}, { get: (_, name) => String(name) });
      const id = String(await readField(type, 'id', source));
      expect(id).toBe(encoded(`${type.name}:${await readField(type, naturalKey!, source)}`));
    },
  );

  function readField(type: GraphQLObjectType, name: string, source: object): unknown {
    const { resolve = defaultFieldResolver } = type.getFields()[name]!;
    return resolve(source, {}, {}, { parentType: type, fieldName: name } as never);
  }

  test('The SDL is a schema without what only a gateway asks for', () => {
    const sdl = sdlOf(schema);
    expect(parse(sdl).definitions.length).toBeGreaterThan(100);
    expect(sdl).not.toMatch(/_service|_entities|_Any|_Entity|_Service|@oneOf/);
    expect(sdl).toContain('type PageInfo @shareable {');
    expect(sdl).toMatch(/^extend schema @link\(url: "https:\/\/specs.apollo.dev\/federation\/v2\.\d"/);
  });
});

describe('a server behind a gateway', () => {
  const ENTITIES = `query ($representations: [_Any!]!) { _entities(representations: $representations) {
    __typename ... on CardPayment { id orderCode } ... on Product { id productId name } ... on Wallet { currency } } }`;
  let statements: string[];
  let app: TestApp;
  let codes: string[];
  let productId: string;

  beforeAll(async () => {
    const clock = createManualClock();
    const recorded = recordStatements(await openFreshDatabase(clock));
    statements = recorded.statements;
    app = await startApp({ database: recorded.database, clock });
    codes = [];
    for (const valueCents of [100, 200]) {
      const { createCardPayment } = await app.live.request(
        'mutation ($input: CreateCardPaymentInput!) { createCardPayment(input: $input) { ... on CreateCardPaymentSuccess { cardPayment { orderCode } } } }',
        { input: { valueCents } },
      );
      codes.push(createCardPayment.cardPayment.orderCode);
    }
    const { createProduct } = await app.live.request(
      'mutation { createProduct(input: { name: "Caneca", priceCents: 4990 }) { ... on CreateProductSuccess { product { productId } } } }',
    );
    productId = createProduct.product.productId;
  });
  afterAll(async () => {
    expect(app.faults).toEqual([]);
    await app.close();
  });

  const byCode = (orderCode: string) => ({ __typename: 'CardPayment', orderCode });
  const byId = (typename: string, id: string) => ({ __typename: typename, id: encoded(`${typename}:${id}`) });
  const found = (orderCode: string) => ({ id: encoded(`CardPayment:${orderCode}`), ...byCode(orderCode) });

  test('Objects are found by either key in the order asked, those of a kind by one statement', async () => {
    statements.length = 0;
    const { _entities } = await app.live.request(ENTITIES, {
      representations: [
        byCode(codes[1]!),
        { __typename: 'Product', productId },
        byId('CardPayment', codes[0]!),
        byCode('PSC-NONE'),
        byCode(codes[0]!),
        byId('Product', productId),
      ],
    });
    const product = { __typename: 'Product', id: encoded(`Product:${productId}`), productId, name: 'Caneca' };
    expect(_entities).toEqual([
      ...[found(codes[1]!), product, found(codes[0]!), null],
      ...[found(codes[0]!), product],
    ]);
    expect(statements.filter((statement) => statement.includes('from "card_payment"'))).toHaveLength(1);
    expect(statements.filter((statement) => statement.includes('from "product"'))).toHaveLength(1);
  });

  test('A literal names an object as a variable does', async () => {
    const query = `query ($code: String) { _entities(representations: [{ __typename: "CardPayment", orderCode: $code }]) { __typename } }`;
    const { body } = await app.live.send(query, { code: codes[0] });
    expect(body.data ?? body.errors).toEqual({ _entities: [{ __typename: 'CardPayment' }] });
  });

  test('Objects of another account and of another environment are null', async () => {
    const representations = [byCode(codes[0]!), byId('CardPayment', codes[0]!), byId('Product', productId)];
    const other = app.client(await addKey(app, { accountId: await addAccount(app) }));
    for (const client of [other, app.sandbox])
      expect(await client.request(ENTITIES, { representations })).toEqual({ _entities: [null, null, null] });
  });

  test('A token reads what its scopes name, and what it may not read leaves the others', async () => {
    const token = await addToken(app, { kind: 'dashboard', grant: { scopes: ['products'] } });
    const representations = [byCode(codes[0]!), { __typename: 'Product', productId }];
    const { body } = await app.client(token).send(ENTITIES, { representations });
    expect(body.data._entities).toMatchObject([null, { productId }]);
    expect(body.errors).toMatchObject([
      { path: ['_entities', 0], extensions: { code: 'FORBIDDEN', retryPolicy: 'AFTER_CHANGE' } },
    ]);
    const payer = app.client(await addToken(app, { kind: 'payment', grant: { orderCode: codes[0] } }));
    const payments = { representations: [byCode(codes[0]!), byCode(codes[1]!)] };
    expect((await payer.send(ENTITIES, payments)).body.data._entities).toEqual([found(codes[0]!), null]);
  });

  test('A request for objects is one root field of the limit, whatever their number', async () => {
    const left = async () =>
      (await app.live.request('{ viewer { rateLimit { remaining } } }')).viewer.rateLimit.remaining;
    const before = await left();
    await app.live.request(ENTITIES, { representations: codes.map(byCode) });
    expect(before - (await left())).toBe(2);
  });

  const many = (count: number) => Array.from({ length: count }, () => byCode('PSC-NONE'));
  test('At most a hundred objects are asked for at once', async () => {
    expect((await app.live.request(ENTITIES, { representations: many(100) }))._entities).toHaveLength(100);
    const { body } = await app.live.send(ENTITIES, { representations: many(101) });
    expect(body.errors[0].extensions).toMatchObject({
      code: 'BAD_USER_INPUT',
      fields: [{ path: 'representations', message: 'must be at most 100' }],
    });
    // Each object counts as an item of a list, and so do the items of the lists in it.
    const query = `query ($representations: [_Any!]!) { _entities(representations: $representations) {
      ... on Subaccount { payouts { nodes { status } } } } }`;
    const refused = await app.live.send(query, { representations: many(100) });
    expect(refused.body.errors[0].message).toMatch(/^The operation asks for up to \d+ items of lists/);
  });

  test.each<[string, unknown, string]>([
    ['a type without a key', { __typename: 'Viewer', id: 'x' }, 'representations.1.__typename'],
    ['a type that does not exist', { __typename: 'constructor', id: 'x' }, 'representations.1.__typename'],
    ['no key', { __typename: 'CardPayment', externalId: '1042' }, 'representations.1.__typename'],
    [
      'a natural key of another type',
      { __typename: 'CardPayment', chargeId: 'x' },
      'representations.1.__typename',
    ],
    ['a key that is no text', { __typename: 'CardPayment', orderCode: 7 }, 'representations.1.orderCode'],
    ['an empty key', { __typename: 'CardPayment', orderCode: '' }, 'representations.1.orderCode'],
    ['no id', { __typename: 'CardPayment', id: 'x' }, 'representations.1.id'],
    [
      'an id of another type',
      { __typename: 'CardPayment', id: encoded('Product:x') },
      'representations.1.id',
    ],
  ])('_entities rejects a representation with %s, and names the member', async (_, representation, path) => {
    const { body } = await app.live.send(ENTITIES, { representations: [byCode(codes[0]!), representation] });
    expect(body.data).toBeNull();
    expect(body.errors).toHaveLength(1);
    expect(body.errors[0].extensions).toMatchObject({ code: 'BAD_USER_INPUT', fields: [{ path }] });
  });

  test.each([
    ['a text', 'x'],
    ['a list', []],
    ['an object without a type', {}],
  ])('_Any rejects %s: a representation is an object with a __typename', async (_, representation) => {
    const { body } = await app.live.send(ENTITIES, { representations: [representation] });
    expect(body.errors[0].message).toContain('_Any must');
    expect(body.errors[0].extensions.code).toBe('BAD_USER_INPUT');
  });

  test('The SDL is shown to API keys alone, as the schema is', async () => {
    const query = '{ _service { sdl } }';
    for (let times = 0; times < 4; times += 1)
      expect(await app.live.request(query)).toEqual({ _service: { sdl: sdlOf(schema) } });
    const token = await addToken(app, { kind: 'dashboard', grant: { scopes: ['wallet'] } });
    const { body } = await app.client(token).send(query);
    expect(body.errors[0]).toMatchObject({
      message: 'The schema is shown to API keys',
      extensions: { code: 'FORBIDDEN', retryPolicy: 'AFTER_CHANGE' },
    });
    const anonymous = await app.client(null).send(query);
    expect(anonymous.body.errors[0].extensions.code).toBe('UNAUTHENTICATED');
  });
});
