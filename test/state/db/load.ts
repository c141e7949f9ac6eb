/** Clients that work in rounds, as fast as they are answered, until they are stopped. */
export interface Load {
  /**
   * Resolves when `count` more rounds are done, or the load was stopped; rejects if a round has failed. One call at a
   * time.
   */
  more(count: number): Promise<void>;
  /** Waits for the last rounds. Returns the number of rounds. */
  stop(): Promise<number>;
}

export function startLoad(clients: number, work: (client: number, round: number) => Promise<void>): Load {
  let rounds = 0;
  let stopped = false;
  let target: { at: number; resolve: () => void } | null = null;
  const loop = async (client: number) => {
    for (let round = 0; !stopped; round++) {
      await work(client, round);
      rounds += 1;
      if (target && rounds >= target.at) target.resolve();
    }
  };
  const done = Promise.all(Array.from({ length: clients }, (_, client) => loop(client)));
  // `more` and `stop` report the failure.
  done.catch(() => undefined);
  return {
    more: (count) =>
      Promise.race([
        new Promise<void>((resolve) => {
          target = { at: rounds + count, resolve };
        }),
        done.then(() => undefined),
      ]),
    async stop() {
      stopped = true;
      await done;
      return rounds;
    },
  };
}
