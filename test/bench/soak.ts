import { setTimeout as wait } from 'node:timers/promises';
import { createBenchDatabase } from './databases.ts';
import { LIVE_KEY, UNLIMITED_KEY } from './environment.ts';
import { startChild } from './processes/child.ts';
import { figure, progress, QUICK, type Row, size } from './report.ts';

/** The interval of samples: short enough for a line, and long enough that garbage collection is no load. */
const SAMPLES = size(60, 4);
/** The time until which caches and compiled code still grow. */
const SETTLED_PART = 0.25;
const LARGEST_GROWTH_MB_AN_HOUR = 30;
/** The noise of a sample: requests under way, and memory that the allocator keeps. */
const NOISE_MB = { heapMb: 3, rssMb: 10 };

interface Sample {
  minute: number;
  rssMb: number;
  heapMb: number;
}
type Kind = 'rssMb' | 'heapMb';

/**
 * Runs for a number of minutes: subscribers come, reconnect and leave while payments are created. Returns the
 * server's memory as a picture for a terminal, and its growth.
 */
export async function measureSoak(postgresUrl: string, minutes: number): Promise<Row[]> {
  const server = startChild('server.mjs');
  const churn = startChild('churn.mjs');
  try {
    const { url } = await server.ask('start', {
      ...UNLIMITED_KEY,
      DATABASE_URL: await createBenchDatabase(postgresUrl),
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
        `${minute.toFixed(1)} of ${minutes} min: ${memoryText({ rssMb, heapMb })}; ${countsText(counts)}`,
      );
    }
    await churn.ask('end');
    const left = await server.ask('memory');
    await server.ask('close');
    if (!QUICK)
      console.log(
        `\n\n${bars('MB of the process', samples, 'rssMb')}\n\n${bars('MB of its heap', samples, 'heapMb')}`,
      );

    const settledMinutes = minutes * (1 - SETTLED_PART);
    const settled = samples.filter(({ minute }) => minute >= minutes * SETTLED_PART);
    const row = (name: string, of: Kind): Row => ({
      name,
      unit: 'MB',
      ours: slope(settled, of) * settledMinutes,
      floor: null,
      ratio: null,
      target: { atMost: Math.max(NOISE_MB[of], (LARGEST_GROWTH_MB_AN_HOUR / 60) * settledMinutes) },
      beside: `when all have left, ${memoryText(left)}`,
      explanation: `by the line through what is left after garbage is collected, in the last ${figure(settledMinutes)} minutes of subscribers who come, reconnect and leave while payments are made`,
    });
    return [row('growth of the heap', 'heapMb'), row('growth of the process', 'rssMb')];
  } finally {
    await Promise.all([churn.stop(), server.stop()]);
  }
}

function memoryText({ rssMb, heapMb }: Record<Kind, number>): string {
  return `${figure(rssMb)} MB, heap ${figure(heapMb)} MB`;
}

function countsText(counts: Record<string, number>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${count.toLocaleString('en')} ${name}`)
    .join(', ');
}

/** A bar for each of some samples, for a terminal. */
function bars(title: string, samples: readonly Sample[], of: Kind): string {
  const shown = samples.filter((_, index) => index % Math.ceil(samples.length / 20) === 0);
  const largest = Math.max(...shown.map((sample) => sample[of]));
  const lines = shown.map((sample) => {
    const bar = '█'.repeat(Math.round((sample[of] / largest) * 50));
    return `${sample.minute.toFixed(1).padStart(6)} min  ${bar} ${figure(sample[of])}`;
  });
  return [title, ...lines].join('\n');
}

/** The slope of the least-squares line through the samples: MB a minute. */
function slope(samples: readonly Sample[], of: Kind): number {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const x = mean(samples.map(({ minute }) => minute));
  const y = mean(samples.map((sample) => sample[of]));
  const along = samples.reduce((sum, sample) => sum + (sample.minute - x) * (sample[of] - y), 0);
  return along / samples.reduce((sum, { minute }) => sum + (minute - x) ** 2, 0);
}
