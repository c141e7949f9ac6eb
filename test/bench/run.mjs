// npm run bench: how fast the server is, each figure beside the floor that was measured in the same run.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { ensureBuilt } from '../../server/scripts/build.mjs';
import { ensureInstalled } from '../../server/scripts/install.mjs';

const MAIN = new URL('./main.ts', import.meta.url);
/** The measurements that need no database, by their names. */
const ALONE = {
  'widget-sizes': new URL('./widget-sizes.ts', import.meta.url),
  'payout-table': new URL('./payout-table.ts', import.meta.url),
};

const USAGE = `Usage: npm run bench [-- [--save] [--strict] [--json FILE] [NAME…]]
       npm run bench:soak [-- --minutes 10] [--tenants 10000]
       npm run bench -- widget-sizes [--save]
       npm run bench -- payout-table

Measures on 127.0.0.1, in some twelve minutes, and prints a table. Absolute numbers are this machine's; the ratio
to what was measured in turns with it is what can be compared.

  NAME         only these: reads, fanout, streams, postings, transfers, writes, delay, facade, and as things grow: subscribers,
               table, instances; payouts, pix, followers, lists, totals, start, soak and widget are measured only by name
  --save       writes the table and the charts into server/docs/performance.md and test/bench/charts
  --strict     exits with 1 where a row misses its target, and names it; otherwise a miss is a ✗ in the table
  --before C   measures the server of the commit C beside this one, where writes are measured and this clone has it
  --json FILE  writes the same figures there
  --quick      half a minute, to see that everything runs: its figures mean nothing

bench:soak goes on for so many minutes: subscribers come, reconnect and leave while payments are made, and what the
server holds in memory is looked at. It fails where that grows. With --tenants the load is that of so many accounts, which
each send a few commands, and a deadlock fails it too.

widget-sizes compares what a page downloads for <psa-checkout> with the checkouts that others publish, each bundled
and compressed by the same tools in the same run; with --save the table goes into widget/docs/sizes.md.

payout-table has <psa-payouts> in Chromium show 10,000 payouts by amount while a thousand change in a second, and prints
how late a change is on the screen, the tasks over 50 ms, the rows that moved under the pointer and those that are wrong
afterwards; it exits with 1 where one of these misses its target.

The servers of others are installed the first time that they are measured (Mercurius, Apollo Server, Yoga, Hive Gateway,
Grafbase: some 250 MB from the npm registry), and so are their checkouts (80 MB).
`;

if (process.argv.includes('--help') || process.argv.includes('-h')) process.stdout.write(USAGE);
else {
  await ensureInstalled();
  await ensureBuilt();
  const [, alone = MAIN] = Object.entries(ALONE).find(([name]) => process.argv.includes(name)) ?? [];
  const main = fileURLToPath(alone);
  const bench = spawn(process.execPath, ['--import', 'tsx', main, ...process.argv.slice(2)], {
    stdio: 'inherit',
  });
  const [code] = await once(bench, 'exit');
  process.exitCode = code ?? 1;
}
