import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { fund } from '../support/funds.ts';
import { createClient, type GraphQLClient } from '../support/graphql.ts';
import { configureWebhook, type Pair, type Service, startPair, startService } from '../support/pair.ts';
import { onlyInAll, runsAll, scale } from '../support/scale.ts';

// A facade sends at most 120 requests a minute to the service. Anybody has the token of a shop's page and can
// cause some of them: other payers and the merchant's money must still get their requests.

const SECOND = 1_000;

const MINT = `mutation ($input: CreateCheckoutTokenInput!) { createCheckoutToken(input: $input) {
  ... on CreateCheckoutTokenSuccess { token } ... on UserError { message } } }`;
const START = `mutation ($attemptId: String!) { startCheckout(input: { attemptId: $attemptId }) {
  __typename
  ... on StartCheckoutSuccess { paymentToken cardPayment { orderCode status } }
  ... on UserError { code message } } }`;
const LOOK = 'query ($orderCode: String!) { cardPayment(orderCode: $orderCode) { status } }';
const FOLLOW = `subscription ($orderCode: String!) {
  cardPaymentUpdates(orderCode: $orderCode) { cardPayment { status } } }`;
const PAY_OUT = `mutation ($input: RequestPayoutInput!) { requestPayout(input: $input) {
  ... on RequestPayoutSuccess { payout { withdrawalId } } ... on UserError { message } } }`;
const FOLLOW_PAYOUT = `subscription ($withdrawalId: String!) {
  payoutUpdates(withdrawalId: $withdrawalId) { payout { status } } }`;
const STATUS = 'query ($withdrawalId: String!) { payout(withdrawalId: $withdrawalId) { status } }';

describe('the budget of a facade under strangers', () => {
  let service: Service;
  let attempts = 0;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.app.close());

  async function start(): Promise<Pair> {
    const pair = await startPair({
      service,
      account: {},
      environment: { PSA_TRUSTED_PROXIES: '127.0.0.1', PSA_GRAPHQL_LIMIT: '100000' },
    });
    onTestFinished(() => pair.close());
    return pair;
  }

  async function mint({ facade }: Pair): Promise<string> {
    const input = { amount: { fixedCents: 4_990 }, reusable: true };
    return (await facade.live.request(MINT, { input })).createCheckoutToken.token;
  }

  const from = ({ facade }: Pair, credential: string, address: string) =>
    facade.client(credential, { 'x-forwarded-for': address });

  async function buy(client: GraphQLClient) {
    const attemptId = `tentativa-${++attempts}-${'0'.repeat(22)}`;
    return (await client.request(START, { attemptId })).startCheckout;
  }

  test('thirty buyers of one page in a minute, behind three addresses of a carrier, are all served', async () => {
    const pair = await start();
    const token = await mint(pair);
    for (let buyer = 0; buyer < 30; buyer += 1) {
      const address = `177.10.0.${buyer % 3}`;
      const bought = await buy(from(pair, token, address));
      expect(bought, `buyer ${buyer}: ${bought.message}`).toMatchObject({
        cardPayment: { status: 'PENDING' },
      });
      const { orderCode } = bought.cardPayment;
      const page = from(pair, bought.paymentToken, address);
      expect(await page.request(LOOK, { orderCode })).toEqual({ cardPayment: { status: 'PENDING' } });
      const updates = page.sse(FOLLOW, { orderCode });
      onTestFinished(() => updates.close());
      await updates.next();
      await pair.pass(2 * SECOND);
    }
    expect(pair.facade.faults).toEqual([]);
  });

  /**
   * The minutes of an attacker beside a shop with a buyer every six seconds, and at their end a payout. The figures: how
   * many attempts of the attacker were refused, how many buyers were served, the oldest age of a wallet that was read, and
   * the time from the end of the payout to its update.
   */
  async function attacked(pair: Pair, attackers: readonly { token: string; address: string }[]) {
    const { clock, facade } = pair;
    const merchant = createClient(`${service.app.url}/graphql`, pair.keys.live);
    // The service sends no webhooks, so the facade knows only what it has read.
    await configureWebhook(merchant, 'http://127.0.0.1:9/nowhere');
    const tenant = { accountId: pair.accountIds.service, environment: 'live' } as const;
    await fund({ database: service.app.database, tenant }, { cents: 100_000 });
    const shop = await mint(pair);
    const requests: Promise<unknown>[] = [];
    const figures = { attempts: 0, refused: 0, buyers: 0, served: 0, oldest: 0 };

    /** One second of the attack: it starts payments, reads each, and follows it with its payment token. */
    function attack(): void {
      for (let count = 0; count < 4; count += 1) {
        const { token, address } = attackers[figures.attempts % attackers.length]!;
        figures.attempts += 1;
        requests.push(
          buy(from(pair, token, address)).then(async ({ paymentToken, cardPayment }) => {
            if (!cardPayment) {
              figures.refused += 1;
              return;
            }
            const { orderCode } = cardPayment;
            const page = from(pair, paymentToken, `203.0.113.${requests.length % 250}`);
            const updates = page.sse(FOLLOW, { orderCode });
            onTestFinished(() => updates.close());
            for (let look = 0; look < 4; look += 1) await page.send(LOOK, { orderCode });
          }),
        );
      }
    }

    let withdrawalId: string | null = null;
    let doneAt: number | null = null;
    let shownAt: number | null = null;
    for (let second = 0; second < scale('STRANGER_MINUTES') * 60 + 30; second += 1) {
      attack();
      if (second % 6 === 0) {
        figures.buyers += 1;
        requests.push(
          buy(from(pair, shop, `198.51.100.${second % 250}`)).then(({ cardPayment }) => {
            if (cardPayment) figures.served += 1;
          }),
        );
      }
      requests.push(
        facade.live.send('{ wallet { balanceCents } }').then(({ body }) => {
          figures.oldest = Math.max(figures.oldest, body.extensions.upstream.ageSeconds);
        }),
      );
      if (second === scale('STRANGER_MINUTES') * 60) {
        const input = { method: 'PIX', amountCents: 2_000, destination: 'ana@padaria.example' };
        ({ withdrawalId } = (await facade.live.request(PAY_OUT, { input })).requestPayout.payout);
        const updates = facade.live.sse(FOLLOW_PAYOUT, { withdrawalId });
        onTestFinished(() => updates.close());
        void (async () => {
          for await (const { data } of updates)
            if (data?.payoutUpdates.payout.status === 'COMPLETED') shownAt = clock.ms();
        })();
      }
      if (withdrawalId && doneAt === null) {
        const { payout } = await merchant.request(STATUS, { withdrawalId });
        if (payout.status === 'COMPLETED') doneAt = clock.ms();
      }
      await pair.pass(SECOND);
    }
    await pair.pass(10 * SECOND);
    await Promise.all(requests);
    expect(doneAt).not.toBeNull();
    const all = { ...figures, updateMs: shownAt! - doneAt! };
    if (runsAll()) process.stdout.write(`  under ${attackers.length} addresses: ${JSON.stringify(all)}\n`);
    return all;
  }

  const MONEY_IN_TIME = { oldest: 10, updateMs: 10 * SECOND };
  const moneyOf = ({ oldest, updateMs }: typeof MONEY_IN_TIME) => ({
    oldest: Math.max(oldest, MONEY_IN_TIME.oldest),
    updateMs: Math.max(updateMs, MONEY_IN_TIME.updateMs),
  });

  test('one stranger with one public token stops neither the payers of another, nor what is known of the money', async () => {
    const pair = await start();
    const figures = await attacked(pair, [{ token: await mint(pair), address: '203.0.113.7' }]);
    expect(figures.refused).toBeGreaterThan(figures.attempts / 2);
    expect(figures.served).toBe(figures.buyers);
    expect(moneyOf(figures)).toEqual(MONEY_IN_TIME);
  });

  // Payers are no longer all served then: see server/docs/decisions/0120.
  for (const networks of onlyInAll([50]))
    test(`strangers with a token each, behind ${networks} networks, do not stop what is known of the money`, async () => {
      const pair = await start();
      const attackers: { token: string; address: string }[] = [];
      for (let network = 0; network < networks; network += 1)
        attackers.push({ token: await mint(pair), address: `100.${network}.0.7` });
      expect(moneyOf(await attacked(pair, attackers))).toEqual(MONEY_IN_TIME);
    });
});
