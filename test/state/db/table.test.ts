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

interface Line {
  kind: string;
  number: number;
  name: string;
  words: readonly string[];
}

/** Lines that three members name together. They never change. */
const lines = table<Line, never, 'kind' | 'number' | 'name'>(
  'noted_line',
  { kind: fixed('kind'), number: fixed('number'), name: fixed('name'), words: fixed('words') },
  {
    key: { kind: 'text', number: 'integer', name: 'text' },
    unique: ['account_id', 'environment', 'kind', 'number', 'name'],
    complete: (line) => (line.kind === 'old' ? { ...line, words: ['completed'] } : line),
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
    await raw`create table noted_line (account_id text, environment text, kind text, number integer, name text, words text[],
      primary key (account_id, environment, kind, number, name))`.execute(database.sql);
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

  test('A record that several members name is found by all of them, and the last may have spaces', async () => {
    const { sql } = database;
    const line = (kind: string, number: number, name: string): Line => ({
      kind,
      number,
      name,
      words: [kind, name],
    });
    const all = [line('a', 1, 'x y z'), line('a', 2, 'x y z'), line('b', 1, 'x y z'), line('a', 1, 'x')];
    await lines.save(sql, ana, all);
    await lines.save(sql, rui, [line('a', 1, 'x y z')]);
    const keys = all.map((each) => lines.keyOf(each));
    expect(keys[0]).toBe('a 1 x y z');
    expect(await lines.load(sql, ana, [keys[0]!, keys[3]!, 'a 3 x', 'b 1 \u0000'])).toEqual([all[0], all[3]]);
    expect((await lines.loadEach(sql, [{ tenant: rui, key: keys[0]! }])).map(({ tenant }) => tenant)).toEqual(
      [rui],
    );
    expect(await lines.loadWithHead(sql, ana, keys[1]!)).toEqual({ version: 0, resource: all[1] });
    expect(await lines.loadWithHead(sql, rui, keys[1]!)).toBeNull();
  });

  test('A record whose columns are all fixed stays as it was saved first; an insert of it fails', async () => {
    const { sql } = database;
    const first = { kind: 'kept', number: 1, name: 'x', words: ['first'] };
    await lines.save(sql, ana, [first]);
    await lines.save(sql, ana, [{ ...first, words: ['second'] }]);
    expect(await lines.load(sql, ana, [lines.keyOf(first)])).toEqual([first]);
    await expect(lines.insert(sql, ana, [first])).rejects.toMatchObject({ code: '23505' });
  });

  test('A record that the table completes is complete by each way of reading', async () => {
    const { sql } = database;
    const old = { kind: 'old', number: 1, name: 'x', words: [] };
    await lines.save(sql, ana, [old]);
    const completed = { ...old, words: ['completed'] };
    expect(await lines.load(sql, ana, [lines.keyOf(old)])).toEqual([completed]);
    expect((await lines.loadWithHead(sql, ana, lines.keyOf(old)))!.resource).toEqual(completed);
  });

  test('A text that Postgres cannot store is refused by the name of its member, and nothing is saved', async () => {
    const { sql } = database;
    const save = (more: Partial<Note>) => notes.save(sql, ana, [note('n21'), note('n22', more)]);
    await expect(save({ text: 'a\u0000' })).rejects.toThrow('text: must not contain U+0000');
    await expect(save({ tags: ['a\u0000'] })).rejects.toThrow('tags: must not contain U+0000');
    await expect(save({ tags: ['a\ud800'] })).rejects.toThrow('tags: must not contain U+0000');
    expect(await notes.load(sql, ana, ['n21', 'n22'])).toEqual([]);
    const ofWords = (word: string) =>
      lines.save(sql, ana, [{ kind: 'a', number: 9, name: 'x', words: [word] }]);
    await expect(ofWords('a\u0000')).rejects.toThrow('words: must not contain U+0000');
    await expect(ofWords('a\ud800')).rejects.toThrow('words: must not contain U+0000');
    const escaped = note('n22', { text: '\\u0000', tags: ['\\u0000', 'á 🧀'] });
    await notes.save(sql, ana, [escaped]);
    expect(await notes.load(sql, ana, ['n22'])).toEqual([escaped]);
  });
});
