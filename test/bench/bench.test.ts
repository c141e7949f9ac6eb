import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = fileURLToPath(new URL('./run.mjs', import.meta.url));

test('every benchmark still runs, and prints each of its rows', { timeout: 600_000 }, async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [run, '--quick']);
  for (const row of [
    /^(wallet|payouts\(first: 50\)) +node:http.* µs CPU/gm,
    /^one event to 50, (CPU a delivery|p99 delay) +a bare ws.* (µs CPU|ms)/gm,
    /^one event to 50 event streams, (CPU a delivery|p99 delay) +a bare node:http.* (µs CPU|ms)/gm,
    /^postings, (64 callers|1 caller), (PGlite|PostgreSQL) .*\/s/gm,
    /^sales, (64 callers|1 caller), (PGlite|PostgreSQL) .*\/s/gm,
    /^payouts, (one account|64 accounts), PostgreSQL .*\/s/gm,
    /^PIX payments, (one account|64 accounts), PostgreSQL .*\/s/gm,
    /^PIX credits received, (one account|64 accounts), PostgreSQL .*\/s/gm,
    /^split charges received, (one account|64 accounts), PostgreSQL .*\/s/gm,
    /^PIX payments created by (REST|GraphQL), one account, PostgreSQL .*\/s/gm,
    /^20 (instructions due|debits reported) at once, (one account|4 accounts), PostgreSQL .*\/s/gm,
    /^payments of 200, the newest, with totalCount .* ms/gm,
    /^commit to socket(, another instance|, SSE)? .* ms/gm,
    /^(wallet|20 cardPayments.*), REST .* µs CPU/gm,
    /^100 followers of 10, (no budget|budget of 120) .*\/min/gm,
    /^memory of 20 idle subscriptions .* MB/gm,
    /^start +Node that does nothing .* ms CPU/gm,
    /^growth of the (heap|process) .* MB/gm,
    /^widget, (initial|total) .* kB/gm,
    /^(subscribers|payouts in the table|instances) .*\n(PSA|newest|on this machine) /gm,
  ])
    expect(stdout.match(row), `${row} in ${stdout}`).not.toBeNull();
});
