import { expect, test } from 'vitest';
import { checkBackup, restoreDatabase, saveDatabase } from '../../../server/src/state/db/backup.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import { describeOnDatabase } from '../../support/database.ts';
import { kinds, type Sale, startSeen, type Withdrawal } from './seen-story.ts';

async function textOf(from: Database, takenAt: Date): Promise<string> {
  let text = '';
  await saveDatabase(from, {
    takenAt,
    async write(texts) {
      for await (const part of texts) text += part;
    },
  });
  return text;
}

describeOnDatabase('the statement of a facade whose database was set back', (open) => {
  test('After a restore what moved since the backup is an entry once, of the first sighting that shows it', async () => {
    const before = await startSeen(await open());
    const { service, clock } = before;
    const startedAt = clock.now();
    const sale = (id: string): Sale => ({
      ...{ id, status: 'paid', amountCents: 17, refundedCents: 0, paidAt: clock.now() },
    });
    await before.see();
    service.balanceCents += 10;
    await before.showSale(sale('psa_kept'));
    await before.see();
    const lost = { at: clock.now(), sale: sale('psa_lost') };
    const backup = await textOf(before.database, clock.now());
    service.balanceCents += 10;
    await before.showSale(lost.sale);
    await before.see();
    expect(kinds((await before.read()).entries)).toEqual(['payment 10', 'payment 10']);

    const target = await open();
    const texts = async function* () {
      yield backup;
    };
    await restoreDatabase(target, {
      header: await checkBackup(texts(), () => undefined),
      texts: texts(),
    });
    const after = await startSeen(target, before);
    service.balanceCents -= 500;
    await after.see();
    // The lost sighting is that of the backup.
    expect(await after.statement.at(after.tenant, lost.at)).toMatchObject({
      figures: { balanceCents: 100_010 },
      unexplainedCents: 0,
    });
    const withdrawal: Withdrawal = {
      ...{ id: after.nextId(), status: 'completed', amountCents: 500, requestedAt: clock.now() },
    };
    // The service shows again what it has, the kept one too.
    await after.showSale(sale('psa_kept'));
    await after.showSale(lost.sale);
    await after.showWithdrawal(withdrawal);
    await after.see();
    const { items } = await after.statement.list(after.tenant, { end: 'last', limit: 9 });
    expect(kinds(items.map(({ entry }) => entry).reverse())).toEqual([
      ...['payment 10', 'observed -490'],
      ...['observed 490', 'payment 10', 'payout -500'],
    ]);
    expect(
      await after.statement.closing(after.tenant, {
        startsAt: startedAt,
        endsAt: new Date(clock.now().getTime() + 1),
      }),
    ).toMatchObject({ closing: { balanceCents: service.balanceCents }, unexplainedCents: 0 });
  });
});
