// A process of its own with a database in a folder, to be killed or to lose its disk. Says what happened in
// lines of JSON.
import { writeFileSync } from 'node:fs';
import { sql } from 'kysely';
import type { Sql } from '../../server/src/db/database.ts';
import { openPglite } from '../../server/src/db/pglite.ts';
import { createSystemClock } from '../../server/src/kernel/clock.ts';
import { silent } from '../support/templates.ts';

const [dataDir = '', task = '', breakDisk = ''] = process.argv.slice(2);
const say = (what: unknown) => process.stdout.write(`${JSON.stringify(what)}\n`);
const nameOf = (error: Error) => say({ failed: error.name, message: error.message });
const insert = (db: Sql) => sql`insert into note default values returning id`.execute(db);

const database = await openPglite({
  dataDir,
  ...(process.env.SEED && { seed: process.env.SEED }),
  clock: createSystemClock(),
  log: silent,
  onFatal: (error) => say({ fatal: error.message }),
});
say('open');
await sql`create table if not exists note (id bigint generated always as identity primary key)`.execute(
  database.sql,
);

if (task === 'write for ever') {
  for (;;) say((await insert(database.sql)).rows[0]);
}
if (task === 'commit on a broken disk') {
  say((await insert(database.sql)).rows[0]);
  await database
    .transaction(async (tx) => {
      await insert(tx);
      writeFileSync(breakDisk, '');
    })
    .then(() => say('committed'), nameOf);
}
if (task === 'write on a broken disk') {
  say((await insert(database.sql)).rows[0]);
  writeFileSync(breakDisk, '');
  await insert(database.sql).then(({ rows }) => say({ rows }), nameOf);
}
await insert(database.sql).then(() => say('goes on'), nameOf);
await database.close();
say('closed');
