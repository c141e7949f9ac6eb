import { setTimeout as rest, setImmediate as turn } from 'node:timers/promises';
import { plusMs } from '../../../server/src/kernel/clock.ts';
import type { Random } from '../../faults/random.ts';
import type { ManualClock } from '../../support/clock.ts';
import { type Instance, startInstance } from './instance.ts';
import type { createRestore } from './restore.ts';
import type { ServiceHost, Wire } from './wire.ts';

const MINUTE = 60_000;
/** A time that is longer than a query waits for its slot, and shorter than any reader's patience. */
const SLOT_WAIT_MS = 2_500;
const QUIET_TURNS = 12;
const MOST_TURNS = 200_000;

/** Lines for an operator, which the service's behavior or a kill causes. */
const EXPECTED_FAULTS =
  /this instance was killed|A webhook said of|has answered with|has been unknown since|The payments service has corrected|a limit of the payments|database is closed|UpstreamFault/i;

/** A story's facades over one database, in front of one service, by the story's clock. */
export interface Stage {
  readonly instances: readonly Instance[];
  urls(): string[];
  start(): Promise<void>;
  killOne(): Promise<void>;
  /** Resolves once no work is left at this instant. */
  settle(): Promise<void>;
  pass(ms: number): Promise<void>;
  /**
   * Waits for the answers of open requests before the clock advances: a reader has patience for seconds, and a
   * request that waits for its slot would be given up by a clock that jumps a minute ahead.
   */
  serve(): Promise<void>;
  /**
   * Restores the database from its backup, and starts a facade once no earlier request can arrive any more.
   * `meanwhile` runs after the old facades have ended.
   */
  goBack(
    restore: ReturnType<typeof createRestore>,
    options: { marks: boolean; meanwhile: () => Promise<void> },
  ): Promise<void>;
  /** Ends all facades. */
  close(): Promise<void>;
}

export function createStage({
  name,
  clock,
  random,
  databaseUrl,
  host,
  service,
  families,
  note,
  count,
  found,
  onSettled,
}: {
  /** The name of the story in its paths. */
  name: string;
  clock: ManualClock;
  random: Random;
  databaseUrl: string;
  host: ServiceHost;
  service: Wire;
  families?: string;
  note: (line: string) => void;
  count: (what: string) => void;
  found: (law: string, what: string) => void;
  /** Checks the laws that hold when no work is left. */
  onSettled: () => void;
}): Stage {
  const instances: Instance[] = [];
  const closing: Promise<void>[] = [];
  let started = 0;
  const limit = random.pick([120, 120, 120, 20, 8]);
  host.add(name, service);

  function kill(index: number): void {
    const [instance] = instances.splice(index, 1) as [Instance];
    instance.kill();
    service.cut(instance.name);
    closing.push(instance.close().catch(() => undefined));
  }

  /** Advances the clock until these promises have settled. Their connections end in the machine's time, which other stories use. */
  async function ended(all: readonly Promise<void>[]): Promise<void> {
    let isOver = false;
    void Promise.all(all).then(() => {
      isOver = true;
    });
    while (!isOver) {
      clock.advance(MINUTE);
      await rest(1);
    }
  }

  const stage: Stage = {
    instances,
    urls: () => instances.map(({ url }) => url),
    async start() {
      started += 1;
      const instance = `i${started}`;
      instances.push(
        await startInstance({
          name: instance,
          databaseUrl,
          serviceUrl: `${host.url}/${name}/${instance}`,
          clock,
          limit,
          secret: service.secret,
          families,
          onFault: (message) => {
            if (!EXPECTED_FAULTS.test(message)) found('nothing fails but by a fault', message);
          },
        }),
      );
    },
    async killOne() {
      const index = random.below(instances.length);
      note(`kills ${instances[index]!.name}`);
      count('an instance killed');
      kill(index);
      if (instances.length === 0 || random.below(3) === 0) await stage.start();
    },
    async settle() {
      for (let quiet = 0, turns = 0; quiet < QUIET_TURNS; turns += 1) {
        if (turns > MOST_TURNS) throw new Error(`${name} does not settle`);
        await Promise.all(instances.map(({ statements }) => statements.idle()));
        await turn();
        const isQuiet = service.isIdle() && instances.every(({ statements }) => statements.isIdle());
        quiet = isQuiet ? quiet + 1 : 0;
      }
      onSettled();
    },
    async pass(ms) {
      clock.moveTo(plusMs(clock.now(), ms));
      await stage.settle();
    },
    async serve() {
      await stage.settle();
      await stage.pass(SLOT_WAIT_MS);
    },
    async goBack(restore, { marks, meanwhile }) {
      count('the database is restored');
      note('the database is restored');
      while (instances.length > 0) kill(0);
      await ended(closing.splice(0));
      await meanwhile();
      await stage.pass(16 * MINUTE);
      await restore.goBack({ marks });
      await stage.start();
    },
    async close() {
      while (instances.length > 0) kill(0);
      await ended(closing);
      host.remove(name);
    },
  };
  return stage;
}
