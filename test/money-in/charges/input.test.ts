import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addAccount, addKey } from '../../support/accounts.ts';
import { LIVE_KEY, startApp, TEST_KEY, type TestApp } from '../../support/app.ts';
import { createRestClient, type RestClient } from '../../support/rest.ts';

let app: TestApp;
let live: RestClient;
/** Subaccounts: ten of the account, one of another account, one of the account's sandbox. */
const ids: Record<string, string> = {};
beforeAll(async () => {
  app = await startApp();
  live = createRestClient(app.url, LIVE_KEY);
  const foreign = createRestClient(app.url, await addKey(app, { accountId: await addAccount(app) }));
  const made = async (client: RestClient) => (await client.post('/subaccounts', { name: 'Ana' })).body.id;
  for (let index = 0; index < 10; index += 1) ids[`own ${index}`] = await made(live);
  ids.foreign = await made(foreign);
  ids.sandbox = await made(createRestClient(app.url, TEST_KEY));
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
});

interface Split {
  of?: string;
  amountCents?: unknown;
  percent?: unknown;
}
interface Case {
  valueCents?: unknown;
  metadata?: string;
  expiresInSeconds?: unknown;
  splits?: Split[];
}

const half: Split = { percent: '50' };
const owns = (count: number): Split[] =>
  Array.from({ length: count }, (_, index) => ({ of: `own ${index}`, percent: '1' }));

/** Each bad input with the member that the refusal names, in REST and in GraphQL. */
const REFUSED: [title: string, input: Case, rest: string, graphql?: string][] = [
  ['an amount of 0', { valueCents: 0 }, 'valueCents'],
  ['a negative amount', { valueCents: -1 }, 'valueCents'],
  ['an amount above the largest', { valueCents: 10_000_000_001 }, 'valueCents'],
  ['a split charge above R$ 5.000,00', { valueCents: 500_001, splits: [half] }, 'valueCents'],
  ['metadata of a split charge', { metadata: '{}', splits: [half] }, 'metadata'],
  ['metadata that is no JSON', { metadata: '{' }, 'metadata'],
  ['a time of 59 seconds', { expiresInSeconds: 59 }, 'expiresInSeconds'],
  ['a time of more than 30 days', { expiresInSeconds: 2_592_001 }, 'expiresInSeconds'],
  ['no beneficiary', { splits: [] }, 'splits'],
  ['ten beneficiaries', { splits: owns(10) }, 'splits'],
  ['a beneficiary twice', { splits: [half, { percent: '1' }] }, 'splits.1.subaccountId'],
  ['100.01 %', { splits: [{ percent: '100.01' }] }, 'splits.0.percent', 'splits.0.share.percent'],
  ['33.333 %', { splits: [{ percent: '33.333' }] }, 'splits.0.percent', 'splits.0.share.percent'],
  ['0 %', { splits: [{ percent: '0.00' }] }, 'splits.0.percent', 'splits.0.share.percent'],
  ['a negative percentage', { splits: [{ percent: '-1' }] }, 'splits.0.percent', 'splits.0.share.percent'],
  ['neither', { splits: [{}] }, 'splits.0.amountCents', 'splits.0.share'],
  ['both', { splits: [{ amountCents: 10, percent: '1' }] }, 'splits.0.amountCents', 'splits.0.share'],
  ['a share of 0 cents', { splits: [{ percent: '0.01' }] }, 'splits.0.percent', 'splits.0.share.percent'],
  [
    'a fixed share of 0',
    { splits: [{ amountCents: 0 }] },
    'splits.0.amountCents',
    'splits.0.share.amountCents',
  ],
  [
    'shares of more than the net amount',
    { splits: [{ percent: '60' }, { of: 'own 1', amountCents: 401 }] },
    'splits',
  ],
  ['a subaccount that is none', { splits: [{ of: 'nobody', percent: '1' }] }, 'splits.0.subaccountId'],
];

const named = ({ of = 'own 0', ...share }: Split) => ({ subaccountId: ids[of] ?? of, share });

function toRest({ splits, ...input }: Case) {
  const parts = splits?.map(named).map(({ subaccountId, share }) => ({ subaccountId, ...share }));
  return { valueCents: 1_000, ...input, ...(parts && { splits: parts }) };
}

async function askGraphQL({ splits, ...given }: Case) {
  const input = { valueCents: 1_000, ...given, ...(splits && { splits: splits.map(named) }) };
  const query = `mutation ($input: CreateChargeInput!) { createCharge(input: $input) {
    __typename ... on UserError { code message } ... on ValidationError { fields { path } } } }`;
  return (await app.live.send(query, { input })).body;
}

describe('the input of a charge', () => {
  test.each(REFUSED)('%s is refused over REST, and the member named', async (_, input, member) => {
    const { status, body } = await live.post('/charges', toRest(input));
    expect([status, body]).toMatchObject([400, { error: expect.stringContaining(`${member}: `) }]);
  });

  test.each(REFUSED)(
    '%s is refused by GraphQL, and its path named',
    async (_, input, rest, graphql = rest) => {
      const { data, errors } = await askGraphQL(input);
      if (errors) {
        expect(errors[0].extensions.code).toBe('BAD_USER_INPUT');
        // GraphQL writes the path as splits[0].share.
        expect(errors[0].message).toContain(graphql.replace('.0', '[0]'));
        return;
      }
      expect(data.createCharge.code).toBe('BAD_USER_INPUT');
      const paths = data.createCharge.fields.map(({ path }: { path: string }) => path);
      expect(paths.join()).toContain(`input.${graphql}`);
    },
  );

  test.each([33.333, 100.01, 0, -5, 1e-7, true, {}])(
    'A percentage of %j is refused over REST, where it may be a number',
    async (percent) => {
      const { status, body } = await live.post('/charges', toRest({ splits: [{ percent }] }));
      expect([status, body.error]).toEqual([400, expect.stringContaining('percent: ')]);
    },
  );

  test.each(['foreign', 'sandbox', `sacc_${'0'.repeat(32)}`])(
    'A beneficiary that is %s is not found, as one that nobody has',
    async (of) => {
      expect(await live.post('/charges', toRest({ splits: [{ of, percent: '1' }] }))).toMatchObject({
        status: 404,
        body: { error: 'Subaccount not found' },
      });
      expect((await askGraphQL({ splits: [{ of, percent: '1' }] })).data.createCharge).toEqual({
        __typename: 'NotFoundError',
        code: 'NOT_FOUND',
        message: 'Subaccount not found',
      });
    },
  );

  test('What is refused makes no charge, and nine beneficiaries of 100 % together are none of it', async () => {
    const { body } = await live.get('/charges');
    expect(body.charges).toEqual([]);
    const splits = owns(9).map((each, index) => ({ ...each, percent: index === 0 ? '92' : '1' }));
    const made = await live.post('/charges', toRest({ valueCents: 500_000, splits }));
    expect([made.status, made.body.ownerAmountCents]).toEqual([201, 0]);
    expect((await live.get('/charges')).body.total).toBe(1);
  });
});
