import { readdirSync } from 'node:fs';
import { CompiledQuery } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import {
  countDisputes,
  disputeTable,
  selectDisputesOf,
} from '../../../server/src/money-in/disputes/store.ts';
import { migrate } from '../../../server/src/state/db/migrate.ts';
import { MIGRATIONS } from '../../state/db/schema.ts';
import { createManualClock } from '../../support/clock.ts';
import { connectTo, createPostgresDatabase } from '../../support/database.ts';

const ACCOUNT = 'acc_00000000000000000000aaaa';
const TENANT = { accountId: ACCOUNT, environment: 'live' } as const;
const AT = '2026-01-02T03:04:05.000Z';
const id = (digit: string) => `dsp_${digit.repeat(24)}`;

/** Disputes of the version before: of a card payment or of none, for any amount. */
const BEFORE = `
  insert into account (id, name, card_payments_enabled, card_release_days, created_at)
    values ('${ACCOUNT}', 'Padaria da Ana', true, 14, '${AT}');
  insert into card_payment (account_id, environment, order_code, version, status, amount_cents, created_at, expires_at,
      paid_at) values
    ('${ACCOUNT}', 'live', 'PSC-1', 2, 'paid', 5000, '${AT}', '${AT}', '${AT}'),
    ('${ACCOUNT}', 'live', 'PSC-2', 2, 'paid', 5000, '${AT}', '${AT}', '${AT}');
  insert into dispute (account_id, environment, id, amount_cents, order_code, status, created_at, closed_at) values
    ('${ACCOUNT}', 'live', '${id('1')}', 9000, 'PSC-1', 'open', '${AT}', null),
    ('${ACCOUNT}', 'live', '${id('2')}', 700, 'PSC-2', 'lost', '${AT}', '${AT}'),
    ('${ACCOUNT}', 'live', '${id('3')}', 800, 'PSC-2', 'won', '${AT}', '${AT}'),
    ('${ACCOUNT}', 'live', '${id('4')}', 900, null, 'open', '${AT}', null);`;

test('Disputes of the version before keep their payment, wait for the end of their time, and are counted', async () => {
  const databaseUrl = await createPostgresDatabase('template1');
  const database = await connectTo(databaseUrl, createManualClock());
  onTestFinished(() => database.close());
  await migrate(database, undefined, '0014_payouts_by_method');
  for (const statement of BEFORE.split(';').filter((text) => text.trim() !== ''))
    await database.sql.executeQuery(CompiledQuery.raw(statement));
  const names = readdirSync(MIGRATIONS).map((file) => file.slice(0, -'.sql'.length));
  await migrate(database, undefined, names.sort().at(-1));

  const found = await disputeTable.load(database.sql, TENANT, ['1', '2', '3', '4'].map(id));
  expect(
    found.map(({ disputeId, resource, reason }) => [disputeId, resource?.id ?? null, reason]).sort(),
  ).toEqual([
    [id('1'), 'PSC-1', 'unknown'],
    [id('2'), 'PSC-2', 'unknown'],
    [id('3'), 'PSC-2', 'unknown'],
    [id('4'), null, 'unknown'],
  ]);
  for (const { evidenceDueAt } of found) expect(evidenceDueAt.toISOString()).toBe('2026-01-07T03:04:05.000Z');
  const ofCard = { type: 'card_payment', ids: ['PSC-2'] } as const;
  expect(await selectDisputesOf(database.sql, TENANT, ofCard)).toHaveLength(2);
  // The dispute holds as much as the payment has, and nothing once it is won.
  const cards = await database.sql
    .selectFrom('card_payment')
    .select(['order_code', 'disputed_cents'])
    .orderBy('order_code')
    .execute();
  expect(cards).toEqual([
    { order_code: 'PSC-1', disputed_cents: 5000 },
    { order_code: 'PSC-2', disputed_cents: 700 },
  ]);
  const tasks = await database.sql.selectFrom('task').select(['kind', 'key']).orderBy('key').execute();
  expect(tasks).toEqual([
    { kind: 'dispute.evidence_due', key: id('1') },
    { kind: 'dispute.evidence_due', key: id('4') },
  ]);
  expect(await countDisputes(database.sql, TENANT, {})).toBe(4);
  expect(await countDisputes(database.sql, TENANT, { status: ['open'] })).toBe(2);
});
