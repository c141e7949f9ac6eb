/** Clients that work in rounds, as fast as they are answered, until they are stopped. */
export interface Load {
  /** Resolves when so many more rounds were done; rejected where one has failed. */
  more(count: number): Promise<void>;
  /** Waits for the last rounds. Returns the number of rounds. */
  stop(): Promise<number>;
}

export function startLoad(clients: number, work: (client: number, round: number) => Promise<void>): Load {
  let rounds = 0;
  let stopped = false;
  let reached: { at: number; resolve: () => void } | null = null;
  const loop = async (client: number) => {
    for (let round = 0; !stopped; round++) {
      await work(client, round);
      rounds += 1;
      if (reached && rounds >= reached.at) reached.resolve();
    }
  };
  const done = Promise.all(Array.from({ length: clients }, (_, client) => loop(client)));
  done.catch(() => undefined);
  return {
    more: (count) =>
      Promise.race([
        new Promise<void>((resolve) => {
          reached = { at: rounds + count, resolve };
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
