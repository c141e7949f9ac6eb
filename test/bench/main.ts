import { startPostgres } from '../support/postgres.ts';
import { measureFanout } from './fanout.ts';
import { table } from './report.ts';
const postgres = await startPostgres();
const rows = [];
try { rows.push(...await measureFanout(postgres.url)) } finally { await postgres.stop(); }
console.log(`\n${table(rows)}`);
