// npm run bench: how fast the server is, each figure beside the floor that was measured in the same run.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { ensureBuilt } from '../../server/scripts/build.mjs';
import { ensureInstalled } from '../../server/scripts/install.mjs';

const USAGE = `Usage: npm run bench [-- --json FILE] [-- NAME…]

Measures on 127.0.0.1, in some nine minutes, and prints a table. Absolute numbers are this machine's; the ratio
to the floor that was measured in turns with it is what can be compared.

  NAME         only these: reads, postings, payouts, delay, facade, followers, widget
  --json FILE  writes the same figures there
  --quick      half a minute, to see that everything runs: its figures mean nothing

facade is measured against Hive Gateway too, which is installed for it the first time (75 MB from the npm registry).
`;

if (process.argv.includes('--help') || process.argv.includes('-h')) process.stdout.write(USAGE);
else {
  await ensureInstalled();
  await ensureBuilt();
  const main = fileURLToPath(new URL('./main.ts', import.meta.url));
  const bench = spawn(process.execPath, ['--import', 'tsx', main, ...process.argv.slice(2)], {
    stdio: 'inherit',
  });
  const [code] = await once(bench, 'exit');
  process.exitCode = code ?? 1;
}
