import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import type { Database } from '../../../server/src/state/db/database.ts';

/** The migrations and the schema that a released version has created in databases. */
export interface Release {
  version: string;
  /** The commit that the release was made from. */
  commit: string;
  /** Each migration's SHA-256. */
  migrations: Record<string, string>;
  /** The schema after the migrations, one object on each line. */
  schema: string[];
}

export const MIGRATIONS = fileURLToPath(new URL('../../../server/src/state/db/migrations', import.meta.url));
export const RELEASED = fileURLToPath(new URL('./released', import.meta.url));

/** Reads every release, the oldest first. Each has the migrations of those before it too. */
export function readReleases(): [Release, ...Release[]] {
  const releases = readdirSync(RELEASED).map(
    (file): Release => ({
      version: file.slice(0, -'.json'.length),
      ...JSON.parse(readFileSync(join(RELEASED, file), 'utf8')),
    }),
  );
  releases.sort(
    (a, b) =>
      Object.keys(a.migrations).length - Object.keys(b.migrations).length ||
      a.version.localeCompare(b.version, 'en', { numeric: true }),
  );
  return releases as [Release, ...Release[]];
}

export function hashMigrations(): Record<string, string> {
  const files = readdirSync(MIGRATIONS).sort();
  return Object.fromEntries(
    files.map((file) => [
      file,
      createHash('sha256')
        .update(readFileSync(join(MIGRATIONS, file)))
        .digest('hex'),
    ]),
  );
}

/** The schema of a database, from its own catalog, equal for both engines. */
export async function describeSchema({ sql: db }: Database): Promise<string[]> {
  const { rows } = await sql<{ line: string }>`
    with ours as (
      select oid, relname, relkind, relpersistence, reloptions from pg_class
      where relnamespace = 'public'::regnamespace and relkind = 'r' and relname not like 'kysely%'
    )
    select 'table ' || relname || ' ' || relpersistence::text || coalesce(' ' || reloptions::text, '') as line from ours
    union all
    select 'column ' || relname || '.' || attname || ' ' || format_type(atttypid, atttypmod)
      || case when attnotnull then ' not null' else '' end
      || case attidentity when '' then '' else ' identity ' || attidentity::text end
      || coalesce(' default ' || pg_get_expr(adbin, adrelid), '')
    from ours join pg_attribute on attrelid = ours.oid and attnum > 0 and not attisdropped
      left join pg_attrdef on adrelid = ours.oid and adnum = attnum
    union all
    select 'constraint ' || relname || '.' || conname || ' ' || pg_get_constraintdef(pg_constraint.oid)
    from ours join pg_constraint on conrelid = ours.oid where contype <> 'n'
    union all
    select 'constraint ' || typname || '.' || conname || ' ' || pg_get_constraintdef(pg_constraint.oid)
    from pg_constraint join pg_type on contypid = pg_type.oid
    where connamespace = 'public'::regnamespace and contype <> 'n'
    union all
    select pg_get_indexdef(indexrelid) || case when indisvalid then '' else ' INVALID' end
    from ours join pg_index on indrelid = ours.oid
    union all
    select pg_get_triggerdef(pg_trigger.oid) || ' ' || tgenabled::text
    from ours join pg_trigger on tgrelid = ours.oid where not tgisinternal
    union all
    select 'function ' || proname || ' ' || md5(pg_get_functiondef(oid)) from pg_proc
    where pronamespace = 'public'::regnamespace
    order by 1`.execute(db);
  return rows.map(({ line }) => line).sort();
}
