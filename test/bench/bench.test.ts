import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = fileURLToPath(new URL('./run.mjs', import.meta.url));

test('every benchmark still runs, and prints each of its rows', { timeout: 600_000 }, async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [run, '--quick']);
  for (const [row, count] of [
    [/^(wallet|payouts\(first: 50\)) +node:http.* µs CPU/gm, 4],
    [/^one event to 50, (CPU a delivery|p99 delay) +a bare ws.* (µs CPU|ms)/gm, 2],
    [/^one event to 50 event streams, (CPU a delivery|p99 delay) +a bare node:http.* (µs CPU|ms)/gm, 2],
    [/^postings, (64 callers|1 caller), (PGlite|PostgreSQL) .*\/s/gm, 4],
    [/^sales, (64 callers|1 caller), (PGlite|PostgreSQL) .*\/s/gm, 4],
    [/^payouts, (one account|64 accounts), PostgreSQL .*\/s/gm, 2],
    [/^PIX payments, (one account|64 accounts), PostgreSQL .*\/s/gm, 2],
    [/^PIX credits received, (one account|64 accounts), PostgreSQL .*\/s/gm, 2],
    [/^split charges received, (one account|64 accounts), PostgreSQL .*\/s/gm, 2],
    [/^PIX payments created by (REST|GraphQL), one account, PostgreSQL .*\/s/gm, 2],
    [/^20 (instructions due|debits reported) at once, (one account|4 accounts), PostgreSQL .*\/s/gm, 4],
    [/^payments of 200, .* ms/gm, 7],
    [/^payouts of 200, .* ms/gm, 8],
    [/^totals of 2,000 payments, .* ms/gm, 8],
    [/^transfers, (1 account|(10|20) accounts, (even|one hot)) +one transaction a transfer .*\/s;/gm, 5],
    [
      /^[^,]+, (4 tenants|40 tenants, two commands each), PostgreSQL +(one tenant|the rows alone) .*\/s;/gm,
      15,
    ],
    [/^[^,]+, (statements|transactions that write|flushes), 4 tenants, PostgreSQL +[^ ·].*\d/gm, 15],
    [/^[^,]+, (write-ahead log|disk), 4 tenants, PostgreSQL .* kB/gm, 10],
    [/^commit to socket(, another instance|, SSE)? .* ms/gm, 3],
    [/^(wallet|20 cardPayments.*), REST .* µs CPU/gm, 4],
    [/^100 followers of 10, (no budget|budget of 120) .*\/min/gm, 2],
    [/^memory of 20 idle subscriptions .* MB/gm, 1],
    [/^start +Node that does nothing .* ms CPU/gm, 1],
    [/^growth of the (heap|process) .* MB/gm, 2],
    [/^widget, (initial|total) .* kB/gm, 2],
    [/^(subscribers|payouts in the table|instances) .*\n(PSA|newest|on this machine) /gm, 3],
  ] as const)
    expect(stdout.match(row) ?? [], `${row} in ${stdout}`).toHaveLength(count);
});
