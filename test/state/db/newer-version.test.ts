import { CompiledQuery, sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { createSystemClock } from '../../../server/src/kernel/clock.ts';
import { openPostgres } from '../../../server/src/state/db/postgres.ts';
import { startApp } from '../../support/app.ts';
import { createPostgresDatabase } from '../../support/database.ts';
import { silent } from '../../support/templates.ts';

const CREATE = `mutation ($input: CreateCardPaymentInput!) {
  done: createCardPayment(input: $input) { ... on CreateCardPaymentSuccess { cardPayment { orderCode } } }
}`;
const UPDATES = `subscription ($after: String) {
  allCardPaymentUpdates(after: $after) { cursor previousStatus cardPayment { orderCode status final } }
}`;
const CARD = {
  number: '4242424242424242',
  holder: 'ANA',
  expiryMonth: 12,
  expiryYear: 2099,
  securityCode: '123',
};

test('A server goes on beside statuses and events of a newer version, which it does not know.', async () => {
  const databaseUrl = await createPostgresDatabase();
  const open = () => openPostgres({ databaseUrl, clock: createSystemClock(), log: silent });
  const app = await startApp({ database: await open(), environment: { PSA_DEMO: 'false' } });
  onTestFinished(() => app.close());
  const newer = await open();
  onTestFinished(() => newer.close());
  const create = async () =>
    (await app.live.request(CREATE, { input: { valueCents: 4_990 } })).done.cardPayment.orderCode as string;
  const [frozen, other] = [await create(), await create()];
  const updates = app.live.ws(
    'subscription ($orderCode: String!) { cardPaymentUpdates(orderCode: $orderCode) { cursor } }',
    { orderCode: frozen },
  );
  const { cursor } = (await updates.data()).cardPaymentUpdates;

  // The change that a newer version's migration and server may make.
  await newer.sql.executeQuery(
    CompiledQuery.raw(`
      alter table card_payment drop constraint card_payment_status_check;
      update card_payment set status = 'frozen', version = 2, language = 'fr' where order_code = '${frozen}';
      insert into event (account_id, environment, version, kind, resource, resource_id, occurred_at, snapshot)
        select account_id, environment, version + 1, 'invoice.sent', 'invoice', 'inv_1', now(), '{}' from stream;
      insert into event
        (account_id, environment, version, kind, resource, resource_id, previous_status, occurred_at, snapshot)
        select account_id, environment, stream.version + 2, 'card_payment.frozen', 'card_payment', '${frozen}', 'pending',
          now(), event.snapshot || '{"status": "frozen", "version": 2}'
        from stream join event using (account_id, environment) where event.resource_id = '${frozen}';
      update stream set version = version + 2;
      alter table payout drop constraint payout_status_check, drop constraint payout_method_check;
      insert into payout (account_id, environment, withdrawal_id, code, version, method, status, amount_cents, fee_cents,
          destination, requested_at)
        select account_id, environment, '0000000000000000000000bb', 1, 1, 'boleto', 'contested', 5000, 100, 'a bill', now()
        from stream`),
  );

  // The next event of this server is read together with those before it.
  expect((await app.cardPayments.pay(other, CARD)).kind).toBe('paid');
  const after = app.live.ws(UPDATES, { after: cursor });
  const seen = [await after.data(), await after.data()].map(
    ({ allCardPaymentUpdates }) => allCardPaymentUpdates,
  );
  expect(seen).toMatchObject([
    { previousStatus: 'PENDING', cardPayment: { orderCode: frozen, status: 'UNKNOWN', final: false } },
    { previousStatus: 'PENDING', cardPayment: { orderCode: other, status: 'PAID', final: false } },
  ]);
  const { cardPayments } = await app.live.request(
    '{ cardPayments { nodes { orderCode status final language } } }',
  );
  expect(cardPayments.nodes).toEqual([
    { orderCode: other, status: 'PAID', final: false, language: null },
    { orderCode: frozen, status: 'UNKNOWN', final: false, language: null },
  ]);
  const { status, body } = await app.rest().get('/card-payments');
  expect(status).toBe(200);
  expect(body.cardPayments).toMatchObject([
    { orderCode: other, status: 'paid' },
    { orderCode: frozen, status: 'frozen', language: 'fr' },
  ]);
  const { payouts } = await app.live.request('{ payouts { nodes { withdrawalId method status } } }');
  const withdrawalId = '0000000000000000000000bb';
  expect(payouts.nodes).toEqual([{ withdrawalId, method: 'UNKNOWN', status: 'UNKNOWN' }]);
  const list = await app.rest().get('/payouts');
  expect(list.status).toBe(200);
  expect(list.body.payouts).toMatchObject([{ withdrawalId, method: 'boleto', status: 'contested' }]);
  await app.work.settled();
  expect(app.faults).toEqual([]);
  const { rows } = await sql`select status from card_payment where order_code = ${frozen}`.execute(newer.sql);
  expect(rows).toEqual([{ status: 'frozen' }]);
});
