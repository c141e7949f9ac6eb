import { startPostgres } from '../support/postgres.ts';
import { measureDelay } from './delay.ts';
import { table } from './report.ts';

const postgres = await startPostgres();
const rows = [];
try {
  rows.push(...(await measureDelay(postgres.url)));
} finally {
  await postgres.stop();
}
console.log(`\n${table(rows)}`);
