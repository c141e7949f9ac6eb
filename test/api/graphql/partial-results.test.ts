import { ApolloClient, CombinedGraphQLErrors, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { Environment, fetchQuery, Network, RecordSource, Store } from 'relay-runtime';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addToken } from '../../support/accounts.ts';
import { startApp, type TestApp } from '../../support/app.ts';

// A token for payouts is refused the wallet: one root field fails and the other does not.

const DASHBOARD = 'query Dashboard { wallet { balanceCents } payouts(first: 5) { totalCount } }';

let app: TestApp;
let token: string;
beforeAll(async () => {
  app = await startApp({ compileAfter: 1, environment: { PSA_FAST_PATH: 'on' } });
  token = await addToken(app, { kind: 'dashboard', grant: { scopes: ['payouts'] } });
});
afterAll(() => app.close());

describe('a result with a root field that has failed', () => {
  test('A root field that fails leaves the others, with one error and its path, executed and compiled', async () => {
    const expected = {
      status: 200,
      body: {
        data: { wallet: null, payouts: { totalCount: 0 } },
        errors: [{ path: ['wallet'], extensions: { code: 'FORBIDDEN', retryPolicy: 'AFTER_CHANGE' } }],
      },
    };
    const refused = app.client(token);
    expect(await refused.send(DASHBOARD)).toMatchObject(expected);
    // The queries above have made the token known and compiled the document.
    const before = app.fastAnswers();
    for (let n = 0; n < 3; n += 1) await app.live.request(DASHBOARD);
    expect(app.fastAnswers()).toBeGreaterThan(before);
    const compiled = await refused.send(DASHBOARD);
    expect(compiled).toMatchObject(expected);
    expect(compiled.body.errors).toHaveLength(1);
  });

  test('A request without any result keeps the HTTP status of its error', async () => {
    const refused = app.client(token);
    expect(await refused.send('{ wallet { balanceCents } other: wallet { balanceCents } }')).toMatchObject({
      status: 403,
      body: { data: { wallet: null, other: null } },
    });
    // Some clients add `__typename` to each selection.
    expect(await refused.send('{ __typename wallet { balanceCents } }')).toMatchObject({ status: 403 });
    // The null of a lookup is an answer; an error stands beside it.
    const lookup = '{ cardPayment(orderCode: "PSC-0123456789ABCDEFGHJKMNPQ") { id } }';
    expect(await refused.send(lookup)).toMatchObject({ status: 200, body: { data: { cardPayment: null } } });
  });

  test('A mutation field that fails takes no result away, and those behind it are executed', async () => {
    const own = await startApp();
    await own.database.sql.schema.dropTable('card_payment').cascade().execute();
    const open = (name: string) =>
      `${name}: createSubaccount(input: { name: "${name}" }) { ... on CreateSubaccountSuccess { replayed } }`;
    const { status, body } = await own.live.send(
      `mutation { ${open('first')} failed: createCardPayment(input: { valueCents: 100 }) { __typename } ${open('last')} }`,
    );
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        data: { first: { replayed: false }, failed: null, last: { replayed: false } },
        errors: [{ path: ['failed'], extensions: { code: 'INTERNAL_SERVER_ERROR', retryPolicy: 'LOOK_UP' } }],
      },
    });
    expect(own.faults).toHaveLength(1);
    await own.close();
  });
});

describe('stock clients', () => {
  test('Apollo Client with errorPolicy all shows what has arrived, and the error of the rest', async () => {
    const link = new HttpLink({ uri: `${app.url}/graphql`, headers: { authorization: `Bearer ${token}` } });
    const client = new ApolloClient({ link, cache: new InMemoryCache() });
    const { data, error } = await client.query({ query: gql(DASHBOARD), errorPolicy: 'all' });
    expect(data).toMatchObject({ wallet: null, payouts: { totalCount: 0 } });
    expect(CombinedGraphQLErrors.is(error) && error.errors).toMatchObject([{ path: ['wallet'] }]);
    client.stop();
  });

  test('Relay catches the error of one field with @catch, and throws it with @throwOnFieldError alone', async () => {
    const relay = new Environment({
      network: Network.create(async ({ text }) => (await app.client(token).send(text!)).body),
      store: new Store(new RecordSource()),
      relayFieldLogger: () => undefined,
    });
    const read = (catches: boolean) =>
      fetchQuery(relay, artifact(catches), {}).toPromise() as Promise<Record<string, unknown>>;
    expect(await read(true)).toEqual({
      wallet: { ok: false, errors: [{ extensions: { code: 'FORBIDDEN', retryPolicy: 'AFTER_CHANGE' } }] },
      payouts: { totalCount: 0 },
    });
    await expect(read(false)).rejects.toThrow('Unexpected response payload');
  });
});

/** The artifact of `query Dashboard @throwOnFieldError`, in which `wallet` may have `@catch`, as Relay's compiler makes it. */
function artifact(catches: boolean): object {
  const scalar = (name: string) => ({ alias: null, args: null, name, storageKey: null, kind: 'ScalarField' });
  const linked = (name: string, concreteType: string, member: string, first?: number) => ({
    alias: null,
    name,
    concreteType,
    plural: false,
    kind: 'LinkedField',
    args: first === undefined ? null : [{ kind: 'Literal', name: 'first', value: first }],
    storageKey: first === undefined ? null : `${name}(first:${first})`,
    selections: [scalar(member)],
  });
  const wallet = linked('wallet', 'Wallet', 'balanceCents');
  const payouts = linked('payouts', 'PayoutConnection', 'totalCount', 5);
  const common = { argumentDefinitions: [], name: 'Dashboard' };
  return {
    kind: 'Request',
    fragment: {
      ...common,
      kind: 'Fragment',
      type: 'Query',
      abstractKey: null,
      metadata: { throwOnFieldError: true },
      selections: [catches ? { kind: 'CatchField', field: wallet, to: 'RESULT' } : wallet, payouts],
    },
    operation: { ...common, kind: 'Operation', selections: [wallet, payouts] },
    params: {
      cacheID: 'dashboard',
      id: null,
      metadata: {},
      name: 'Dashboard',
      operationKind: 'query',
      text: DASHBOARD,
    },
  };
}
