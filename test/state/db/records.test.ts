import { expect, test } from 'vitest';
import { createSystemClock, plusMs } from '../../../server/src/kernel/clock.ts';
import { checkBackup, restoreDatabase, saveDatabase } from '../../../server/src/state/db/backup.ts';
import { type Database, ReadOnlyDatabase } from '../../../server/src/state/db/database.ts';
import { migrate } from '../../../server/src/state/db/migrate.ts';
import { createRecords } from '../../../server/src/state/db/records.ts';
import { createManualClock } from '../../support/clock.ts';
import {
  connectTo,
  createPostgresDatabase,
  describeOnBothEngines,
  describeOnDatabase,
} from '../../support/database.ts';
import { silent } from '../../support/templates.ts';

const MINUTE = 60_000;

/** The mark of a database, and its log lines. */
function recordsOf(database: Database, clock = createManualClock()) {
  const logged: string[] = [];
  const log = {
    ...silent,
    warn: (_: object, text: string) => logged.push(text),
    info: (_: object, text: string) => logged.push(text),
  };
  return { ...createRecords({ database, clock, log }), logged, clock };
}

async function* texts(saved: readonly string[]) {
  yield* saved;
}

async function save(database: Database, takenAt: Date): Promise<string[]> {
  const saved: string[] = [];
  const write = async (each: AsyncIterable<string>) => {
    for await (const text of each) saved.push(text);
  };
  await saveDatabase(database, { takenAt, write });
  return saved;
}

async function restore(database: Database, saved: readonly string[]): Promise<void> {
  const header = await checkBackup(texts(saved), () => undefined);
  await restoreDatabase(database, { header, texts: texts(saved) });
}

describeOnBothEngines('records that may lack something', (open) => {
  test('a restore marks them with the instant of its backup, until it is confirmed', async () => {
    const database = await open();
    const first = recordsOf(database);
    expect(await first.behind()).toBeNull();
    expect(await first.restored({})).toEqual({ behind: null, ended: null });
    expect(await first.newestGap()).toBeNull();
    const takenAt = new Date('2026-03-02T11:00:00.000Z');
    const saved = await save(database, takenAt);
    const other = await open();
    await restore(other, saved);
    const restored = recordsOf(other);
    const mark = { since: takenAt, until: expect.any(Date), cause: 'backup' };
    expect(await restored.behind()).toEqual(mark);
    expect(restored.lastKnown()).toEqual(mark);
    expect(restored.logged).toEqual([expect.stringContaining('restored from a backup')]);
    // A backup of these records lacks the same ones.
    const again = await open();
    await restore(again, await save(other, plusMs(takenAt, MINUTE)));
    expect(await recordsOf(again).behind()).toEqual(mark);

    const { until } = (await restored.newestGap())!;
    expect(await restored.restored({ confirm: true })).toEqual({ behind: null, ended: mark });
    // What is missing is missing for good.
    expect(await restored.newestGap()).toEqual({ since: takenAt, until });
    expect(await restored.restored({ confirm: true })).toEqual({ behind: null, ended: null });
    expect(restored.lastKnown()).toBeNull();
    expect(restored.logged).toHaveLength(2);
  });

  test('an operator marks them since an instant of the past, and the earlier one stays', async () => {
    const { restored, clock } = recordsOf(await open());
    const since = plusMs(clock.now(), -MINUTE);
    const mark = { since, until: clock.now(), cause: 'operator' };
    expect(await restored({ since })).toEqual({ behind: mark, ended: null });
    expect(await restored({ since: plusMs(since, 1) })).toEqual({ behind: mark, ended: null });
    await expect(restored({ since: plusMs(clock.now(), 1) })).rejects.toThrow(
      'since: must not be in the future',
    );
    await expect(restored({ since, confirm: true })).rejects.toThrow('since: cannot be given with --confirm');
    expect((await restored({})).behind).toEqual(mark);
  });
});

describeOnDatabase('the timeline of PostgreSQL', (_, engine) => {
  test.runIf(engine === 'PostgreSQL')(
    'another one than that of the start marks the records; a confirmed one is kept',
    async () => {
      const database = await connectTo(await createPostgresDatabase(), createSystemClock());
      const clock = createManualClock();
      const { behind, restored, logged } = recordsOf(database, clock);
      expect(await behind()).toBeNull();
      const { timeline } = await database.sql
        .selectFrom('restored_records')
        .selectAll()
        .executeTakeFirstOrThrow();
      expect(timeline).toBeGreaterThan(0);
      // The database knows the timeline before, as after the promotion of a standby.
      await database.sql
        .updateTable('restored_records')
        .set({ timeline: timeline! - 1 })
        .execute();
      const mark = { since: clock.now(), until: clock.now(), cause: 'timeline' };
      // While the database takes no writes, the mark is not lost.
      const readOnly = {
        ...database,
        transaction: () => Promise.reject(new ReadOnlyDatabase('cannot write')),
      };
      expect(await recordsOf(readOnly, clock).behind()).toEqual(mark);
      expect(await behind()).toEqual(mark);
      clock.advance(MINUTE);
      expect(await recordsOf(database, clock).behind()).toEqual(mark);
      expect(logged).toEqual([expect.stringContaining('a standby was promoted')]);
      // The standby was promoted again before the confirmation: records since the mark may be missing, too.
      await database.sql
        .updateTable('restored_records')
        .set({ marked_timeline: timeline! + 1 })
        .execute();
      expect(await behind()).toEqual({ ...mark, until: clock.now() });
      await restored({ confirm: true });
      expect(await behind()).toBeNull();
      await database.close();
    },
  );

  test.runIf(engine === 'PostgreSQL')('a server that does not show it is logged once', async () => {
    const database = await connectTo(await createPostgresDatabase(), createSystemClock());
    const refused = Object.assign(new Error('permission denied for function'), { code: '42501' });
    const executor = database.sql.getExecutor();
    const execute = executor.executeQuery.bind(executor);
    executor.executeQuery = async (query, ...rest) => {
      if (query.sql.includes('pg_walfile_name')) throw refused;
      return execute(query, ...rest);
    };
    const { behind, restored, logged, clock } = recordsOf(database);
    expect([await behind(), await behind()]).toEqual([null, null]);
    expect(logged).toEqual([expect.stringContaining('does not show its timeline')]);
    await restored({ since: clock.now() });
    expect(await restored({ confirm: true })).toMatchObject({ behind: null, ended: { cause: 'operator' } });
    await database.close();
  });

  test.runIf(engine === 'PostgreSQL')(
    'the backup of a version that knew no mark is marked, too',
    async () => {
      const [before, after] = await Promise.all(
        [0, 1].map(async () => connectTo(await createPostgresDatabase('template1'), createSystemClock())),
      );
      await migrate(before!, undefined, '0014_payouts_by_method');
      const takenAt = new Date('2026-03-02T11:00:00.000Z');
      await restore(after!, await save(before!, takenAt));
      await migrate(after!);
      expect(await recordsOf(after!).behind()).toMatchObject({ since: takenAt, cause: 'backup' });
      await Promise.all([before!.close(), after!.close()]);
    },
  );
});
