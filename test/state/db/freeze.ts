// Writes the file of a release, for `npm run release`. Its migrations stay as they are from then on, and new ones come
// after them.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSystemClock } from '../../../server/src/kernel/clock.ts';
import { migrate } from '../../../server/src/state/db/migrate.ts';
import { openPglite } from '../../../server/src/state/db/pglite.ts';
import { onFatal, silent } from '../../support/templates.ts';
import { describeSchema, hashMigrations, MIGRATIONS, RELEASED, type Release } from './schema.ts';

const database = await openPglite({ dataDir: 'memory', clock: createSystemClock(), log: silent, onFatal });
await migrate(database);
const git = (...args: string[]) => execFileSync('git', args, { cwd: MIGRATIONS, encoding: 'utf8' }).trim();
if (git('status', '--porcelain', '.') !== '') throw new Error('Commit the migrations before the release.');
const released: Omit<Release, 'version'> = {
  commit: git('rev-parse', 'HEAD'),
  migrations: hashMigrations(),
  schema: await describeSchema(database),
};
await database.close();
const { version } = JSON.parse(
  readFileSync(new URL('../../../server/package.json', import.meta.url), 'utf8'),
);
writeFileSync(join(RELEASED, `${version}.json`), `${JSON.stringify(released, null, 2)}\n`);
