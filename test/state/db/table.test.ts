import { sql as raw } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import type { Tenant } from '../../../server/src/kernel/tenant.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import { type Columns, changing, fixed, group, json, table } from '../../../server/src/state/db/table.ts';
import { describeOnDatabase } from '../../support/database.ts';
import { recordStatements } from '../../support/statements.ts';

interface Note {
  noteId: string;
  text: string | null;
  at: Date;
  tags: readonly string[] | null;
  part: { cents: number; name: string | null } | null;
  shownElsewhere?: string;
}

const notes = table<Note, 'shownElsewhere'>(
  'note',
  {
    noteId: fixed('note_id'),
    text: changing('text'),
    at: fixed('at'),
    tags: json(changing('tags')),
    part: group('cents', { cents: fixed('part_cents'), name: changing('part_name') }),
  },
  {
    key: 'noteId',
    isKey: (text) => /^n\d+$/.test(text),
    own: ({ noteId }) => ({ digits: noteId.length - 1 }),
  },
);

const ana: Tenant = { accountId: 'acc_1', environment: 'live' };
const rui: Tenant = { accountId: 'acc_2', environment: 'sandbox' };
const at = new Date('2026-03-02T12:00:00Z');
const note = (noteId: string, more: Partial<Note> = {}): Note => ({
  ...{ noteId, text: 'a', at, tags: ['x'], part: { cents: 5, name: 'b' } },
  ...more,
});

describeOnDatabase('a table', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
    await raw`create table note (account_id text, environment text, note_id text primary key, text text, at timestamptz,
      tags jsonb, part_cents bigint, part_name text, digits integer)`.execute(database.sql);
  });

  test('A member without a column does not compile', () => {
    // @ts-expect-error: the column of `text` is missing
    const columns: Columns<Pick<Note, 'noteId' | 'text'>> = { noteId: fixed('note_id') };
    expect(Object.keys(columns)).toEqual(['noteId']);
  });

  test('A record is the same once it is saved, and a change of it leaves what is fixed', async () => {
    const { sql } = database;
    await notes.save(sql, ana, [note('n1'), note('n2', { text: null, tags: null, part: null })]);
    expect(await notes.load(sql, ana, ['n2', 'n\u0000', 'n3'])).toEqual([
      note('n2', { text: null, tags: null, part: null }),
    ]);
    await notes.save(sql, ana, [
      note('n1', { text: 'c', at: new Date(0), tags: [], part: { cents: 6, name: null } }),
    ]);
    expect(await notes.load(sql, ana, ['n1'])).toEqual([
      note('n1', { text: 'c', tags: [], part: { cents: 5, name: null } }),
    ]);
    const { rows } =
      await raw<object>`select digits, tags is null as "hasNone" from note where note_id = 'n2'`.execute(sql);
    expect(rows).toEqual([{ digits: 1, hasNone: true }]);
  });

  test('Records of several tenants are saved and loaded by a statement each, and each by its own tenant alone', async () => {
    const { database: recorded, statements } = recordStatements(database);
    const all = [
      { tenant: ana, record: note('n11') },
      { tenant: rui, record: note('n12') },
    ];
    await notes.saveEach(recorded.sql, all);
    const wanted = [...all, { tenant: rui, record: note('n11') }];
    const found = await notes.loadEach(
      recorded.sql,
      wanted.map(({ tenant, record }) => ({ tenant, key: record.noteId })),
    );
    expect(found.sort((left, right) => left.record.noteId.localeCompare(right.record.noteId))).toEqual(all);
    expect(statements).toHaveLength(2);
    expect(await notes.load(database.sql, ana, ['n12'])).toEqual([]);
  });

  test('A text that Postgres cannot store is refused by the name of its member, and nothing is saved', async () => {
    const { sql } = database;
    const save = (more: Partial<Note>) => notes.save(sql, ana, [note('n21'), note('n22', more)]);
    await expect(save({ text: 'a\u0000' })).rejects.toThrow('text: must not contain U+0000');
    await expect(save({ tags: ['a\u0000'] })).rejects.toThrow('tags: must not contain U+0000');
    await expect(save({ tags: ['a\ud800'] })).rejects.toThrow('tags: must not contain U+0000');
    expect(await notes.load(sql, ana, ['n21', 'n22'])).toEqual([]);
    const escaped = note('n22', { text: '\\u0000', tags: ['\\u0000', 'á 🧀'] });
    await notes.save(sql, ana, [escaped]);
    expect(await notes.load(sql, ana, ['n22'])).toEqual([escaped]);
  });
});
