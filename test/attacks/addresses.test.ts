import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { recordsOf } from '../../server/src/state/db/each-tenant.ts';
import { newWebhookId } from '../../server/src/webhooks/model.ts';
import { insertDeliveries } from '../../server/src/webhooks/store.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { PRIVATE_HOSTS } from '../support/private-hosts.ts';
import { sampled } from '../support/scale.ts';

// URLs of private addresses, at every field that takes a URL. The requests themselves are tested in
// test/webhooks/sender.test.ts.

let app: TestApp;
let listener: Server;
let connections = 0;
let port: number;
beforeAll(async () => {
  app = await startApp({ environment: { PSA_WEBHOOK_PRIVATE_ADDRESSES: 'false' } });
  listener = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => listener.listen(0, '::', resolve));
  port = (listener.address() as { port: number }).port;
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
  listener.close();
});

const DOORS = `mutation ($url: Url!) {
  a: configureWebhook(input: { url: $url }) { ...refused }
  b: createCardPayment(input: { valueCents: 4990, callbackUrl: $url }) { ...refused }
  c: createCheckoutToken(input: { amount: { fixedCents: 4990 }, callbackUrl: $url }) { ...refused }
}
fragment refused on ValidationError { fields { path } }`;

const HOSTS = sampled(PRIVATE_HOSTS, 4);
const urlsOf = (host: string) => [`https://${host}:${port}/`, `http://${host}:${port}/`];

test(`No operation accepts a URL that leads to no public address (${HOSTS.length} hosts)`, async () => {
  for (const url of [
    ...HOSTS.flatMap(urlsOf),
    'ftp://a.example/',
    'file:///etc/passwd',
    'gopher://a.example/',
  ]) {
    const answer = await app.live.send(DOORS, { url });
    // A text that is no URL is refused before its address is looked up.
    if (answer.body.errors) expect(answer.body.errors[0].extensions.code, url).toBe('BAD_USER_INPUT');
    else
      expect(answer.body.data, url).toEqual({
        a: { fields: [{ path: 'input.url' }] },
        b: { fields: [{ path: 'input.callbackUrl' }] },
        c: { fields: [{ path: 'input.callbackUrl' }] },
      });
    const { status, body } = await app.rest().post('/card-payments', { valueCents: 4990, callbackUrl: url });
    expect([status, body.error], url).toEqual([400, expect.stringContaining('callbackUrl')]);
    app.clock.advance(1_000);
  }
  const { count } = app.database.sql.fn;
  const { made } = await app.database.sql
    .selectFrom('card_payment')
    .select(count<number>('order_code').as('made'))
    .executeTakeFirstOrThrow();
  expect(Number(made)).toBe(0);
}, 120_000);

test('A stored delivery to a private address is not sent when it is redelivered', async () => {
  const { id } = await app.database.sql.selectFrom('account').select('id').executeTakeFirstOrThrow();
  const tenant = { accountId: id, environment: 'live' } as const;
  await app.live.request(
    'mutation { configureWebhook(input: { url: "https://loja.example/hook" }) { __typename } }',
  );
  const urls = HOSTS.map((host) => urlsOf(host)[0]!).filter((url) => URL.canParse(url));
  const ids = urls.map(() => newWebhookId());
  await insertDeliveries(
    app.database.sql,
    recordsOf(
      tenant,
      urls.map((url, index) => ({
        webhookId: ids[index]!,
        event: 'card_payment.paid',
        resource: 'card_payment',
        resourceId: ids[index]!,
        ...{
          endpointId: null,
          subjectType: null,
          subjectId: null,
          responseStatus: null,
          responseClass: null,
        },
        url,
        body: '{}',
        headers: {},
        eventVersion: null,
        resourceVersion: null,
        occurredAt: null,
        status: 'exhausted' as const,
        attempts: 0,
        failures: 0,
        nextAttemptAt: null,
        createdAt: app.clock.now(),
      })),
    ),
  );
  for (const webhookId of ids) {
    const { redeliverWebhook } = await app.live.request(
      'mutation ($id: String!) { redeliverWebhook(webhookId: $id) { __typename } }',
      { id: webhookId },
    );
    expect(redeliverWebhook.__typename).toBe('RedeliverWebhookSuccess');
  }
  await app.work.settled();
  const attempts = await app.database.sql
    .selectFrom('webhook_attempt')
    .select(['webhook_id', 'error'])
    .execute();
  expect(new Set(attempts.map(({ webhook_id }) => webhook_id))).toEqual(new Set(ids));
  expect(new Set(attempts.map(({ error }) => error))).toEqual(
    new Set(['the URL does not lead to a public https address']),
  );
  expect(connections).toBe(0);
});
