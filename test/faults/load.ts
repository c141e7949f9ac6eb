import { createClient, type GraphQLClient } from '../support/graphql.ts';
import { type ChildServer, ServerDied } from './child.ts';

/** A client's requests, in steps. It remembers every answer, and repeats a request without one. */
export interface RequestSequence {
  /** The idempotency key of its requests, or what each of their keys begins with before a colon. */
  readonly key?: string;
  /** Whether this server can take its next request. */
  isOpen(server: ChildServer): boolean;
  /** Sends the next request. */
  step(server: ChildServer, api: GraphQLClient): Promise<void>;
  /** Ends the time of its payments: it then sends the requests for after the expiry. */
  becomeLate?(): void;
}

/** An account whose requests a load sends: its live key, and its id if it is not the server's first. */
export interface Requester {
  readonly key: string;
  readonly account?: string;
}

/**
 * Clients that share their requests: a free client takes the oldest open request, or a new one. Each sequence is that of one
 * account; the accounts take turns.
 */
export function createLoad(requesters: readonly Requester[], newSequence: () => RequestSequence) {
  const sequences: RequestSequence[] = [];
  const requesterOf = new Map<RequestSequence, Requester>();
  /** The processes as the accounts see them. */
  const seenBy = new Map<Requester, WeakMap<ChildServer, ChildServer>>(
    requesters.map((each) => [each, new WeakMap()]),
  );
  const busy = new Set<RequestSequence>();
  let acknowledged = 0;

  function begin(): RequestSequence {
    const sequence = newSequence();
    requesterOf.set(sequence, requesters[sequences.length % requesters.length]!);
    sequences.push(sequence);
    return sequence;
  }

  /** The process of a sequence: what it asks for is its account's. */
  function serverOf(sequence: RequestSequence, server: ChildServer): ChildServer {
    const requester = requesterOf.get(sequence)!;
    const seen = seenBy.get(requester)!;
    const own: ChildServer = seen.get(server) ?? {
      ...server,
      get dead() {
        return server.dead;
      },
      ask: (name, request) => server.ask(name, request, requester.account),
    };
    seen.set(server, own);
    return own;
  }

  async function work(
    server: ChildServer,
    url: string,
    takesNew: () => boolean,
    onAnswer: () => void,
  ): Promise<void> {
    while (!server.dead) {
      const open = sequences.find(
        (sequence) => !busy.has(sequence) && sequence.isOpen(serverOf(sequence, server)),
      );
      const sequence = open ?? (takesNew() ? begin() : null);
      if (!sequence) return;
      busy.add(sequence);
      try {
        const api = createClient(`${url}/graphql`, requesterOf.get(sequence)!.key);
        await sequence.step(serverOf(sequence, server), api);
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
    /** Returns the keys of sequences that another account than theirs has used. */
    keysOfOthers(used: readonly { key: string; account: string | undefined }[]): string[] {
      const accounts = new Map(sequences.map((each) => [each.key, requesterOf.get(each)!.account]));
      return used.flatMap(({ key, account }) => {
        const own = [key, key.split(':').slice(0, 2).join(':')].find((each) => accounts.has(each));
        return own === undefined || accounts.get(own) === account
          ? []
          : [`${key} was used by ${account ?? 'the first account'}`];
      });
    },
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
