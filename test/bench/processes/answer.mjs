import { setImmediate as turn } from 'node:timers/promises';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Answers the parent process's requests by their names. @param {Record<string, (request: any) => any>} answers */
export function answerParent(answers) {
  process.on(
    'message',
    async (/** @type {{ id: number, name: string, request: unknown }} */ { id, name, request }) => {
      try {
        process.send?.({ id, value: (await answers[name]?.(request)) ?? null });
      } catch (error) {
        process.send?.({ id, error: error instanceof Error ? error.stack : String(error) });
      }
    },
  );
  process.on('disconnect', () => process.exit());
}

/** CPU time of all threads of this process since its start. */
export function cpuMicroseconds() {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** Megabytes of this process, of its JavaScript heap in use, and of the heap’s young generation, after garbage collection. */
export async function memoryMegabytes() {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  for (let time = 0; time < 3; time++) {
    collect();
    await turn();
  }
  const { rss, heapUsed } = process.memoryUsage();
  const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
  return { rssMb: rss / 1e6, heapMb: heapUsed / 1e6, youngMb: (young?.space_size ?? 0) / 1e6 };
}
