import { createClient, type Stream } from '../support/graphql.ts';
import type { ChildServer } from './child.ts';

const FOLLOW = `subscription ($after: String) {
  update: allCardPaymentUpdates(after: $after) { cursor it: cardPayment { orderCode status version } }
}`;

/** The log's events of card payments from an instant on, each as a line. */
const LOGGED = `
  select resource_id || ' ' || (snapshot ->> 'version') || ' ' || (snapshot ->> 'status') as line from event
  where resource = 'card_payment' and environment = 'live' order by version`;

/**
 * Follows all card payments from a database's beginning, across all processes of its server: after each death it
 * reconnects with the cursor of its last update.
 */
export function createSubscriber(transport: 'ws' | 'sse') {
  const reported: string[] = [];
  let after: string | null = null;
  let stream: Stream | undefined;
  let ended: Promise<void> = Promise.resolve();

  async function follow(source: Stream): Promise<void> {
    for (;;) {
      const { update } = await source.data();
      after = update.cursor;
      const { orderCode, version, status } = update.it;
      reported.push(`${orderCode} ${version} ${status.toLowerCase()}`);
    }
  }

  return {
    /** Connects to this server, once the one before is dead. */
    async attach(endpoint: string, key: string): Promise<void> {
      await stream?.close();
      await ended;
      const client = createClient(endpoint, key);
      after ??= (await client.request('{ updatesCursor }')).updatesCursor;
      stream = client[transport](FOLLOW, { after });
      // The stream ends with the server, or with the test.
      ended = follow(stream).catch(() => undefined);
    },
    /** Differences between the received updates and the log. */
    async missed(server: ChildServer): Promise<string[]> {
      const [rows] = (await server.ask('query', [LOGGED])) as [{ line: string }[]];
      const log = rows.map(({ line }) => line);
      const at = log.findIndex((line, index) => line !== reported[index]);
      if (at < 0 && reported.length === log.length) return [];
      return [
        `${transport}: received ${reported.length} of ${log.length}; at ${at}: ${reported[at]}, not ${log[at]}`,
      ];
    },
    async leave(): Promise<void> {
      await stream?.close();
      await ended;
    },
  };
}
