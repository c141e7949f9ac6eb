import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { sql } from 'kysely';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createSystemClock } from '../../server/src/kernel/clock.ts';
import { readConfig } from '../../server/src/programs/config/config.ts';
import { backUp, type OpenDatabase, restore } from '../../server/src/programs/ops/backup.ts';
import { BackupError, checkBackup, restoreDatabase, saveDatabase } from '../../server/src/state/db/backup.ts';
import type { Database } from '../../server/src/state/db/database.ts';
import { knownMigrations, migrate } from '../../server/src/state/db/migrate.ts';
import { openPglite } from '../../server/src/state/db/pglite.ts';
import { createPostgresDatabase, describeOnDatabase } from '../support/database.ts';
import { onFatal, silent } from '../support/templates.ts';
import { contentsOf, open, temporaryFolder, withoutMark } from './backup-fixture.ts';

const clock = createSystemClock();
const onRows = () => undefined;

/** Names with characters of every kind. */
const NAMES = [
  'Padaria "da Ana", (Ltda.)',
  'çã 漢字 😀 \u2028 \u0085',
  'a\\b\nc\td',
  '',
  '{null,"x"}',
  'NULL',
  "it's",
];

async function fill({ sql: db }: Database): Promise<void> {
  for (const [index, name] of NAMES.entries())
    await sql`insert into account (id, name, card_payments_enabled, card_release_days, created_at)
      values (${`acc_${index}`}, ${name}, true, 14, '2026-02-28T23:59:59.123456-03:00')`.execute(db);
  await sql`insert into account_brand (account_id, color, logo, logo_type, logo_hash)
    values ('acc_0', '#7a1f5c', '\\x89504e470d0a00ff', 'image/png', ${'a'.repeat(64)})`.execute(db);
  await sql`insert into cursor_key (key) values ('\\x00ff5c225c00ff5c225c00ff5c225c00')`.execute(db);
  await sql`insert into stream (account_id, environment) values ('acc_0', 'live')`.execute(db);
  await sql`insert into token values ('tok_1', 'checkout', 'hash', 'acc_0', 'live', null,
    '{"a": [1.50, null, "x\\"y"], "b": 12345678901234567890}', array['https://a.example', 'b,"c"'], now(), null, null)`.execute(
    db,
  );
  await sql`insert into subaccount (account_id, environment, id, name, created_at)
    select 'acc_0', 'live', 'sacc_' || lpad(n::text, 32, '0'), 'Ana', now() from generate_series(1, 1200) n`.execute(
    db,
  );
  await sql`insert into posting values
    ('acc_0', 'live', 'opening', 'merchant_balance', 9007199254740991, now(), null),
    ('acc_0', 'live', 'opening', 'acquirer', -9007199254740991, now(), null)`.execute(db);
}

async function textsOf(database: Database): Promise<string> {
  let all = '';
  await saveDatabase(database, {
    takenAt: clock.now(),
    async write(texts) {
      for await (const text of texts) all += text;
    },
  });
  return all;
}

async function* inPieces(text: string, size = 10_000): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size);
}

describeOnDatabase('what is saved', (openFresh) => {
  test('A saved database is restored as it was, its numbers continue, and its checks are on again', async () => {
    const [source, target] = [await openFresh(), await openFresh()];
    await fill(source);
    const text = await textsOf(source);
    const header = await checkBackup(inPieces(text), onRows);
    await restoreDatabase(target, { header, texts: inPieces(text, 777) });
    expect(withoutMark(await contentsOf(target))).toEqual(withoutMark(await contentsOf(source)));

    const next = sql<{ number: number }>`
      insert into subaccount (account_id, environment, id, name, created_at)
      values ('acc_0', 'live', 'sacc_' || repeat('f', 32), 'Bia', now()) returning number`;
    expect((await next.execute(target.sql)).rows).toEqual([{ number: 1201 }]);
    await expect(sql`update ledger_account set balance = 0`.execute(target.sql)).rejects.toThrow(
      'a balance changes by postings alone',
    );
    await expect(sql`delete from posting`.execute(target.sql)).rejects.toThrow('append-only');
    await sql`insert into posting values
      ('acc_0', 'live', 'out', 'merchant_balance', -1, now(), null), ('acc_0', 'live', 'out', 'paid_out', 1, now(), null)`.execute(
      target.sql,
    );
    const { rows } =
      await sql`select name, balance from ledger_account where name in ('merchant_balance', 'paid_out') order by 1`.execute(
        target.sql,
      );
    expect(rows).toEqual([
      { name: 'merchant_balance', balance: 9007199254740990 },
      { name: 'paid_out', balance: 1 },
    ]);

    // A restore adds nothing to a database that has rows.
    const again = restoreDatabase(target, { header, texts: inPieces(text) });
    await expect(again).rejects.toThrow(/^The database is not empty \(there are rows in account\)/);
  });

  test('A restore that fails leaves nothing', async () => {
    const [source, target] = [await openFresh(), await openFresh()];
    await fill(source);
    const text = await textsOf(source);
    const header = await checkBackup(inPieces(text), onRows);
    const empty = await contentsOf(target);
    async function* breaking() {
      yield* inPieces(text.slice(0, text.length - 2_000));
      throw new Error('the disk is gone');
    }
    await expect(restoreDatabase(target, { header, texts: breaking() })).rejects.toThrow('the disk is gone');
    // The file has changed when it is read the second time.
    const other = text.replace('Ana', 'Bia');
    await expect(restoreDatabase(target, { header, texts: inPieces(other) })).rejects.toThrow('damaged');
    expect(await contentsOf(target)).toEqual(empty);
    await restoreDatabase(target, { header, texts: inPieces(text) });
    expect(withoutMark(await contentsOf(target))).toEqual(withoutMark(await contentsOf(source)));
  });

  test('A backup of an earlier version is restored as that version, and migrates from there', async () => {
    const source = await openEmpty((await openFresh()).engine);
    await migrate(source, undefined, '0012_webhooks_in');
    await sql`insert into account (id, name, card_payments_enabled, card_release_days, created_at)
      values ('acc_0', 'Ana', true, 14, now())`.execute(source.sql);
    const text = await textsOf(source);
    const header = await checkBackup(inPieces(text), onRows);
    const target = await openEmpty('postgres');
    await restoreDatabase(target, { header, texts: inPieces(text) });
    expect(await migrate(target)).toEqual(knownMigrations().slice(header.migrations.length));
    expect(await tablesOf(target)).toEqual(await tablesOf(await openFresh()));
  });
});

async function tablesOf(database: Database): Promise<string[]> {
  return Object.keys(await contentsOf(database)).sort();
}

async function openEmpty(engine: Database['engine']): Promise<Database> {
  const database =
    engine === 'postgres'
      ? await open({ databaseUrl: await createPostgresDatabase('template1'), dataDir: '' })
      : await openPglite({ dataDir: 'memory', clock, log: silent, onFatal });
  onTestFinished(() => database.close());
  return database;
}

describe('a file', () => {
  let whole: Buffer;
  let text: string;
  beforeAll(async () => {
    const databaseUrl = await createPostgresDatabase();
    const database = await open({ databaseUrl, dataDir: '' });
    await fill(database);
    text = await textsOf(database);
    await database.close();
    whole = gzipSync(text);
  });

  /** The database is opened only after the file has been read to its end. */
  const opensNothing: OpenDatabase = () => Promise.reject(new Error('it was opened'));

  async function restoring(content: Buffer): Promise<unknown> {
    const folder = temporaryFolder();
    const file = join(folder, 'file.gz');
    writeFileSync(file, content);
    return restore(readConfig({ PSA_DATA_DIR: join(folder, 'data') }), file, {
      open: opensNothing,
      onRows,
      onChecked: onRows,
    }).then(
      () => 'restored',
      (error: unknown) => error,
    );
  }

  test('A whole backup file makes the restore open its database', async () => {
    expect(await restoring(whole)).toMatchObject({ message: 'it was opened' });
    expect(await restoring(gzipSync(gunzipSync(whole), { level: 1 }))).toMatchObject({
      message: 'it was opened',
    });
  });

  test('A backup file that is cut off anywhere is refused (40 places)', async () => {
    for (let cut = 0; cut < 40; cut++) {
      const error = await restoring(whole.subarray(0, Math.floor((whole.length * cut) / 40)));
      expect(error, `${cut}`).toBeInstanceOf(BackupError);
    }
    expect(await restoring(whole.subarray(0, whole.length - 1))).toBeInstanceOf(BackupError);
  });

  function uncompressed(content: Buffer): Buffer | null {
    try {
      return gunzipSync(content);
    } catch {
      return null;
    }
  }

  test('A backup file with one changed byte is refused (every 97th)', async () => {
    for (let at = 10; at < whole.length; at += 97) {
      const changed = Buffer.from(whole);
      changed[at]! ^= 0x10;
      // Up to seven bits after the end of compressed text fill its last byte, and carry no data.
      if (uncompressed(changed)?.equals(Buffer.from(text))) continue;
      expect(await restoring(changed), `byte ${at}`).toBeInstanceOf(BackupError);
    }
  });

  test('A backup file that was edited is refused', async () => {
    const lines = text.trimEnd().split('\n');
    const header = JSON.parse(lines[0]!);
    const row = lines.findIndex((line) => line.includes('sacc_'));
    const written: Record<string, [string[], RegExp]> = {
      'a row is missing': [lines.toSpliced(row, 1), /damaged/],
      'a row is there twice': [lines.toSpliced(row, 0, lines[row]!), /damaged/],
      'a row is another': [lines.with(row, lines[row]!.replace('Ana', 'Bia')), /damaged/],
      'its end is missing': [lines.slice(0, -1), /its end is missing/],
      'something follows': [[...lines, lines[row]!], /something follows its end/],
      'its end is there twice': [[...lines, lines.at(-1)!], /something follows its end/],
      'it is of another program': [['{"hello": 1}', ...lines], /This is no backup/],
      'it is no JSON': [['PGDMP', ...lines], /a line cannot be read/],
      'it is of a newer format': [
        lines.with(0, JSON.stringify({ ...header, psaBackup: 2 })),
        /made by a newer version/,
      ],
      'it is of newer tables': [
        lines.with(0, JSON.stringify({ ...header, migrations: [...header.migrations, '0099_future'] })),
        /of a newer version \(its tables know 0099_future\)/,
      ],
    };
    for (const [how, [changed, says]] of Object.entries(written)) {
      const error = await restoring(gzipSync(`${changed.join('\n')}\n`));
      expect(error, how).toBeInstanceOf(BackupError);
      expect((error as Error).message, how).toMatch(says);
    }
    expect(await restoring(Buffer.from('no gzip'))).toBeInstanceOf(BackupError);
    expect(await restoring(Buffer.concat([whole, Buffer.from('junk')]))).toBeInstanceOf(BackupError);
    expect(await restoring(Buffer.alloc(0))).toBeInstanceOf(BackupError);
  });

  test('A backup file of one endless line is not read to its end', async () => {
    let read = 0;
    async function* endless() {
      for (const piece = 'x'.repeat(4_000_000); ; read += piece.length) yield piece;
    }
    await expect(checkBackup(endless(), onRows)).rejects.toThrow(/a line has no end/);
    expect(read).toBeLessThan(80_000_000);
  });

  test('An existing backup file is not overwritten, and a failed backup leaves no file', async () => {
    const place = temporaryFolder();
    const config = readConfig({ DATABASE_URL: await createPostgresDatabase() });
    const file = join(place, 'one.gz');
    await backUp(config, file, { open, clock, onRows });
    const { mtimeMs } = statSync(file);
    await expect(backUp(config, file, { open, clock, onRows })).rejects.toThrow(`${file} is there already`);
    expect(statSync(file).mtimeMs).toBe(mtimeMs);
    const seen: string[] = [];
    const breaking: OpenDatabase = async (where) => {
      const database = await open(where);
      return {
        ...database,
        maintenance: (work) =>
          database.maintenance(({ sql, transaction }) =>
            work({
              sql,
              transaction: (save) =>
                transaction(async (db) => {
                  await save(db);
                  seen.push('written');
                  throw new Error('lost');
                }),
            }),
          ),
      };
    };
    const second = backUp(config, join(place, 'two.gz'), { open: breaking, clock, onRows });
    await expect(second).rejects.toThrow('lost');
    expect(seen).toEqual(['written']);
    expect(readdirSync(place)).toEqual(['one.gz']);
  });
});
