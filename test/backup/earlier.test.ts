import { expect, onTestFinished, test } from 'vitest';
import { DAY_MS } from '../../server/src/kernel/clock.ts';
import { txidOf } from '../../server/src/money-in/pix/model.ts';
import { attemptIdOf } from '../../server/src/money-in/subscriptions/model.ts';
import type { Bank, TransferStatus } from '../../server/src/rails/bank.ts';
import type { PixCredit, PixDebit, PixRail } from '../../server/src/rails/pix.ts';
import { checkBackup, restoreDatabase, saveDatabase } from '../../server/src/state/db/backup.ts';
import type { Database } from '../../server/src/state/db/database.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { createManualClock, type ManualClock } from '../support/clock.ts';
import { type Core, startCore } from '../support/core.ts';
import { describeOnDatabase } from '../support/database.ts';

const OPEN = `mutation {
  done: createSubaccount(input: { name: "Ana", externalId: "42" }) {
    ... on CreateSubaccountSuccess { subaccount { subaccountId } } ... on UserError { message }
  }
}`;
const GIVE = `mutation ($input: TransferToSubaccountInput!) {
  done: transferToSubaccount(input: $input) { ... on TransferToSubaccountSuccess { subaccount { balanceCents } } ... on UserError { message } }
}`;
const WITHDRAW = `mutation ($input: RequestPayoutInput!) {
  done: requestPayout(input: $input) { ... on RequestPayoutSuccess { payout { withdrawalId } } ... on UserError { message } }
}`;
const PAY_OUT = `mutation ($input: RequestSubaccountPayoutInput!) {
  done: requestSubaccountPayout(input: $input) { ... on RequestSubaccountPayoutSuccess { subaccountPayout { payoutId status } } ... on UserError { message } }
}`;
const FOLLOW = 'subscription ($after: String) { allPayoutUpdates(after: $after) { cursor } }';

/** A real bank, whose books no backup restores: it looks its payouts up by the id that the server gave. */
function createBank() {
  const paid = new Map<string, string>();
  const asked: string[] = [];
  const bank: Bank = {
    quoteLitoshi: async () => 1,
    async send({ id, destination }): Promise<TransferStatus> {
      asked.push(id);
      paid.set(id, destination);
      const receipt = { endToEndId: `E-${id}`, recipientName: null, recipientBankName: null };
      return { status: 'completed', receipt };
    },
  };
  return { bank, asked, destinations: () => [...paid.values()].sort() };
}

/** A real bank of PIX payments: it looks up its returns and debits by the ids that the server gave. */
function createPixBank(clock: ManualClock) {
  const credits = new Map<string, PixCredit>();
  const returns = new Map<string, number>();
  const debits = new Map<string, PixDebit>();
  const asked: string[] = [];
  /** Set while the bank does not say whether it will return money. */
  const returnsAre = { undecided: false };
  /** The returned credits, by the ids of their returns. */
  const returned = new Map<string, string>();
  const returnIdsOf = ({ endToEndId }: PixCredit) =>
    [...returned].flatMap(([id, railChargeId]) => (railChargeId === endToEndId ? [id] : []));
  const rail: PixRail = {
    register: async ({ txid }) => ({ status: 'registered', brCode: `00020126${txid}` }),
    creditsOf: async (txid) =>
      [credits.get(txid) ?? []].flat().map((credit) => ({ ...credit, returnIds: returnIdsOf(credit) })),
    async refund({ id, railChargeId, amountCents }) {
      asked.push(id);
      if (returnsAre.undecided) return { status: 'pending', settlesAt: null };
      returns.set(id, returns.get(id) ?? amountCents);
      returned.set(id, railChargeId);
      return { status: 'completed', endToEndId: `D-${id}` };
    },
    async schedule(debit) {
      asked.push(debit.id);
      if (!debits.has(debit.id)) debits.set(debit.id, debit);
      return 'scheduled';
    },
    cancelSchedule: async () => undefined,
    cancelRecurrence: async () => undefined,
    recurrenceOf: async (txid) => ({
      endedByPayerAt: null,
      debits: [...debits.values()]
        .filter((debit) => debit.txid === txid && debit.dueAt <= clock.now())
        .map(({ id, amountCents, dueAt: at }) => ({
          id,
          status: 'paid' as const,
          endToEndId: `E-${id}`,
          amountCents,
          at,
        })),
    }),
  };
  const pay = (id: string, amountCents: number) =>
    credits.set(txidOf(id), { endToEndId: `E-${id}`, amountCents, at: clock.now() });
  return { rail, pay, asked, returnsAre, returns, debits };
}

/** The backup of a database. */
async function backUp(database: Database, takenAt: Date): Promise<string> {
  let text = '';
  await saveDatabase(database, {
    takenAt,
    async write(texts) {
      for await (const part of texts) text += part;
    },
  });
  return text;
}

async function restore(text: string, database: Database): Promise<Database> {
  const pieces = async function* () {
    yield text;
  };
  const header = await checkBackup(pieces(), () => undefined);
  await restoreDatabase(database, { header, texts: pieces() });
  return database;
}

describeOnDatabase('a state from before the last payouts', (openFresh) => {
  test('A restored server pays no payout twice when keys come again, and pays once what was under way', async () => {
    const { bank, asked, destinations } = createBank();
    const source = await openFresh();
    const environment = { PSA_DEMO: 'false' };
    const first = await startApp({ database: source, bank, environment });
    const tenant = await tenantOf(first);
    await first.controls.credit(tenant, 1_000_000, { name: 'opening' });
    const subaccountId = (await first.live.request(OPEN)).done.subaccount.subaccountId;
    await first.live.request(GIVE, {
      input: { subaccountId, amountCents: 100_000, idempotencyKey: 'given' },
    });
    const withdraw = (app: TestApp, key: string) =>
      app.live.request(WITHDRAW, {
        input: {
          method: 'PIX',
          destination: `${key}@ana.example`,
          amountCents: 5_000,
          idempotencyKey: key,
        },
      });
    const payOut = (app: TestApp, key: string) =>
      app.live.request(PAY_OUT, {
        input: { subaccountId, amountCents: 5_000, pixKey: `${key}@bia.example`, idempotencyKey: key },
      });

    // This payout is debited, and not yet sent.
    await withdraw(first, 'before');
    const text = await backUp(source, first.clock.now());
    await first.work.settled();
    await withdraw(first, 'after');
    await payOut(first, 'after');
    await first.work.settled();
    const { updatesCursor: after } = await first.live.request('{ updatesCursor }');
    await withdraw(first, 'last');
    const updates = first.live.sse(FOLLOW, { after });
    const { cursor } = (await updates.data()).allPayoutUpdates;
    await updates.close();
    await first.work.settled();
    const sent = destinations();
    expect(sent).toEqual([
      'after@ana.example',
      'after@bia.example',
      'before@ana.example',
      'last@ana.example',
    ]);
    expect(first.faults).toEqual([]);

    const target = await restore(text, await openFresh());
    const second = await startApp({ database: target, bank, environment });
    onTestFinished(async () => {
      await second.close();
      await first.close();
    });
    // A cursor of lost events is refused: it is not read as a position among the events that came instead.
    await expect(second.live.sse(FOLLOW, { after: cursor }).data()).rejects.toThrow(
      /CURSOR_EXPIRED|not kept/,
    );
    const before = asked.length;
    await second.work.settled();
    for (const key of ['after', 'last', 'before']) await withdraw(second, key);
    await payOut(second, 'after');
    await second.work.settled();
    expect(asked.length).toBeGreaterThan(before);
    expect(destinations()).toEqual(sent);
    expect(new Set(asked).size).toBe(sent.length);
    expect(second.faults).toEqual([]);
  });

  test('A restored server gives no payer its money back twice, and debits no cycle twice', async () => {
    const clock = createManualClock();
    const { rail, pay, asked, returnsAre, returns, debits } = createPixBank(clock);
    const source = await openFresh();
    const first = await startCore({ database: source, clock, pix: () => rail });
    const { tenant } = first;
    const { payment } = await first.payments.create(tenant, { valueCents: 5_000 });
    pay(payment.paymentId, 5_000);
    await first.payments.receive(tenant, payment.paymentId);
    const { subscription } = await first.subscriptions.create(tenant, {
      valueCents: 700,
      interval: 'weekly',
    });
    const { subscriptionId } = subscription;
    pay(subscriptionId, 700);
    await first.subscriptions.receive(tenant, subscriptionId);
    await first.work.settled();
    const resource = { type: 'payment', id: payment.paymentId } as const;
    const refund = (core: Core, key: string) =>
      core.refunds.request(tenant, resource, { amountCents: 1_000, idempotencyKey: key });

    // The refund is taken from the balance, and not yet returned.
    returnsAre.undecided = true;
    await refund(first, 'before');
    await first.work.settled();
    const text = await backUp(source, clock.now());
    returnsAre.undecided = false;
    await refund(first, 'after');
    await first.pass(8 * DAY_MS);
    const cycle = attemptIdOf(subscriptionId, 2, 1);
    expect([...debits.keys()]).toEqual([cycle]);
    const books = async (core: Core) => {
      const { items } = await core.payments.list(tenant, { end: 'first', limit: 9 });
      const paid = items.map(({ resource: { paymentId, status, refundedCents } }) => ({
        paymentId,
        status,
        refundedCents,
      }));
      const { merchant_balance, pix_received } = await core.balances();
      return { paid, merchant_balance, pix_received };
    };
    const before = await books(first);
    expect(before).toMatchObject({
      paid: [
        { refundedCents: 0 },
        { refundedCents: 0 },
        { paymentId: payment.paymentId, refundedCents: 2_000 },
      ],
      merchant_balance: 4_400,
      pix_received: -4_400,
    });

    // A week has passed, and the restored state has nothing of it.
    const second = await startCore({
      database: await restore(text, await openFresh()),
      tenant,
      clock: createManualClock(clock.now()),
      pix: () => rail,
    });
    asked.length = 0;
    await second.work.settled();
    for (const key of ['after', 'before']) await refund(second, key);
    await second.pass(DAY_MS);
    // The bank answers that it has debited the cycle, and gets no second instruction.
    expect([...new Set(asked)].sort()).toEqual([...returns.keys()].sort());
    expect([returns.size, [...debits.keys()]]).toEqual([2, [cycle]]);
    expect(await books(second)).toEqual(before);
    expect([first.faults, second.faults]).toEqual([[], []]);
  });

  test('A restored server credits no money that its bank has sent back, in whatever order it looks', async () => {
    const clock = createManualClock();
    const { rail, pay, returns } = createPixBank(clock);
    const source = await openFresh();
    const first = await startCore({ database: source, clock, pix: () => rail });
    const { tenant } = first;
    const newPayment = async () => {
      await first.pass(60_000);
      const { payment } = await first.payments.create(tenant, { valueCents: 5_000, externalId: '42' });
      return payment.paymentId;
    };
    const older = await newPayment();
    const newer = await newPayment();
    const recurring = { valueCents: 700, interval: 'weekly' } as const;
    const { subscriptionId } = (await first.subscriptions.create(tenant, recurring)).subscription;
    const text = await backUp(source, clock.now());
    for (const id of [newer, older]) {
      await first.pass(60_000);
      pay(id, 5_000);
      await first.payments.receive(tenant, id);
    }
    await first.subscriptions.cancel(tenant, subscriptionId);
    pay(subscriptionId, 700);
    await first.subscriptions.receive(tenant, subscriptionId);
    await first.work.settled();
    const sentBack = [`E-${older}.0`, `E-${subscriptionId}.0`].sort();
    expect([...returns.keys()].sort()).toEqual(sentBack);

    const second = await startCore({
      database: await restore(text, await openFresh()),
      tenant,
      clock: createManualClock(clock.now()),
      pix: () => rail,
    });
    await second.pass(2 * DAY_MS);
    expect([...returns.keys()].sort()).toEqual(sentBack);
    const statuses = (await second.payments.findMany(tenant, [older, newer])).map((found) => found!.status);
    expect(statuses).toEqual(['expired', 'paid']);
    expect(await second.subscriptions.find(tenant, subscriptionId)).toMatchObject({ status: 'expired' });
    expect(await second.balances()).toMatchObject({ merchant_balance: 5_000, pix_received: -5_000 });
    expect([first.faults, second.faults]).toEqual([[], []]);
  });
});

async function tenantOf({ database }: TestApp) {
  const { id } = await database.sql.selectFrom('account').select('id').executeTakeFirstOrThrow();
  return { accountId: id, environment: 'live' as const };
}
