import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import {
  CommitOutcomeUnknown,
  type Database,
  type Sql,
  StatementInterrupted,
} from '../../../server/src/state/db/database.ts';
import { createManualClock } from '../../support/clock.ts';
import { describeOnBothEngines } from '../../support/database.ts';
import { deferred } from '../../support/deferred.ts';

describeOnBothEngines('the database', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
    await sql`
      create table note (
        id bigint generated always as identity primary key,
        text text unique deferrable initially deferred,
        at timestamptz, day date, extra jsonb, numbers bigint[]
      )`.execute(database.sql);
  });

  test('The database returns numbers, instants, days and JSON as their own types', async () => {
    const at = new Date('2026-02-28T23:59:59.123-03:00');
    const { rows } = await sql`
      insert into note (at, day, extra, numbers)
      values (${at}, '2026-02-28', ${{ tags: ['a', null], n: 1.5 }}, ${[1, 2 ** 53 - 1]})
      returning id + 9007199254740990 as id, at, day, extra, numbers, 1 + 1 as small, true as yes, null as nothing
    `.execute(database.sql);
    expect(rows).toEqual([
      {
        id: 9007199254740991,
        at,
        day: '2026-02-28',
        extra: { tags: ['a', null], n: 1.5 },
        numbers: [1, 9007199254740991],
        small: 2,
        yes: true,
        nothing: null,
      },
    ]);
  });

  test('The database refuses a bigint that a number cannot hold, and continues', async () => {
    await expect(sql`select 9007199254740992::bigint`.execute(database.sql)).rejects.toThrow(
      'The bigint 9007199254740992 is not a safe integer',
    );
    await expect(sql`select -9007199254740992::bigint`.execute(database.sql)).rejects.toThrow(RangeError);
    expect(await scalar(database.sql, sql`select 1 as value`)).toBe(1);
  });

  test('The database names the constraint that refused a row', async () => {
    await expect(
      sql`insert into note (text) values ('twice'), ('twice')`.execute(database.sql),
    ).rejects.toMatchObject({ code: '23505', constraint: 'note_text_key' });
  });

  test('After a write that was refused for want of space the database takes writes once one of new space succeeds', async () => {
    const clock = createManualClock();
    const full = await open({ clock });
    const refuse = sql`do $$ begin raise exception 'No space left on device' using errcode = 'disk_full'; end $$`;
    expect(await full.takesWrites()).toBe(true);
    await expect(refuse.execute(full.sql)).rejects.toBeInstanceOf(StatementInterrupted);
    await expect(full.takesWrites()).rejects.toThrow('No space left on device');
    clock.advance(5_000);
    expect(await full.takesWrites()).toBe(true);
    await expect(sql`select 1 / 0`.execute(full.sql)).rejects.toMatchObject({ code: '22012' });
    expect(await full.takesWrites()).toBe(true);
    await full.close();
  });

  test('A transaction commits its statements and returns what its work returned', async () => {
    const result = await database.transaction(async (tx) => {
      await sql`insert into note (text) values ('kept')`.execute(tx);
      return 'done';
    });
    expect(result).toBe('done');
    expect(await count(database, 'kept')).toBe(1);
  });

  test('A transaction rolls back when its work throws, and passes the error on', async () => {
    const refusal = new Error('refused');
    const work = database.transaction(async (tx) => {
      await sql`insert into note (text) values ('undone')`.execute(tx);
      throw refusal;
    });
    await expect(work).rejects.toBe(refusal);
    expect(await count(database, 'undone')).toBe(0);
  });

  test('A transaction with a failed statement is reported as rolled back, even if its work ignores the failure', async () => {
    const work = database.transaction(async (tx) => {
      await sql`insert into note (text) values ('lost')`.execute(tx);
      await sql`select 1 / 0`.execute(tx).catch(() => 'ignored');
    });
    await expect(work).rejects.toThrow('rolled back');
    expect(await count(database, 'lost')).toBe(0);
  });

  test('A transaction runs concurrent statements in order, and throws the error that made the others fail', async () => {
    const results = await database.transaction((tx) =>
      Promise.all([
        sql`insert into note (text) values ('together')`.execute(tx),
        scalar(tx, sql`select count(*) as value from note where text = 'together'`),
      ]),
    );
    expect(results[1]).toBe(1);

    const work = database.transaction((tx) => {
      const broken = sql`select 1 / 0`.execute(tx);
      broken.catch(() => 'heard of below');
      const behind = sql`insert into note (text) values ('behind')`.execute(tx);
      // A later statement may fail only because the first did, and is reported before it.
      return Promise.all([behind, behind.catch(() => broken)]);
    });
    await expect(work).rejects.toMatchObject({ code: '22012' });
    expect(await count(database, 'behind')).toBe(0);
  });

  test('A transaction refuses a statement after its end, and keeps it out of the next transaction', async () => {
    let ended: Sql | undefined;
    await database.transaction(async (tx) => {
      ended = tx;
    });
    await expect(sql`insert into note (text) values ('late')`.execute(ended!)).rejects.toThrow(
      'The transaction has ended',
    );
    await database.transaction(async () => undefined);
    expect(await count(database, 'late')).toBe(0);
  });

  test('A constraint that fails at COMMIT is thrown as that refusal', async () => {
    const work = database.transaction(async (tx) => {
      await sql`insert into note (text) values ('same')`.execute(tx);
      await sql`insert into note (text) values ('same')`.execute(tx);
    });
    await expect(work).rejects.toMatchObject({ code: '23505' });
    await expect(work).rejects.not.toBeInstanceOf(CommitOutcomeUnknown);
    expect(await count(database, 'same')).toBe(0);
  });

  test('A transaction sees only what others have committed', async () => {
    await sql`insert into note (text, numbers) values ('counter', '{0}')`.execute(database.sql);
    await Promise.all(
      Array.from({ length: 20 }, () =>
        database.transaction(async (tx) => {
          const before = await scalar(
            tx,
            sql`select numbers[1] as value from note where text = 'counter' for update`,
          );
          await sql`update note set numbers = array[${before}::bigint + 1] where text = 'counter'`.execute(
            tx,
          );
        }),
      ),
    );
    expect(await scalar(database.sql, sql`select numbers[1] as value from note where text = 'counter'`)).toBe(
      20,
    );
  });

  test('A single statement is answered while a transaction runs', async () => {
    let outside: Promise<unknown> | undefined;
    await database.transaction(async (tx) => {
      await sql`insert into note (text) values ('inside')`.execute(tx);
      outside = scalar(database.sql, sql`select 2 as value`);
      await sql`select 1`.execute(tx);
    });
    expect(await outside).toBe(2);
  });

  test('A notification wakes every listener of its channel, and no other', async () => {
    const heard: string[] = [];
    const woken = deferred();
    const stopped = await database.listen('Odd "name"', (payload) => heard.push(`stopped ${payload}`));
    await database.listen('other', (payload) => heard.push(`other ${payload}`));
    await database.listen('Odd "name"', (payload) => heard.push(`first ${payload}`));
    await database.listen('Odd "name"', (payload) => {
      heard.push(`second ${payload}`);
      woken.resolve();
    });
    await stopped();
    await database.notify('Odd "name"', `it's`);
    await woken.promise;
    expect(heard).toEqual([`first it's`, `second it's`]);

    heard.length = 0;
    const last = deferred();
    await database.listen('Odd "name"', (payload) => payload === 'three' && last.resolve());
    await database.notify('Odd "name"', 'two', 'three');
    await last.promise;
    expect(heard.filter((text) => text.startsWith('first'))).toEqual(['first two', 'first three']);
  });
});

describeOnBothEngines('a database that closes', (open) => {
  test('A closing database finishes the statements that run and wait, and refuses new ones', async () => {
    const database = await open();
    const order: string[] = [];
    const entered = deferred();
    const leave = deferred();
    const transaction = database.transaction(async (tx) => {
      entered.resolve();
      await leave.promise;
      await sql`select 1`.execute(tx);
      order.push('transaction');
    });
    await entered.promise;
    const waiting = sql`select 1`.execute(database.sql);
    const closed = database.close().then(() => order.push('closed'));
    await expect(sql`select 1`.execute(database.sql)).rejects.toThrow('closed');
    leave.resolve();
    await Promise.all([transaction, waiting, closed]);
    expect(order).toEqual(['transaction', 'closed']);
  });
});

async function scalar(db: Sql, query: ReturnType<typeof sql>): Promise<unknown> {
  const { rows } = await query.execute(db);
  return (rows[0] as { value: unknown }).value;
}

function count(database: Database, text: string): Promise<unknown> {
  return scalar(database.sql, sql`select count(*) as value from note where text = ${text}`);
}
