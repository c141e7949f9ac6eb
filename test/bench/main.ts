import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { startPostgres } from '../support/postgres.ts';
import { type Chart, chartText } from './charts.ts';
import { measureDelay } from './delay.ts';
import { saveToDocument } from './document.ts';
import { measureFacade } from './facade.ts';
import { measureFanout } from './fanout.ts';
import { measureFollowers } from './followers.ts';
import { measureLists } from './lists.ts';
import { measurePayouts, measurePix } from './payouts.ts';
import { measurePostings } from './postings.ts';
import { measureReads } from './reads.ts';
import { missedTargets, QUICK, type Row, size, table } from './report.ts';
import { type Measured, measureInstances, measureSubscribers, measureTable } from './sizes.ts';
import { measureSoak } from './soak.ts';
import { measureStart } from './start.ts';
import { measureStreams } from './streams.ts';
import { measureTotals } from './totals.ts';
import { measureTransfers } from './transfers.ts';
import { measureWidget } from './widget.ts';
import { measureWrites } from './writes.ts';

const { values, positionals } = parseArgs({
  options: {
    before: { type: 'string' },
    json: { type: 'string' },
    minutes: { type: 'string', default: '10' },
    quick: { type: 'boolean' },
    tenants: { type: 'string', default: '0' },
    save: { type: 'boolean' },
    strict: { type: 'boolean' },
  },
  allowPositionals: true,
});

type Part = (postgresUrl: string) => Promise<Row[] | Measured>;

/** The rows measured by default: those of the document's first table, and the costs as things grow. */
const PARTS: Record<string, Part> = {
  reads: measureReads,
  fanout: measureFanout,
  streams: measureStreams,
  postings: measurePostings,
  transfers: measureTransfers,
  writes: (postgresUrl) => measureWrites(postgresUrl, values.before),
  delay: measureDelay,
  facade: measureFacade,
  subscribers: measureSubscribers,
  table: measureTable,
  instances: measureInstances,
};
const MORE: Record<string, Part> = {
  payouts: measurePayouts,
  pix: measurePix,
  followers: measureFollowers,
  lists: measureLists,
  totals: measureTotals,
  start: measureStart,
  soak: (postgresUrl) => measureSoak(postgresUrl, size(Number(values.minutes), 0.05), Number(values.tenants)),
  widget: async () => measureWidget(),
};
const all = { ...PARTS, ...MORE };
const chosen = positionals.length > 0 ? positionals : Object.keys(QUICK ? all : PARTS);
const unknown = chosen.find((name) => !(name in all));
if (unknown) {
  console.error(`✗ There is no benchmark called ${unknown}. There are: ${Object.keys(all).join(', ')}.`);
  process.exit(1);
}
if (!/^(0|[1-9]\d{2,4})$/.test(values.tenants)) {
  console.error('✗ --tenants must be a number of tenants from 100 to 99999, such as 10000.');
  process.exit(1);
}
if (!(Number(values.minutes) > 0)) {
  console.error('✗ --minutes must be a number of minutes, such as 10 or 0.5.');
  process.exit(1);
}
if (values.save && (QUICK || positionals.length > 0)) {
  console.error('✗ --save renews the whole table, by one full run: leave out the names and --quick.');
  process.exit(1);
}
if (values.strict && QUICK) {
  console.error(
    '✗ --strict compares figures with targets, and those of --quick mean nothing: leave one out.',
  );
  process.exit(1);
}

const started = performance.now();
const { model = 'unknown processor' } = cpus()[0] ?? {};
const machine = `${availableParallelism()} cores (${model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GB of memory, Node ${process.version}, ${process.platform} ${process.arch}, its load ${loadavg()[0]!.toFixed(1)} before the run`;
console.log(machine);

const rows: Row[] = [];
const charts: Chart[] = [];
const postgres = await startPostgres();
try {
  const measure = async (name: string) => {
    const measured = await all[name]!(postgres.url);
    rows.push(...(Array.isArray(measured) ? measured : measured.rows));
    if (!Array.isArray(measured)) charts.push(...measured.charts);
  };
  const left = [...chosen];
  const one = async () => {
    for (let name = left.shift(); name; name = left.shift()) await measure(name);
  };
  // In a quick run the figures mean nothing, so three parts may run at once.
  await Promise.all(Array.from({ length: QUICK ? 3 : 1 }, one));
} finally {
  await postgres.stop();
}

console.log(`\n${[table(rows), ...charts.map(chartText)].join('\n\n')}`);
const seconds = Math.round((performance.now() - started) / 1_000);
console.log(
  QUICK
    ? '\nA quick run: these figures mean nothing.'
    : `\nDone in ${seconds} s. A ratio is the median of the rounds’ ratios: where the target is ≥, how many times as fast, else how many times as dear.`,
);
if (values.json) {
  writeFileSync(values.json, `${JSON.stringify({ machine, seconds, rows, charts }, null, 2)}\n`);
  console.log(`Written to ${values.json}`);
}
if (values.save) {
  await saveToDocument({ rows, charts, machine });
  console.log('Written to server/docs/performance.md and test/bench/charts');
}
// Memory that grows is a fault on every machine. Without --strict any other missed target is only a mark in the
// table: ratios change under other load, and nobody reads a run that fails every other night.
const mustMeet = !QUICK && (values.strict || chosen.includes('soak'));
const missed = mustMeet ? missedTargets(rows) : [];
if (missed.length > 0) {
  console.error(`\n✗ These rows miss their target: ${missed.join('; ')}.`);
  process.exitCode = 1;
}
