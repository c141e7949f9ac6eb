import { setTimeout as wait } from 'node:timers/promises';
import { createBenchDatabase } from './databases.ts';
import { LIVE_KEY, UNLIMITED_KEY } from './environment.ts';
import { startChild } from './processes/child.ts';
import { figure, progress, QUICK, type Row, size } from './report.ts';
import { KINDS } from './writes.ts';

/** The interval of samples: short enough for a line, and long enough that garbage collection is no load. */
const SAMPLES = size(60, 4);
/** The time until which caches and compiled code still grow. */
const SETTLED_PART = 0.25;
const LARGEST_GROWTH_MB_AN_HOUR = 30;
/** The noise of a sample: requests under way, and memory that the allocator keeps. */
const NOISE_MB = { heapMb: 3, rssMb: 10 };

/** Few enough callers, with pauses, that the run is a load and not the most that the machine can do. */
const TENANTS_CALLERS = 16;
const TENANTS_PAUSE_MS = 250;

interface Sample {
  minute: number;
  rssMb: number;
  heapMb: number;
}
type Kind = 'rssMb' | 'heapMb';

/** A load that goes on while the server's memory is looked at. */
interface Soak {
  /** The end of the sentence that says which load it is. */
  load: string;
  memory(): Promise<Omit<Sample, 'minute'> & { youngMb: number }>;
  /** Lets the load go on for this number of milliseconds. Returns its counts so far. @throws if it has met a fault. */
  goOn(ms: number): Promise<Record<string, number>>;
  /** Ends the load. The server is still there. */
  end(): Promise<void>;
  stop(): Promise<unknown>;
}

/**
 * Has clients come and go, or `tenants` write, for a number of minutes. Returns the server's memory as a picture for a
 * terminal, and its growth.
 */
export async function measureSoak(postgresUrl: string, minutes: number, tenants: number): Promise<Row[]> {
  const soak = await (tenants > 0 ? soakByTenants(postgresUrl, tenants) : soakByClients(postgresUrl));
  try {
    const started = performance.now();
    const samples: Sample[] = [];
    while (samples.length < SAMPLES) {
      const endsAt = (minutes * 60_000 * (samples.length + 1)) / SAMPLES;
      const counts = await soak.goOn(Math.max(0, endsAt - (performance.now() - started)));
      const memory = await memoryOf(soak);
      const minute = (performance.now() - started) / 60_000;
      samples.push({ minute, ...memory });
      progress(`${minute.toFixed(1)} of ${minutes} min: ${memoryText(memory)}; ${countsText(counts)}`);
    }
    await soak.end();
    const left = await memoryOf(soak);
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
      beside: `when the load has ended, ${memoryText(left)}`,
      explanation: `by the line through what is left after garbage is collected, in the last ${figure(settledMinutes)} minutes of ${soak.load}`,
    });
    return [row('growth of the heap', 'heapMb'), row('growth of the process', 'rssMb')];
  } finally {
    await soak.stop();
  }
}

/** Leaves out the young generation, which V8 makes as large as the garbage that the load makes at once. */
async function memoryOf({ memory }: Soak): Promise<Omit<Sample, 'minute'>> {
  const { rssMb, heapMb, youngMb } = await memory();
  return { rssMb: rssMb - youngMb, heapMb };
}

async function soakByClients(postgresUrl: string): Promise<Soak> {
  const server = startChild('server.mjs');
  const churn = startChild('churn.mjs');
  const { url } = await server.ask('start', {
    ...UNLIMITED_KEY,
    DATABASE_URL: await createBenchDatabase(postgresUrl),
  });
  await churn.ask('start', { url, key: LIVE_KEY });
  return {
    load: 'subscribers who come, reconnect and leave while payments are made',
    memory: () => server.ask('memory'),
    async goOn(ms) {
      await wait(ms);
      const { faults, ...counts } = await churn.ask('counts');
      if (faults.length > 0) throw new Error(faults.join('\n'));
      return counts;
    },
    end: () => churn.ask('end'),
    stop: () => Promise.all([churn.stop(), server.stop()]),
  };
}

/** Commands of all kinds, two by each tenant in turn, as `writes` sends them but with pauses. */
async function soakByTenants(postgresUrl: string, tenants: number): Promise<Soak> {
  const load = startChild('writes-load.mjs');
  const server = startChild('writes-server.mjs');
  const { url: receiver } = await load.ask('receive');
  const { url, bankUrl } = await server.ask('start', {
    environment: { DATABASE_URL: await createBenchDatabase(postgresUrl) },
    ...{ callers: TENANTS_CALLERS, many: tenants, receiver },
  });
  let commands = 0;
  return {
    load: `${tenants.toLocaleString('en')} tenants with few commands each`,
    memory: () => server.ask('memory'),
    async goOn(ms) {
      for (const kind of KINDS) {
        const round = await load.ask('run', {
          ...{ party: { url, bankUrl, speaks: 'both' }, kind, callers: TENANTS_CALLERS, many: tenants },
          ...{ pauseMs: TENANTS_PAUSE_MS, ms: ms / KINDS.length },
        });
        commands += round.commands;
      }
      const deadlocks = await server.ask('deadlocks');
      if (deadlocks > 0) throw new Error(`PostgreSQL has ended ${deadlocks} deadlocks`);
      return { commands };
    },
    end: async () => undefined,
    stop: () => Promise.all([load.stop(), server.stop()]),
  };
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
