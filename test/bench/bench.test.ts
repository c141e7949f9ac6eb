import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = fileURLToPath(new URL('./run.mjs', import.meta.url));

test('every benchmark still runs, and prints each of its rows', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [run, '--quick']);
  for (const row of [
    /^wallet, (PGlite|PostgreSQL) .*\/s/gm,
    /^cardPayments\(first: 50\), (PGlite|PostgreSQL) .*\/s/gm,
    /^postings, (64 callers|1 caller), (PGlite|PostgreSQL) .*\/s/gm,
    /^sales, (64 callers|1 caller), (PGlite|PostgreSQL) .*\/s/gm,
    /^payouts, (one account|64 accounts), (PGlite|PostgreSQL) .*\/s/gm,
    /^paid → update, (ws|sse), (PGlite|PostgreSQL) .* ms/gm,
    /^(wallet|20 cardPayments.*), REST, bare proxy .*\/s/gm,
    /^100 followers of 10, (no budget|budget of 120) .*\/min/gm,
    /^widget, (initial|total) .* kB/gm,
  ])
    expect(stdout.match(row), `${row} in ${stdout}`).not.toBeNull();
});
