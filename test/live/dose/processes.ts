import { readFileSync } from 'node:fs';
import { startChild } from '../../bench/processes/child.ts';
import type { FollowerSpec, Received } from './followers.ts';
import type { Cut } from './relay.ts';

/** The open files of a follower: its connection to the relay, and the relay's two ends of it. */
const FILES_EACH = 3;
/** The files that a process opens besides. */
const OTHER_FILES = 500;
const MOST_EACH = 3_500;
/** The number of followers of a process that begin at once. */
const BATCH = 100;

const PROGRAM = new URL('./followers.ts', import.meta.url).href;
const TSX = new URL(import.meta.resolve('tsx')).href;

/** Starts followers, in as many processes as their number needs. */
export async function startFollowers(ports: readonly number[], specs: readonly FollowerSpec[]) {
  const count = Math.ceil(specs.length / MOST_EACH);
  assertFiles(Math.ceil(specs.length / count) * FILES_EACH + OTHER_FILES);
  const children = Array.from({ length: count }, () => startChild(PROGRAM, {}, ['--import', TSX]));
  await Promise.all(children.map((child) => child.ask('start', { ports })));
  const of = (number: number) => children[number % count]!;

  /** Sends each process a request about its part of the items. */
  async function askAll<Item, Answer>(
    items: readonly Item[],
    numberOf: (item: Item) => number,
    ask: (child: (typeof children)[number], own: Item[]) => Promise<Answer[]>,
  ): Promise<Answer[]> {
    const answers = await Promise.all(
      children.map((child) =>
        ask(
          child,
          items.filter((item) => of(numberOf(item)) === child),
        ),
      ),
    );
    return answers.flat();
  }

  const followers = {
    /**
     * Begins all followers, some at a time. Each stands at the live end once it has received the update with its id
     * here.
     */
    async follow(firstIdOf: (spec: FollowerSpec) => string, withinMs: number): Promise<number[]> {
      const late: number[] = [];
      for (let from = 0; from < specs.length; from += BATCH * count) {
        const batch = specs.slice(from, from + BATCH * count);
        await askAll(
          batch,
          ({ number }) => number,
          async (child, own) => {
            await child.ask('follow', { specs: own });
            return [];
          },
        );
        late.push(
          ...(await followers.haveNot(
            batch.map((spec) => [spec.number, firstIdOf(spec)]),
            withinMs,
          )),
        );
      }
      return late;
    },
    beginCut: (number: number, how: Cut, refuses: boolean): Promise<boolean> =>
      of(number).ask('beginCut', { number, how, refuses }),
    /** Whether the connection is cut within this time. */
    isCut: (number: number, withinMs: number): Promise<boolean> =>
      of(number).ask('isCut', { number, withinMs }),
    restore: (number: number): Promise<void> => of(number).ask('restore', { number }),
    tokenOf: (number: number): Promise<string | null> => of(number).ask('tokenOf', { number }),
    /** The followers that an update has not reached within this time. */
    haveNot: (expected: readonly [number, id: string][], withinMs: number): Promise<number[]> =>
      askAll(
        expected,
        ([number]) => number,
        (child, own) => child.ask('haveNot', { expected: own, withinMs }),
      ),
    notConnected: (numbers: readonly number[], withinMs: number): Promise<number[]> =>
      askAll(
        numbers,
        (number) => number,
        (child, own) => child.ask('notConnected', { numbers: own, withinMs }),
      ),
    async pause(numbers: readonly number[]): Promise<void> {
      await askAll(
        numbers,
        (number) => number,
        async (child, own) => [await child.ask('pause', { numbers: own })],
      );
    },
    async resume(numbers: readonly number[]): Promise<void> {
      await askAll(
        numbers,
        (number) => number,
        async (child, own) => [await child.ask('resume', { numbers: own })],
      );
    },
    leave: () => Promise.all(children.map((child) => child.ask('leave'))),
    received: (): Promise<Received[]> => Promise.all(children.map((child) => child.ask('received'))),
    stop: () => Promise.all(children.map((child) => child.stop())),
  };
  return followers;
}

/** Checks the limit of open files, sockets among them. @throws if a process may not open as many */
function assertFiles(needed: number): void {
  let limits: string;
  try {
    limits = readFileSync('/proc/self/limits', 'utf8');
  } catch {
    // Other systems lack the file.
    return;
  }
  // Node raises its own limit to the hard one.
  const hard = Number(/^Max open files +\S+ +(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
  if (hard < needed)
    throw new Error(`A process needs ${needed} open files, and may have ${hard}: ulimit -Hn ${needed}`);
}
