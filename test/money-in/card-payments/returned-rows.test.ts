import { readdirSync } from 'node:fs';
import { CompiledQuery } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { countCardPayments, selectCardPayments } from '../../../server/src/money-in/card-payments/store.ts';
import { countRefunds, selectRefundsOf } from '../../../server/src/money-in/refunds/store.ts';
import { returnIdOf } from '../../../server/src/money-in/returns/model.ts';
import { countReturns, listReturns } from '../../../server/src/money-in/returns/store.ts';
import { migrate } from '../../../server/src/state/db/migrate.ts';
import { MIGRATIONS } from '../../state/db/schema.ts';
import { createManualClock } from '../../support/clock.ts';
import { connectTo, createPostgresDatabase } from '../../support/database.ts';

const ACCOUNT = 'acc_00000000000000000000aaaa';
const TENANT = { accountId: ACCOUNT, environment: 'live' } as const;
const AT = '2026-01-02T03:04:05.000Z';
const LATER = '2026-01-02T03:04:06.000Z';
const orderCode = (digit: string) => `PSC-${digit.repeat(24)}`;
const [KEPT, RETURNED, CANCELED, REFUNDED] = ['1', '2', '3', '4'].map(orderCode) as [
  ...[string, string, string, string],
];
const refundId = (digit: string) => `ref_${digit.repeat(24)}`;
const posted = (id: string, to: string) => `
  insert into posting (account_id, environment, transaction_id, ledger_account, amount, occurred_at) values
    ('${ACCOUNT}', 'live', '${id}', 'acquirer', -5000, '${AT}'), ('${ACCOUNT}', 'live', '${id}', '${to}', 5000, '${AT}');`;

/** An order with a payment that was kept and one that was returned, a canceled payment that was returned, and a refunded sale. */
const BEFORE = `
  insert into account (id, name, card_payments_enabled, card_release_days, created_at)
    values ('${ACCOUNT}', 'Padaria da Ana', true, 14, '${AT}');
  insert into card_payment (account_id, environment, order_code, version, status, amount_cents, created_at, expires_at,
      paid_at, refunded_at, canceled_at, refunded_cents, external_id, paid_charge_id) values
    ('${ACCOUNT}', 'live', '${KEPT}', 2, 'paid', 5000, '${AT}', '${AT}', '${AT}', null, null, 0, '1042', 'chg_1'),
    ('${ACCOUNT}', 'live', '${RETURNED}', 2, 'refunded', 5000, '${AT}', '${AT}', '${AT}', '${AT}', null, 5000, '1042', 'chg_2'),
    ('${ACCOUNT}', 'live', '${CANCELED}', 3, 'refunded', 5000, '${AT}', '${AT}', '${AT}', '${AT}', '${AT}', 5000, '1043', 'chg_3'),
    ('${ACCOUNT}', 'live', '${REFUNDED}', 3, 'refunded', 5000, '${AT}', '${AT}', '${AT}', '${AT}', null, 5000, '1044', 'chg_4');
  insert into refund (account_id, environment, refund_id, version, status, resource, resource_id, amount_cents, automatic,
      charge_id, created_at, completed_at) values
    ('${ACCOUNT}', 'live', '${refundId('2')}', 2, 'completed', 'card_payment', '${RETURNED}', 5000, true, 'chg_2', '${AT}', '${LATER}'),
    ('${ACCOUNT}', 'live', '${refundId('3')}', 2, 'completed', 'card_payment', '${CANCELED}', 5000, true, 'chg_3', '${AT}', '${LATER}'),
    ('${ACCOUNT}', 'live', '${refundId('4')}', 2, 'completed', 'card_payment', '${REFUNDED}', 5000, true, 'chg_4', '${AT}', '${LATER}');
  insert into pix_credit (account_id, environment, end_to_end_id, payment_id, amount_cents, received_at, cause, returned_at)
    values ('${ACCOUNT}', 'live', 'E1', 'psa_1', 700, '${AT}', 'amount_mismatch', '${LATER}');
  ${posted(`card_payment.paid:${KEPT}`, 'merchant_pending')}
  ${posted(`card_payment.returned:${RETURNED}`, 'refunds_in_transit')}
  ${posted(`card_payment.returned:${CANCELED}`, 'refunds_in_transit')}
  ${posted(`card_payment.paid:${REFUNDED}`, 'merchant_pending')}`;

test('Payments that the version before had returned as refunds have failed, and are listed as returns', async () => {
  const database = await connectTo(await createPostgresDatabase('template1'), createManualClock());
  onTestFinished(() => database.close());
  await migrate(database, undefined, '0056_paid_orders_online');
  for (const statement of BEFORE.split(';').filter((text) => text.trim() !== ''))
    await database.sql.executeQuery(CompiledQuery.raw(statement));
  const names = readdirSync(MIGRATIONS).map((file) => file.slice(0, -'.sql'.length));
  await migrate(database, undefined, names.sort().at(-1));

  const cards = await selectCardPayments(database.sql, TENANT, [KEPT, RETURNED, CANCELED, REFUNDED]);
  const byCode = Object.fromEntries(cards.map((card) => [card.orderCode, card]));
  const failed = { status: 'failed', returned: true, paidAt: null, refundedAt: null, refundedCents: 0 };
  expect(byCode[RETURNED]).toMatchObject({ ...failed, failureReason: 'paid_elsewhere', keptPayment: KEPT });
  expect(byCode[CANCELED]).toMatchObject({ ...failed, failureReason: 'canceled', keptPayment: null });
  expect(byCode[KEPT]).toMatchObject({ status: 'paid', returned: false });
  expect(byCode[REFUNDED]).toMatchObject({ status: 'refunded', returned: false, refundedCents: 5000 });
  expect(await countCardPayments(database.sql, TENANT, { status: ['failed'] })).toBe(2);

  const returns = await listReturns(database.sql, TENANT, { end: 'first', limit: 10 });
  expect(returns.map(({ item }) => [item.resource.id, item.cause, item.externalId]).sort()).toEqual([
    [RETURNED, 'paid_elsewhere', '1042'],
    [CANCELED, 'canceled', '1043'],
    ['psa_1', 'amount_mismatch', null],
  ]);
  const byPix = returns.find(({ item }) => item.resource.type === 'payment')!.item;
  expect(byPix).toMatchObject({ returnId: returnIdOf('E1'), amountCents: 700, returnedAt: new Date(LATER) });
  expect(await countReturns(database.sql, TENANT, {})).toBe(3);
  expect(await countReturns(database.sql, TENANT, { types: ['card_payment'] })).toBe(2);

  const ids = [RETURNED, CANCELED, REFUNDED];
  const refunds = await selectRefundsOf(database.sql, TENANT, { type: 'card_payment', ids });
  expect(refunds.map(({ resource }) => resource.id)).toEqual([REFUNDED]);
  expect(await countRefunds(database.sql, TENANT, {})).toBe(1);
});
