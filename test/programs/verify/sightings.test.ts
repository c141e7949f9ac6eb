import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { createSystemClock } from '../../../server/src/kernel/clock.ts';
import { saveCheckpoint } from '../../../server/src/programs/verify/store.ts';
import { createVerifier } from '../../../server/src/programs/verify/verifier.ts';
import { createRandom } from '../../faults/random.ts';
import { type Sale, startSeen } from '../../money-out/wallet/seen-story.ts';
import { describeOnDatabase } from '../../support/database.ts';
import { firstInSample } from '../../support/scale.ts';
import { plant, plantable } from './planted-rows.ts';

describeOnDatabase('the laws of what a facade has seen', (open) => {
  test('Nothing is found in sound rows, and each changed value is', async () => {
    const database = await open();
    const story = await startSeen(database);
    const { service, clock, tenant } = story;
    const verifier = createVerifier({
      ...{ database, clock: createSystemClock(), isFacade: true, pause: async () => undefined },
    });
    const verify = ({ sinceLast = false } = {}) =>
      verifier.verify({ sinceLast, accountId: tenant.accountId });

    Object.assign(service, { receivableCents: 0, subaccountsBalance: 0 });
    await story.see();
    const sale: Sale = { id: 'psa_1', status: 'paid', amountCents: 1_007, refundedCents: 0, paidAt: null };
    const paid = { ...sale, paidAt: clock.now() };
    service.balanceCents += 1_000;
    await story.showSale({ ...paid, feeCents: null });
    await story.see();
    await story.showSale(paid);
    Object.assign(service, { pendingReleaseCents: null });
    service.balanceCents += 40;
    await story.see();
    Object.assign(service, { pendingReleaseCents: 60 });
    await story.showSale({ ...paid, refundedCents: 300 });
    await story.see();
    await story.showWithdrawal({ id: 'saq', status: 'completed', amountCents: 50, requestedAt: clock.now() });
    await story.see();

    const sound = await verify();
    expect(sound.findings).toEqual([]);
    expect(await verify({ sinceLast: true })).toMatchObject({ findings: [], looked: { events: 0 } });
    const { laws } = await database.sql
      .selectFrom('verify_checkpoint')
      .select('laws')
      .where('account_id', '=', tenant.accountId)
      .executeTakeFirstOrThrow();
    const start = { number: 0, version: 0, sums: {}, sighting: 1, laws: laws! };
    const random = createRandom(7);
    for (const column of firstInSample(await plantable(database.sql, ['observed_entry']))) {
      const one = await plant(database, column, random);
      const { findings } = await verify();
      await saveCheckpoint(database.sql, tenant, start);
      const { findings: since } = await verify({ sinceLast: true });
      expect([one?.column, findings.length > 0, since.length > 0]).toEqual([column.column, true, true]);
      await one!.undo();
    }
    for (const change of [
      sql`update observed_entry set known = known || '{"balanceCents": 1}' where number = 3`,
      sql`update observed_entry set wallet = wallet || '{"balanceCents": 1}' where number = 3`,
      sql`update observed_entry set seen_to = seen_to + 1000 where number = 3`,
      sql`update observed_entry set resource = null, resource_id = null where number = 3`,
      sql`delete from observed_entry where number = 3`,
    ]) {
      const kept = await database.sql
        .selectFrom('observed_entry')
        .selectAll()
        .where('number', '=', 3)
        .execute();
      await unguarded((db) => change.execute(db));
      expect((await verify()).findings).not.toEqual([]);
      await unguarded(async (db) => {
        await sql`delete from observed_entry where number = 3`.execute(db);
        await db
          .insertInto('observed_entry')
          .values(
            kept.map((row) => ({
              ...row,
              wallet: JSON.stringify(row.wallet),
              known: JSON.stringify(row.known),
            })),
          )
          .execute();
      });
      expect((await verify()).findings).toEqual([]);
    }

    function unguarded<Result>(work: Parameters<typeof database.transaction<Result>>[0]): Promise<Result> {
      return database.transaction(async (db) => {
        await sql`set local session_replication_role = replica`.execute(db);
        return work(db);
      });
    }
  });
});
