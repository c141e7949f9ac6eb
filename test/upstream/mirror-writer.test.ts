import { setImmediate as turn } from 'node:timers/promises';
import { sql } from 'kysely';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { objectId } from '../../server/src/kernel/ids.ts';
import { createRemoteCardPayments } from '../../server/src/money-in/card-payments/remote/service.ts';
import { snapshots } from '../../server/src/programs/modes/parts.ts';
import { type Database, StatementInterrupted } from '../../server/src/state/db/database.ts';
import { readAfter } from '../../server/src/state/events/log.ts';
import { selectMirrored } from '../../server/src/upstream/mirror-store.ts';
import { MAX_WAITING } from '../../server/src/upstream/mirror-writer.ts';
import type { Observed } from '../../server/src/upstream/shown-batch.ts';
import { describeOnDatabase } from '../support/database.ts';
import { deferred } from '../support/deferred.ts';
import { startFacade } from '../support/facade.ts';
import { createScriptedService, ok, refused } from '../support/scripted-service.ts';

const PATH = '/v1/card-payments';
const MINUTE = 60_000;

/** Waits for what needs no transaction: reads of the database, the service's answer, and what follows from them. */
async function quiet(): Promise<void> {
  for (let reads = 0; reads < 5; reads += 1) {
    await sql`select 1`.execute(database.sql);
    for (let turns = 0; turns < 20; turns += 1) await turn();
  }
}

let database: Database;

describeOnDatabase('what a query has seen, shown before it is kept', (open) => {
  beforeAll(async () => {
    database = await open();
  });

  /** A service with payments, and a facade whose transactions a test can hold or fail. */
  async function start(as: Partial<Parameters<typeof startFacade>[0]> = {}) {
    let held = Promise.resolve();
    let silent: Promise<void> | null = null;
    let failure: (() => Error | null) | null = null;
    const script = createScriptedService();
    const payments = new Map<string, object>();
    script.on('GET', `${PATH}/`, ({ path }) => {
      const found = payments.get(decodeURIComponent(path.slice(PATH.length + 1)));
      return found ? ok(found) : refused(404, 'Not found');
    });
    const facade = await startFacade({
      upstream: script.upstream,
      ...as,
      database: {
        ...database,
        lanes: 2,
        // A held transaction has not begun: PGlite has one connection, which reads need meanwhile.
        async transaction(work) {
          const until = silent ?? held;
          silent = null;
          await until;
          return database.transaction(async (sql) => {
            const result = await work(sql);
            const error = failure?.();
            if (error) throw error;
            return result;
          });
        },
      },
    });
    const { tenant, clock } = facade;
    const cards = createRemoteCardPayments({
      ...facade,
      callbackUrl: null,
      privateAddresses: false,
      findProduct: async () => null,
    });
    Object.assign(facade.requests, cards.requests);
    const heard: string[] = [];
    const onSetBack = () => undefined;
    onTestFinished(await facade.tailer.listen(tenant, {}, ({ kind }) => heard.push(kind), onSetBack));
    return {
      facade,
      cards,
      script,
      tenant,
      clock,
      heard,
      merchant: cards.serviceFor({ priority: 'merchant', subject: null, onRead: () => undefined }),
      /** Makes a payment at the service, or shows it with another status. */
      make(status = 'pending', orderCode = `PEDIDO${objectId()}`) {
        payments.set(orderCode, {
          ...{ orderCode, status, amountCents: 4990, currency: 'BRL' },
          expiresAt: new Date(clock.ms() + 30 * MINUTE).toISOString(),
        });
        return orderCode;
      },
      /** Holds every transaction until the returned function is called. */
      hold() {
        const { promise, resolve } = deferred();
        held = promise;
        return () => resolve();
      },
      /** Holds the next transaction alone until the returned function is called. */
      silence() {
        const { promise, resolve } = deferred();
        silent = promise;
        return () => resolve();
      },
      failing(next: typeof failure) {
        failure = next;
      },
      webhook: (payload: object) => {
        const { observation } = cards.readWebhook(payload)!;
        return facade.committer.change({
          tenant,
          read: observation.read,
          decide: (state) => ({ outcome: undefined, writes: observation.decide(state).writes }),
        });
      },
      /** The rows and events that are kept by now, whatever waits. */
      kept: async (orderCode: string) =>
        (await selectMirrored(database.sql, tenant, 'card_payment', [orderCode]))[0],
      announced: async () =>
        (await readAfter(database.sql, tenant, { snapshots, after: 0, limit: 100 })).events.map(
          ({ kind }) => kind,
        ),
    };
  }

  test('A query is answered while its rows wait to be written, and a crash loses only what can be read again', async () => {
    const { merchant, tenant, make, hold, kept, announced, facade, script } = await start();
    const orderCode = make('paid');
    const release = hold();
    expect(await merchant.find(tenant, orderCode)).toMatchObject({ orderCode, status: 'paid' });
    expect(await kept(orderCode)).toBeUndefined();
    // Another instance, as after a crash of this one, reads the payment again.
    const other = await start({ tenant, upstream: script.upstream, clock: facade.clock });
    expect(await other.merchant.find(tenant, orderCode)).toMatchObject({ status: 'paid' });
    await other.facade.mirrorWriter.close();
    release();
    await facade.mirrorWriter.close();
    expect(await kept(orderCode)).toMatchObject({ status: 'paid', version: 1 });
    expect(await announced()).toEqual(['card_payment.paid']);
  });

  test('A list, a count and a command of the same process include what still waits', async () => {
    const { merchant, tenant, make, hold, webhook, facade } = await start();
    const [first, second] = [make(), make()];
    const release = hold();
    await merchant.findMany(tenant, [first, second]);
    const listed = merchant.list(tenant, { end: 'first', limit: 10 });
    const counted = merchant.count(tenant, {});
    const commanded = webhook({ orderCode: first, status: 'paid', amount: 49.9 });
    release();
    expect((await listed).items).toHaveLength(2);
    expect(await counted).toBe(2);
    await commanded;
    const events = (await readAfter(facade.database.sql, tenant, { snapshots, after: 0, limit: 9 })).events;
    // The command was decided after the observation: it found a payment whose amount is known.
    expect(events.map(({ kind, previousStatus }) => [kind, previousStatus])).toEqual([
      ['card_payment.pending', null],
      ['card_payment.pending', null],
      ['card_payment.paid', 'pending'],
    ]);
  });

  test('A silent connection delays the queries of its own environment alone', async () => {
    const { merchant, cards, facade, tenant, clock, make, silence } = await start();
    const other = { ...tenant, environment: 'sandbox' } as const;
    const lengthOf = async (of: typeof tenant) =>
      (await merchant.list(of, { end: 'first', limit: 10 })).items.length;
    const release = silence();
    onTestFinished(release);
    await merchant.find(tenant, make());
    await quiet();
    expect(await lengthOf(other)).toBe(0);
    // What was shown of the other environment waits behind the silent connection until that is late.
    const { observation } = cards.readWebhook({ orderCode: 'SANDBOX1', status: 'paid', amount: 49.9 })!;
    const { read } = observation;
    const decide: Observed['decide'] = (state) => ({
      record: null,
      correction: null,
      ...observation.decide(state),
    });
    facade.mirrorWriter.show(other, { read, decide }, []);
    const lengths: number[] = [];
    const listed = Promise.all([tenant, other].map(async (of) => lengths.push(await lengthOf(of))));
    await quiet();
    expect(lengths).toEqual([]);
    clock.advance(250);
    await expect.poll(() => lengths).toEqual([1]);
    release();
    await listed;
    expect(lengths).toEqual([1, 1]);
  });

  test('A second query sees what waits, and its newer answer is merged with that', async () => {
    const { merchant, tenant, clock, make, hold, kept, facade } = await start();
    const orderCode = make();
    const release = hold();
    const shown = await merchant.find(tenant, orderCode);
    clock.advance(MINUTE);
    make('paid', orderCode);
    expect(await merchant.find(tenant, orderCode)).toMatchObject({
      status: 'paid',
      version: shown!.version + 1,
    });
    clock.advance(1);
    // The cached answer has nothing new.
    expect(await merchant.find(tenant, orderCode)).toMatchObject({ status: 'paid', version: 2 });
    release();
    await facade.mirrorWriter.close();
    expect(await kept(orderCode)).toMatchObject({ status: 'paid', version: 2 });
  });

  test('An answer that was on its way while a webhook came is not shown', async () => {
    const { merchant, tenant, clock, make, script, webhook } = await start();
    const orderCode = make();
    await merchant.find(tenant, orderCode);
    clock.advance(MINUTE);
    const late = deferred();
    script.on('GET', `${PATH}/${orderCode}`, async () => {
      await late.promise;
      return ok({ orderCode, status: 'pending', amountCents: 4990, description: 'older' });
    });
    const asked = merchant.find(tenant, orderCode);
    while (script.requests.length < 2) await turn();
    clock.advance(1);
    await webhook({ orderCode, status: 'paid', amount: 49.9 });
    late.resolve();
    expect(await asked).toMatchObject({ status: 'paid', description: null });
  });

  test('An observation that loses against a newer state of another instance is dropped', async () => {
    const { merchant, tenant, clock, make, hold, kept, announced, script, facade } = await start();
    const orderCode = make();
    const release = hold();
    expect(await merchant.find(tenant, orderCode)).toMatchObject({ status: 'pending' });
    const other = await start({ tenant, upstream: script.upstream, clock });
    clock.advance(MINUTE);
    await other.webhook({ orderCode, status: 'paid', amount: 49.9 });
    release();
    await facade.mirrorWriter.close();
    expect(await kept(orderCode)).toMatchObject({ status: 'paid' });
    expect(await announced()).toEqual(['card_payment.paid']);
  });

  test('Followers hear of nothing that is not kept', async () => {
    const { merchant, tenant, clock, make, hold, heard, facade, failing } = await start();
    const orderCode = make();
    const release = hold();
    await merchant.find(tenant, orderCode);
    const followed = merchant.findWithVersion(tenant, orderCode);
    let isFollowed = false;
    void followed.then(() => {
      isFollowed = true;
    });
    await quiet();
    expect(isFollowed).toBe(false);
    failing(() => new Error('refused'));
    release();
    expect(await followed).toBeNull();
    expect(heard).toEqual([]);
    expect(facade.faults).not.toEqual([]);
    failing(null);
    clock.advance(MINUTE);
    expect(await merchant.findWithVersion(tenant, orderCode)).toMatchObject({ version: 1 });
    expect(heard).toEqual(['card_payment.pending']);
  });

  test('An answer outlives a write that the database did not take, which is repeated', async () => {
    const { merchant, tenant, clock, make, kept, failing, facade } = await start();
    const orderCode = make();
    failing(() => new StatementInterrupted('the server is away'));
    expect(await merchant.find(tenant, orderCode)).toMatchObject({ status: 'pending' });
    while (facade.faults.length === 0) await turn();
    expect(await kept(orderCode)).toBeUndefined();
    failing(null);
    clock.advance(1_000);
    await facade.mirrorWriter.close();
    expect(await kept(orderCode)).toMatchObject({ status: 'pending' });
    expect(facade.faults).toMatchObject([{ message: 'the server is away' }]);
  });

  test('A state that the database refuses is reported, and costs the others nothing', async () => {
    const { merchant, tenant, make, kept, hold, facade } = await start();
    const [good, bad] = [make(), make()];
    const refuses = sql.raw(`add constraint test_refuses check (id <> '${bad}')`);
    await sql`alter table observed ${refuses}`.execute(database.sql);
    const release = hold();
    expect(await merchant.findMany(tenant, [good, bad])).toMatchObject([
      { orderCode: good },
      { orderCode: bad },
    ]);
    release();
    await facade.mirrorWriter.close();
    expect(await kept(good)).toMatchObject({ status: 'pending' });
    expect(await kept(bad)).toBeUndefined();
    expect(facade.faults).toHaveLength(1);
    await sql`alter table observed drop constraint test_refuses`.execute(database.sql);
  });

  test('An observation that settles a request is kept before its caller is answered', async () => {
    const { merchant, tenant, script, hold, make } = await start();
    const orderCode = make();
    let release: () => void = () => undefined;
    script.on('POST', PATH, () => {
      // The intent is recorded; its outcome waits.
      release = hold();
      return ok({ orderCode, status: 'pending', amountCents: 4990, checkoutUrl: 'https://pay.example/1' });
    });
    let isAnswered = false;
    const created = merchant.create(tenant, { valueCents: 4990 }).then((answer) => {
      isAnswered = true;
      return answer;
    });
    while (!script.requestLines.some((line) => line.startsWith('POST'))) await turn();
    await quiet();
    expect(isAnswered).toBe(false);
    release();
    expect(await created).toMatchObject({ payment: { orderCode } });
  });

  test('A query waits for its write once too many states wait', async () => {
    const { merchant, tenant, make, hold, facade } = await start();
    const release = hold();
    const rows = Array.from({ length: MAX_WAITING }, () => make());
    await merchant.findMany(tenant, rows);
    let isAnswered = false;
    const asked = merchant.find(tenant, make()).then(() => {
      isAnswered = true;
    });
    await quiet();
    expect(isAnswered).toBe(false);
    release();
    await asked;
    expect(await merchant.count(tenant, {})).toBe(MAX_WAITING + 1);
    expect(facade.faults).toEqual([]);
  });

  test('A payment with an order is kept before it is shown, for that closes the order', async () => {
    const { merchant, tenant, script, hold, make, clock } = await start();
    const orderCode = make();
    script.on('POST', PATH, () =>
      ok({ orderCode, status: 'pending', amountCents: 4990, checkoutUrl: 'https://pay.example/1' }),
    );
    await merchant.create(tenant, { valueCents: 4990, externalId: 'A-1' });
    clock.advance(MINUTE);
    make('paid', orderCode);
    const release = hold();
    let isAnswered = false;
    const asked = merchant.find(tenant, orderCode).then((payment) => {
      isAnswered = true;
      return payment;
    });
    await quiet();
    expect(isAnswered).toBe(false);
    release();
    expect(await asked).toMatchObject({ status: 'paid' });
  });
});
