import { createClient, type GraphQLClient } from '../support/graphql.ts';
import { type ChildServer, ServerDied } from './child.ts';

/** A client's requests, in steps. It remembers every answer, and repeats a request without one. */
export interface RequestSequence {
  /** Whether this server can take its next request. */
  isOpen(server: ChildServer): boolean;
  /** Sends the next request. */
  step(server: ChildServer, api: GraphQLClient): Promise<void>;
  /** Ends the time of its payments: it then sends the requests for after the expiry. */
  becomeLate?(): void;
}

/** Clients that share their requests: a free client takes the oldest open request, or a new one. */
export function createLoad(liveKey: string, newSequence: () => RequestSequence) {
  const sequences: RequestSequence[] = [];
  const busy = new Set<RequestSequence>();
  let acknowledged = 0;

  function begin(): RequestSequence {
    const sequence = newSequence();
    sequences.push(sequence);
    return sequence;
  }

  async function work(
    server: ChildServer,
    url: string,
    takesNew: () => boolean,
    onAnswer: () => void,
  ): Promise<void> {
    const api = createClient(`${url}/graphql`, liveKey);
    while (!server.dead) {
      const open = sequences.find((sequence) => !busy.has(sequence) && sequence.isOpen(server));
      const sequence = open ?? (takesNew() ? begin() : null);
      if (!sequence) return;
      busy.add(sequence);
      try {
        await sequence.step(server, api);
        acknowledged += 1;
        onAnswer();
      } catch (error) {
        // A connection breaks a moment before the exit is known.
        const broken =
          error instanceof ServerDied || (error instanceof TypeError && error.message === 'fetch failed');
        const cutOff = error instanceof TypeError && error.message === 'terminated';
        if (!broken && !cutOff) throw error;
        await server.death;
      } finally {
        busy.delete(sequence);
      }
    }
  }

  return {
    /** Runs clients until the server is dead. `onAnswer` is called at each answer. */
    async run(server: ChildServer, url: string, clients: number, onAnswer: () => void) {
      await Promise.all(Array.from({ length: clients }, () => work(server, url, () => true, onAnswer)));
    },
    /** Runs until each sequence is answered, and at least `least` of them have begun. */
    finish: (server: ChildServer, url: string, least: number) =>
      work(
        server,
        url,
        () => sequences.length < least,
        () => undefined,
      ),
    /** Returns the number of answers. */
    acknowledged: () => acknowledged,
  };
}

/**
 * Sends a request once, or twice at the same time, as an impatient client does. Each answer counts, even if the other
 * is lost.
 */
export async function repeated<T>(twice: boolean, send: () => Promise<T>): Promise<T[]> {
  const sent = await Promise.allSettled(twice ? [send(), send()] : [send()]);
  for (const result of sent) if (result.status === 'rejected') throw result.reason;
  return sent.map((result) => (result as PromiseFulfilledResult<T>).value);
}
