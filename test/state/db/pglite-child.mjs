// A process with a database in a folder, to be killed or to lose its disk. It prints its results as lines of JSON.
import { writeFileSync } from 'node:fs';
import { modules } from '../../support/built.mjs';

const { openDatabase } = await modules['db/open']();
const { createSystemClock } = await modules['kernel/clock']();
const { sql } = await modules.kysely();

const [dataDir = '', task = '', breakDisk = ''] = process.argv.slice(2);
const say = (/** @type {unknown} */ what) => process.stdout.write(`${JSON.stringify(what)}\n`);
const nameOf = (/** @type {Error} */ error) => say({ failed: error.name, message: error.message });
const insert = (/** @type {import('../../../server/src/state/db/database.ts').Sql} */ db) =>
  sql`insert into note default values returning id`.execute(db);

const database = await openDatabase({
  dataDir,
  ...(process.env.SEED && { seed: process.env.SEED }),
  clock: createSystemClock(),
  log: { info: () => undefined, warn: () => undefined, error: () => undefined },
  onFatal: (/** @type {Error} */ error) => say({ fatal: error.message }),
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
