import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import type { PaidContent } from '../../../server/src/catalogue/deliveries/decisions.ts';
import { MAX_DELIVERIES } from '../../../server/src/catalogue/deliveries/model.ts';
import { saveGiven } from '../../../server/src/catalogue/deliveries/store.ts';
import { plusMs } from '../../../server/src/kernel/clock.ts';
import { DELIVERY_LAWS } from '../../../server/src/programs/verify/laws/deliveries.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import { recordsOf } from '../../../server/src/state/db/each-tenant.ts';
import { createRandom } from '../../faults/random.ts';
import { approved } from '../../support/cards.ts';
import { type Core, startCore, startTwoCores } from '../../support/core.ts';
import { describeOnDatabase } from '../../support/database.ts';
import { queriesOf } from '../../support/laws.ts';
import { buyByPix, deliver, givenTo, payByPix, startByCard, stock } from './sales.ts';

const PAYERS = 90;
const LOTS = 30;

describeOnDatabase('one stock of codes', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  test('Of payers who pay at once at two instances, while codes are added, each is given a code of its own', async () => {
    const cores = await startTwoCores();
    const [first] = cores;
    const random = createRandom(11);
    const core = (): Core => random.pick(cores);
    const { productId } = await stock(first, { codes: ['C-0'] });
    const ids = await Promise.all(
      Array.from({ length: PAYERS }, async (_, index) =>
        index % 3 === 0
          ? startByCard(core(), productId)
          : (await core().payments.create(first.tenant, { productId })).payment.paymentId,
      ),
    );
    const pay = (id: string) =>
      id.startsWith('psa_') ? payByPix(core(), id) : core().cardPayments.pay(id, approved());
    // Every payment is reported to both instances, as if the bank repeated its notification.
    const payments = ids.flatMap((id) => [() => pay(id), () => pay(id)]);
    const additions = Array.from(
      { length: LOTS },
      (_, lot) => () => deliver(core(), productId, { codes: [1, 2].map((nth) => `C-${lot * 2 + nth}`) }),
    );
    await Promise.all([...payments, ...additions].map((act) => act()));
    expect([...cores[0].faults, ...cores[1].faults]).toEqual([]);

    const given = await Promise.all(ids.map((id) => givenTo(first, id)));
    const codes = given.flatMap((contents) => contents!.map(({ content }) => content));
    expect(codes).toHaveLength(PAYERS);
    const shown = codes.filter((code) => code !== null);
    expect(shown).toHaveLength(LOTS * 2 + 1);
    expect(new Set(shown).size).toBe(shown.length);
    for (const [rule, query] of Object.entries(queriesOf(DELIVERY_LAWS)))
      expect([rule, (await sql.raw(query).execute(first.database.sql)).rows]).toEqual([rule, []]);
  });

  test('Requests of one group that serve more payments than were read are decided one by one', async () => {
    const core = await startCore({ database });
    const { productId, deliveryId } = await stock(core, { codes: ['C-0'] });
    const waiting = Array.from(
      { length: 1_500 },
      (_, index): PaidContent => ({
        payment: { type: 'payment', id: `psa_${String(index).padStart(32, '0')}` },
        productId,
        callbackUrl: null,
        paidAt: plusMs(core.clock.now(), index),
        items: [{ deliveryId, kind: 'codes', status: 'pending', codeHash: null, deliveredAt: null }],
      }),
    );
    await deliver(core, productId, { codes: ['C-1'] });
    await core.deliveries.delete(core.tenant, deliveryId);
    await saveGiven(database.sql, recordsOf(core.tenant, waiting));
    const lot = (name: string, count: number) =>
      Array.from({ length: count }, (_, index) => `${name}-${index}`);
    await Promise.all([
      deliver(core, productId, { codes: lot('A', 1_000) }),
      deliver(core, productId, { codes: lot('B', 400) }),
      deliver(core, productId, { codes: lot('C', 300) }),
    ]);
    const { items } = await core.deliveries.listPage(core.tenant, { limit: 9, offset: 0 });
    expect(items).toMatchObject([{ deliveredCount: 1_500, remainingCount: 200 }]);
    const ids = waiting.map(({ payment }) => payment.id);
    const given = await core.deliveries.deliveredTo(core.tenant, 'payment', ids);
    const codes = given.flatMap((contents) => contents!.map(({ content }) => content));
    expect(new Set(codes).size).toBe(1_500);
    expect(codes).not.toContain(null);
    expect(core.faults).toEqual([]);
  });

  test('One request serves as many payments as it has codes, whatever else their product delivers', async () => {
    const core = await startCore({ database });
    const texts = Array.from({ length: MAX_DELIVERIES - 1 }, (_, index) => ({ text: `Aula ${index}` }));
    const { productId, deliveryId } = await stock(core, ...texts, { codes: ['C-0'] });
    const { items } = await core.deliveries.listPage(core.tenant, { limit: MAX_DELIVERIES, offset: 0 });
    const paidAt = core.clock.now();
    const waiting = Array.from(
      { length: 700 },
      (_, index): PaidContent => ({
        payment: { type: 'payment', id: `psa_${String(index).padStart(32, '0')}` },
        productId,
        callbackUrl: null,
        paidAt: plusMs(paidAt, index),
        items: items.map(({ deliveryId: id, kind }) => {
          const isCode = id === deliveryId;
          const status = isCode ? 'pending' : 'delivered';
          return { deliveryId: id, kind, status, codeHash: null, deliveredAt: isCode ? null : paidAt };
        }),
      }),
    );
    // The stock is empty: another payment has its only code.
    await buyByPix(core, productId);
    await saveGiven(database.sql, recordsOf(core.tenant, waiting));
    await deliver(core, productId, { codes: waiting.map((_, index) => `D-${index}`) });
    const ids = waiting.map(({ payment }) => payment.id);
    const given = await core.deliveries.deliveredTo(core.tenant, 'payment', ids);
    const codes = given.map((contents) => contents!.find(({ kind }) => kind === 'codes')?.content);
    expect(new Set(codes).size).toBe(700);
    expect(core.faults).toEqual([]);
  });
});
