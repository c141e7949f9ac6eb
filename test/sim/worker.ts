import { createSystemClock } from '../../server/src/kernel/clock.ts';
import { connectTo } from '../support/database.ts';
import { administrate, copyTemplate } from '../support/templates.ts';
import { AT_ONCE, playStories } from './facade/stories.ts';
import type { Failure } from './failure.ts';
import { prepareForAudit } from './laws.ts';
import { playSeeds, replaySeed } from './seeds.ts';

/** A worker's job: seeds to play in one database, or one seed to repeat. */
export type Job =
  | { kind: 'play'; seeds: number[]; steps: number; facade: boolean }
  | { kind: 'replay'; seed: number; steps: number; facade: boolean };

/** A worker's messages. */
export type News =
  | { kind: 'ready' }
  | { kind: 'played' }
  | { kind: 'done'; failures: Failure[]; counts: [string, number][] }
  | { kind: 'replayed'; failures: Failure[]; lines: string[] };

/** Plays its jobs, each in a database of its own, while the parent process lives. */
const postgresUrl = process.argv[2]!;
const say = (news: News) => process.send!(news);

process.on('disconnect', () => process.exit());
process.on('message', (job: Job) => void work(job));
say({ kind: 'ready' });

function work(job: Job): Promise<void> {
  return job.facade ? playFacades(job) : playHistories(job);
}

async function playFacades(job: Job): Promise<void> {
  const seeds = job.kind === 'play' ? job.seeds : [job.seed];
  const lanes = Array.from({ length: Math.min(AT_ONCE, seeds.length) });
  const databases = await Promise.all(lanes.map(() => copyTemplate(postgresUrl, 'psa_template')));
  const lines: string[] = [];
  const { failures, counts } = await playStories({
    databases,
    seeds,
    steps: job.steps,
    onPlayed(played) {
      if (job.kind === 'replay') lines.push(...played);
      else say({ kind: 'played' });
    },
  });
  if (job.kind === 'replay') say({ kind: 'replayed', failures, lines });
  else say({ kind: 'done', failures, counts: [...counts] });
  for (const databaseUrl of databases)
    await administrate(postgresUrl, `drop database ${databaseUrl.split('/').at(-1)} with (force)`);
}

async function playHistories(job: Job): Promise<void> {
  const databaseUrl = await copyTemplate(postgresUrl, 'psa_template');
  const database = await connectTo(databaseUrl, createSystemClock());
  await prepareForAudit(database);
  if (job.kind === 'replay') {
    const { history, failures } = await replaySeed({ database, ...job });
    say({ kind: 'replayed', failures, lines: [...history.lines] });
  } else {
    const onPlayed = () => void say({ kind: 'played' });
    const { failures, counts } = await playSeeds({ database, ...job, onPlayed });
    say({ kind: 'done', failures, counts: [...counts] });
  }
  await database.close();
  await administrate(postgresUrl, `drop database ${databaseUrl.split('/').at(-1)}`);
}
