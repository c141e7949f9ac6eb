import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { startPostgres } from '../support/postgres.ts';
import { measureDelay } from './delay.ts';
import { measureFacade } from './facade.ts';
import { measureFollowers } from './followers.ts';
import { measurePayouts } from './payouts.ts';
import { measurePostings } from './postings.ts';
import { measureReads } from './reads.ts';
import { QUICK, type Row, table } from './report.ts';
import { measureWidget } from './widget.ts';

const { values, positionals } = parseArgs({
  options: { json: { type: 'string' }, quick: { type: 'boolean' } },
  allowPositionals: true,
});

const parts: Record<string, (postgresUrl: string) => Promise<Row[]>> = {
  reads: measureReads,
  postings: measurePostings,
  payouts: measurePayouts,
  delay: measureDelay,
  facade: measureFacade,
  followers: measureFollowers,
  widget: async () => measureWidget(),
};
const chosen = positionals.length > 0 ? positionals : Object.keys(parts);
const unknown = chosen.find((name) => !(name in parts));
if (unknown) {
  console.error(`✗ There is no benchmark called ${unknown}. There are: ${Object.keys(parts).join(', ')}.`);
  process.exit(1);
}

const started = performance.now();
const machine = {
  node: process.version,
  cores: availableParallelism(),
  processor: cpus()[0]?.model ?? 'unknown',
  platform: `${process.platform} ${process.arch}`,
};
console.log(`Node ${machine.node}, ${machine.cores} cores (${machine.processor}), ${machine.platform}`);

const postgres = await startPostgres();
const rows: Row[] = [];
try {
  for (const name of chosen) rows.push(...(await parts[name]!(postgres.url)));
} finally {
  await postgres.stop();
}

console.log(`\n${table(rows)}`);
const seconds = Math.round((performance.now() - started) / 1_000);
if (QUICK) console.log('\nA quick run: these figures mean nothing.');
console.log(
  `\nDone in ${seconds} s. A ratio is the median of the rounds’ ratios, ours to what it was measured against.`,
);
if (values.json) {
  writeFileSync(values.json, `${JSON.stringify({ machine, seconds, rows }, null, 2)}\n`);
  console.log(`Written to ${values.json}`);
}
