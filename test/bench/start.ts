import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createBenchDatabase } from './databases.ts';
import { median, type Row, size } from './report.ts';

const OWN_CPU = fileURLToPath(new URL('./processes/own-cpu.cjs', import.meta.url));
const SERVER = fileURLToPath(new URL('../../server/dist/main.js', import.meta.url));
const ROUNDS = 9;

/**
 * Measures the CPU time of the server's process from its start to the first answer of /readyz, in turns with a Node
 * that does nothing.
 */
export async function measureStart(postgresUrl: string): Promise<Row[]> {
  const DATABASE_URL = await createBenchDatabase(postgresUrl);
  // Creates the tables.
  await startServer({ DATABASE_URL });
  const ours: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < size(ROUNDS, 1); round++) {
    ours.push(await startServer({ DATABASE_URL }));
    bare.push(await startBare());
  }
  return [
    {
      name: 'start',
      against: 'Node that does nothing',
      unit: 'ms CPU',
      ours: median(ours),
      floor: median(bare),
      ratio: null,
      target: { atMost: 400 },
      beside: `the least ${Math.min(...ours).toFixed(0)} against ${Math.min(...bare).toFixed(0)} ms`,
      explanation:
        'CPU of the built server’s process, all threads, from its start to the first 200 of /readyz, on a PostgreSQL with all tables; median of the starts.',
    },
  ];
}

async function startServer(environment: Record<string, string>): Promise<number> {
  const child = fork(SERVER, {
    execArgv: ['--require', OWN_CPU],
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      PORT: '0',
      PSA_DRAIN_SECONDS: '0',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  try {
    const url = await new Promise<string>((resolve, reject) => {
      let said = '';
      child.stdout?.setEncoding('utf8').on('data', (text) => {
        said += text;
        const found = /PSA is running at (\S+)[\s\S]*Ctrl-C/.exec(said)?.[1];
        if (found) resolve(found);
      });
      child.once('exit', (code) => reject(new Error(`The server ended with ${code}`)));
    });
    const { status } = await fetch(`${url}/readyz`);
    if (status !== 200) throw new Error(`/readyz answers ${status}`);
    return await cpuMsOf(child);
  } finally {
    child.kill();
  }
}

async function startBare(): Promise<number> {
  const child = fork(OWN_CPU, { execArgv: [], env: { PATH: process.env.PATH } });
  try {
    return await cpuMsOf(child);
  } finally {
    child.kill();
  }
}

async function cpuMsOf(child: ChildProcess): Promise<number> {
  child.send('cpu');
  const [microseconds] = await once(child, 'message');
  return Number(microseconds) / 1_000;
}
