// npm run bench:soak: many minutes of subscribers that come, reconnect and leave while payments are made, and what the
// server holds in memory meanwhile.
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startPostgres } from '../support/postgres.ts';
import { createBenchDatabase } from './databases.ts';
import { LIVE_KEY, UNLIMITED_KEY } from './environment.ts';
import { startChild } from './processes/child.ts';
import { figure, progress } from './report.ts';

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '10' }, help: { type: 'boolean' } },
});
const minutes = Number(values.minutes);
if (!(minutes > 0)) {
  console.error('✗ --minutes must be a number of minutes, such as 10 or 0.5.');
  process.exit(1);
}

/** What is looked at: often enough for a line, seldom enough that to collect garbage is no load. */
const SAMPLES = 60;
/** Until then caches and compiled code still grow. */
const SETTLED_PART = 0.25;
const LARGEST_GROWTH_MB_AN_HOUR = 30;
/** What comes and goes with what happens to be under way, and with what the allocator keeps. */
const NOISE_MB = { heapMb: 3, rssMb: 10 };

interface Sample {
  minute: number;
  rssMb: number;
  heapMb: number;
}

const postgres = await startPostgres();
const server = startChild('server.mjs');
const churn = startChild('churn.mjs');
try {
  const { url } = await server.ask('start', {
    ...UNLIMITED_KEY,
    DATABASE_URL: await createBenchDatabase(postgres.url),
  });
  await churn.ask('start', { url, key: LIVE_KEY });

  const started = performance.now();
  const samples: Sample[] = [];
  while (samples.length < SAMPLES) {
    await wait((minutes * 60_000 * (samples.length + 1)) / SAMPLES - (performance.now() - started));
    const { rssMb, heapMb } = await server.ask('memory');
    const { faults, ...counts } = await churn.ask('counts');
    if (faults.length > 0) throw new Error(faults.join('\n'));
    const minute = (performance.now() - started) / 60_000;
    samples.push({ minute, rssMb, heapMb });
    progress(
      `${minute.toFixed(1)} of ${minutes} min: ${figure(rssMb)} MB, heap ${figure(heapMb)} MB; ${Object.entries(
        counts,
      )
        .map(([name, count]) => `${(count as number).toLocaleString('en')} ${name}`)
        .join(', ')}`,
    );
  }
  await churn.ask('end');
  const after = await server.ask('memory');
  await server.ask('close');

  console.log(
    `\n\n${bars('MB of the process', samples, 'rssMb')}\n\n${bars('MB of its heap', samples, 'heapMb')}\n`,
  );
  const settled = samples.filter(({ minute }) => minute >= minutes * SETTLED_PART);
  const settledMinutes = minutes * (1 - SETTLED_PART);
  const grew = {
    heapMb: slope(settled, 'heapMb') * settledMinutes,
    rssMb: slope(settled, 'rssMb') * settledMinutes,
  };
  const isFlat = (['heapMb', 'rssMb'] as const).every(
    (of) => grew[of] <= Math.max(NOISE_MB[of], (LARGEST_GROWTH_MB_AN_HOUR / 60) * settledMinutes),
  );
  console.log(
    `${isFlat ? '✓ It does not grow' : '✗ It grows'}: in the last ${figure(settledMinutes)} minutes the heap by ${figure(grew.heapMb)} MB and the process by ${figure(grew.rssMb)} MB, by the line through what is left after garbage is collected. When all have left, the heap is ${figure(after.heapMb)} MB.`,
  );
  if (!isFlat) process.exitCode = 1;
} finally {
  await Promise.all([churn.stop(), server.stop()]);
  await postgres.stop();
}

/** A bar for each of some samples, for a terminal. */
function bars(title: string, samples: readonly Sample[], of: 'rssMb' | 'heapMb'): string {
  const shown = samples.filter((_, index) => index % Math.ceil(samples.length / 20) === 0);
  const largest = Math.max(...shown.map((sample) => sample[of]));
  const lines = shown.map((sample) => {
    const bar = '█'.repeat(Math.round((sample[of] / largest) * 50));
    return `${sample.minute.toFixed(1).padStart(6)} min  ${bar} ${figure(sample[of])}`;
  });
  return [title, ...lines].join('\n');
}

/** Of the line through the samples with the least squares: MB a minute. */
function slope(samples: readonly Sample[], of: 'rssMb' | 'heapMb'): number {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const x = mean(samples.map(({ minute }) => minute));
  const y = mean(samples.map((sample) => sample[of]));
  const along = samples.reduce((sum, sample) => sum + (sample.minute - x) * (sample[of] - y), 0);
  return along / samples.reduce((sum, { minute }) => sum + (minute - x) ** 2, 0);
}
