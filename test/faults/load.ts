import { createClient, type GraphQLClient } from '../support/graphql.ts';
import { type ChildServer, ServerDied } from './child.ts';

/** A client's requests, in steps. It remembers every answer, and repeats a request without one. */
export interface Errand {
  /** Whether there is something to ask of this server. */
  isOpen(server: ChildServer): boolean;
  /** Asks for one thing. */
  step(server: ChildServer, api: GraphQLClient): Promise<void>;
  /** Its time is over: from now on it asks for what comes after that. */
  becomeLate?(): void;
}

/** Clients that do each other's requests: a free one takes up the oldest open request, or a new one. */
export function createCrowd(liveKey: string, newErrand: () => Errand) {
  const errands: Errand[] = [];
  const busy = new Set<Errand>();
  let acknowledged = 0;

  function begun(): Errand {
    const requestOptions = newErrand();
    errands.push(requestOptions);
    return requestOptions;
  }

  async function work(
    server: ChildServer,
    url: string,
    takesNew: () => boolean,
    heard: () => void,
  ): Promise<void> {
    const api = createClient(`${url}/graphql`, liveKey);
    while (!server.dead) {
      const open = errands.find(
        (requestOptions) => !busy.has(requestOptions) && requestOptions.isOpen(server),
      );
      const requestOptions = open ?? (takesNew() ? begun() : null);
      if (!requestOptions) return;
      busy.add(requestOptions);
      try {
        await requestOptions.step(server, api);
        acknowledged += 1;
        heard();
      } catch (error) {
        // A connection breaks a moment before the exit is known.
        const broken =
          error instanceof ServerDied || (error instanceof TypeError && error.message === 'fetch failed');
        const cutOff = error instanceof TypeError && error.message === 'terminated';
        if (!broken && !cutOff) throw error;
        await server.death;
      } finally {
        busy.delete(requestOptions);
      }
    }
  }

  return {
    /** Until the server is dead. `onAnswer` is called at each answer. */
    async crowd(server: ChildServer, url: string, clients: number, onAnswer: () => void) {
      await Promise.all(Array.from({ length: clients }, () => work(server, url, () => true, onAnswer)));
    },
    /** Until everything that was begun is answered, and at least so many requests were begun in all. */
    finish: (server: ChildServer, url: string, least: number) =>
      work(
        server,
        url,
        () => errands.length < least,
        () => undefined,
      ),
    /** How many answers came. */
    acknowledged: () => acknowledged,
  };
}

/** Once, or twice at the same time, as an impatient client does. Every answer counts, also where the other is lost. */
export async function repeated<T>(twice: boolean, send: () => Promise<T>): Promise<T[]> {
  const sent = await Promise.allSettled(twice ? [send(), send()] : [send()]);
  for (const result of sent) if (result.status === 'rejected') throw result.reason;
  return sent.map((result) => (result as PromiseFulfilledResult<T>).value);
}
