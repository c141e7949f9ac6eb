import { expect, onTestFinished, test } from 'vitest';
import { checkBackup, restoreDatabase, saveDatabase } from '../../server/src/db/backup.ts';
import type { Bank, TransferStatus } from '../../server/src/rails/bank.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { describeOnDatabase } from '../support/database.ts';

const OPEN = `mutation {
  done: createSubaccount(input: { name: "Ana", externalId: "42" }) {
    ... on SubaccountSuccess { subaccount { subaccountId } } ... on UserError { message }
  }
}`;
const GIVE = `mutation ($input: TransferToSubaccountInput!) {
  done: transferToSubaccount(input: $input) { ... on SubaccountSuccess { subaccount { balanceCents } } ... on UserError { message } }
}`;
const WITHDRAW = `mutation ($input: RequestPayoutInput!) {
  done: requestPayout(input: $input) { ... on PayoutSuccess { payout { withdrawalId } } ... on UserError { message } }
}`;
const PAY_OUT = `mutation ($input: RequestSubaccountPayoutInput!) {
  done: requestSubaccountPayout(input: $input) { ... on SubaccountPayoutSuccess { subaccountPayout { payoutId status } } ... on UserError { message } }
}`;
const FOLLOW = 'subscription ($after: String) { allPayoutUpdates(after: $after) { cursor } }';

/** A real bank, whose books no backup of ours brings back: by our id it knows what it has sent. */
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

    // Debited, and not yet sent.
    await withdraw(first, 'before');
    let text = '';
    await saveDatabase(source, {
      takenAt: first.clock.now(),
      async write(texts) {
        for await (const part of texts) text += part;
      },
    });
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

    const target = await openFresh();
    const pieces = async function* () {
      yield text;
    };
    const header = await checkBackup(pieces(), () => undefined);
    await restoreDatabase(target, { header, texts: pieces() });
    const second = await startApp({ database: target, bank, environment });
    onTestFinished(async () => {
      await second.close();
      await first.close();
    });
    // A place in a log that is no longer there is no place: it is not taken for one in what comes instead.
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
});

async function tenantOf({ database }: TestApp) {
  const { id } = await database.sql.selectFrom('account').select('id').executeTakeFirstOrThrow();
  return { accountId: id, environment: 'live' as const };
}
