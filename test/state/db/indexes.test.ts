import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { describeOnDatabase } from '../../support/database.ts';
import { MIGRATIONS, readReleases } from './schema.ts';

const INDEX =
  /\bcreate\s+(?:unique\s+)?index\s+(concurrently\s+)?(?:if\s+not\s+exists\s+)?(?:\w+\s+)?on\s+(?:only\s+)?(\w+)/gi;
const TABLE = /\bcreate\s+table\s+(?:if\s+not\s+exists\s+)?(\w+)/gi;

/**
 * The faults of a migration's indexes. An index on a table with rows blocks every change of the table while it is
 * built, unless it is built concurrently, which no transaction can do.
 */
function indexFaults(file: string, text: string): string[] {
  const statements = text.replaceAll(/--.*$/gm, '');
  const created = new Set([...statements.matchAll(TABLE)].map(([, table]) => table));
  const isOnline = /_online(?:_needs_\d{4})?\.sql$/.test(file);
  return [...statements.matchAll(INDEX)].flatMap(([, concurrently, table]) => {
    if (!concurrently)
      return created.has(table) ? [] : [`${file}: an index on ${table} is not made concurrently`];
    return isOnline ? [] : [`${file}: an index is made concurrently in a transaction`];
  });
}

describe('A migration after the first release', () => {
  const released = Object.keys(readReleases()[0].migrations);
  const added = readdirSync(MIGRATIONS).filter((file) => !released.includes(file));

  it('A migration makes indexes on older tables concurrently, and in an _online file', () => {
    expect(added.flatMap((file) => indexFaults(file, readFileSync(join(MIGRATIONS, file), 'utf8')))).toEqual(
      [],
    );
  });
});

describe('The rule for indexes', () => {
  it.each([
    ['0099_note.sql', 'create table note (id text); create index note_by_id on note (id);'],
    ['0099_note.sql', 'create table if not exists note (id text); create unique index on note (id);'],
    [
      '0099_note.sql',
      '-- create index payout_by_note on payout (note)\nalter table payout add column note text;',
    ],
    ['0099_note_online.sql', 'create index concurrently payout_by_note on payout (note);'],
    ['0099_note_online.sql', 'create unique index concurrently if not exists a on only payout (note);'],
    ['0099_note_online_needs_0098.sql', 'create index concurrently payout_by_note\n  on payout (note);'],
  ])('The rule for indexes allows %s: %s', (file, text) => {
    expect(indexFaults(file, text)).toEqual([]);
  });

  it.each([
    [
      '0099_note.sql',
      'create index payout_by_note on payout (note);',
      'an index on payout is not made concurrently',
    ],
    ['0099_note.sql', 'CREATE UNIQUE INDEX ON payout (note);', 'an index on payout is not made concurrently'],
    [
      '0099_note_online.sql',
      'create index if not exists a\n  on payout (note);',
      'an index on payout is not made concurrently',
    ],
    [
      '0099_note.sql',
      'create table note (id text); create index a on payout (note);',
      'an index on payout is not made concurrently',
    ],
    [
      '0099_note.sql',
      'create index concurrently a on payout (note);',
      'an index is made concurrently in a transaction',
    ],
  ])('The rule for indexes refuses %s: %s', (file, text, fault) => {
    expect(indexFaults(file, text)).toEqual([`${file}: ${fault}`]);
  });
});

describeOnDatabase('The expressions of partial indexes', (open) => {
  it('Each expression of a partial index has statistics, which PostgreSQL does not take from the index', async () => {
    const { rows } = await sql<{ lacking: string }>`
      with expression as (
        select i.indexrelid, i.indrelid, pg_get_indexdef(i.indexrelid, part.nth::integer, false) as text
        from pg_index i join pg_class c on c.oid = i.indexrelid
        cross join lateral unnest(i.indkey::smallint[]) with ordinality part (attribute, nth)
        where i.indpred is not null and part.attribute = 0 and c.relnamespace = 'public'::regnamespace
      ), known as (
        select s.stxrelid, text from pg_statistic_ext s
        cross join lateral unnest(pg_get_statisticsobjdef_expressions(s.oid)) text
      )
      select indexrelid::regclass || ': ' || text as lacking from expression
      where not exists (
        select from known
        where known.stxrelid = expression.indrelid and translate(known.text, '() ', '') = translate(expression.text, '() ', '')
      )`.execute((await open()).sql);
    // Its rows are read from the oldest on: no plan depends on how many there are.
    expect(rows).toEqual([{ lacking: 'token_by_end: LEAST(expires_at, revoked_at)' }]);
  });
});
