import { fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startPostgres } from '../support/postgres.ts';
import { preparePostgres } from '../support/templates.ts';
import { STEPS as STORY_STEPS } from './facade/story.ts';
import { type Failure, seedsFrom, textOfFailure, textOfStoryFailure } from './failure.ts';
import { STEPS } from './history.ts';
import type { Job, News } from './worker.ts';

const SEEDS = 10_000;
/** The number of seeds in one database: a larger one is slower, and fills the disk. */
const SEEDS_A_DATABASE = 250;
/**
 * The number of stories in one job. Each empties its database after a seed, and the connections to it plan each statement
 * once; violations are printed after the job.
 */
const STORIES_A_JOB = 500;

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: String(SEEDS) },
    from: { type: 'string', default: '1' },
    steps: { type: 'string' },
    seed: { type: 'string' },
    facade: { type: 'boolean', default: false },
    workers: { type: 'string', default: String(Math.min(8, availableParallelism())) },
  },
});

/** Set by `--facade`: the stories are of facades, in front of a service that loses, permutes and contradicts. */
const facade = values.facade;
const textOf = facade ? textOfStoryFailure : textOfFailure;
const steps = Number(values.steps ?? (facade ? STORY_STEPS : STEPS));
const postgres = await startPostgres({ durable: false });
process.env.PSA_TEST_SOCKET = postgres.socket;
try {
  await preparePostgres(postgres.url);
  process.exitCode = values.seed === undefined ? await playAll() : await replay(Number(values.seed));
} finally {
  await postgres.stop();
}

/** Plays every seed, on all cores. Returns the exit code. */
async function playAll(): Promise<number> {
  const total = Number(values.seeds);
  const from = Number(values.from);
  const startedMs = performance.now();
  const counts = new Map<string, number>();
  const failures: Failure[] = [];
  let played = 0;

  const seeds = seedsFrom(from, total);
  const workers = Number(values.workers);
  const size = Math.min(facade ? STORIES_A_JOB : SEEDS_A_DATABASE, Math.ceil(total / workers));
  const jobs: Job[] = [];
  for (let at = 0; at < total; at += size)
    jobs.push({ kind: 'play', seeds: seeds.slice(at, at + size), steps, facade });

  await Promise.all(
    Array.from({ length: Math.min(workers, jobs.length) }, () =>
      withWorker((news, next) => {
        if (news.kind === 'played') {
          played += 1;
          showProgress(played, total, failures.length, startedMs);
          return;
        }
        if (news.kind === 'done') {
          for (const failure of news.failures) {
            failures.push(failure);
            console.error(`\n✗ ${textOf(failure)}`);
          }
          for (const [what, n] of news.counts) counts.set(what, (counts.get(what) ?? 0) + n);
        }
        next(jobs.shift());
      }),
    ),
  );
  showSums(counts);
  const failed = new Set(failures.map(({ seed }) => seed)).size;
  const minutes = ((performance.now() - startedMs) / 60_000).toFixed(1);
  console.log(`${played} seeds × ${steps} steps in ${minutes} min, ${failed} failed`);
  return failed === 0 && played === total ? 0 : 1;
}

/** Plays one history again, with an audit after each pause, and prints every step. Returns the exit code. */
async function replay(seed: number): Promise<number> {
  let failed = true;
  await withWorker((news, next) => {
    if (news.kind === 'ready') return next({ kind: 'replay', seed, steps, facade });
    if (news.kind !== 'replayed') return;
    for (const line of news.lines) console.log(line);
    for (const failure of news.failures) console.error(`✗ ${textOf(failure)}`);
    failed = news.failures.length > 0;
    console.log(failed ? `seed ${seed} breaks a law` : `seed ${seed} breaks no law`);
    next(undefined);
  });
  return failed ? 1 : 0;
}

/** Runs a worker until it has no job left; rejects if it ends before. */
function withWorker(onNews: (news: News, next: (job: Job | undefined) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = fork(fileURLToPath(new URL('./worker.ts', import.meta.url)), [postgres.url], {
      // A story's garbage is young: with more room for it, it is collected less often.
      execArgv: [...process.execArgv, '--max-semi-space-size=64'],
    });
    let isOver = false;
    worker.on('message', (news: News) =>
      onNews(news, (job) => {
        if (job) return void worker.send(job);
        isOver = true;
        worker.disconnect();
      }),
    );
    worker.on('exit', (code) =>
      isOver ? resolve() : reject(new Error(`A worker ended with ${code} in the middle of its work`)),
    );
  });
}

function showProgress(played: number, total: number, failed: number, startedMs: number): void {
  const seconds = (performance.now() - startedMs) / 1_000;
  const width = 30;
  const bar = '█'.repeat(Math.floor((played / total) * width)).padEnd(width, '░');
  const left = Math.round((seconds / played) * (total - played));
  const line = `${bar} ${played} of ${total} seeds, ${failed} broken laws, ${Math.round(seconds)} s, about ${left} s left`;
  if (process.stderr.isTTY) process.stderr.write(`\r${line} `);
  else if (played % Math.ceil(total / 20) === 0) process.stderr.write(`${line}\n`);
}

function showSums(counts: ReadonlyMap<string, number>): void {
  console.log('\n');
  const width = Math.max(...[...counts.keys()].map((what) => what.length));
  for (const [what, n] of [...counts].sort()) console.log(`${what.padEnd(width)} ${String(n).padStart(9)}`);
}
