import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Received, Receiver } from '../support/receiver.ts';
import type { ChildServer } from './child.ts';

/** A receiver's answers: it refuses a quarter of the deliveries once. */
export function refusingSomeOnce(): Receiver['answer'] {
  const refused = new Set<string>();
  return (response: ServerResponse, { headers }: Received) => {
    const id = String(headers['x-webhook-id']);
    const refuses = !refused.has(id) && createHash('sha256').update(id).digest()[0]! % 4 === 0;
    response.writeHead(refuses ? 500 : 200).end();
    refused.add(id);
  };
}

/** Audits webhooks: none is lost, each is in the log, and all attempts of one have the same body. */
export async function complaintsOfPosted(
  server: Pick<ChildServer, 'ask'>,
  received: readonly Received[],
): Promise<{ complaints: string[]; sent: number }> {
  const [rows] = await server.ask('query', ['select webhook_id, status, body from webhook_delivery']);
  const log = rows as { webhook_id: string; status: string; body: string }[];
  const sent = new Set(log.map(({ webhook_id, body }) => `${webhook_id} ${body}`));
  const came = new Set(received.map(({ headers, body }) => `${headers['x-webhook-id']} ${body}`));
  return {
    sent: log.length,
    complaints: [
      ...log
        .filter(({ status }) => status !== 'delivered')
        .map(({ webhook_id }) => `${webhook_id} was not delivered`),
      ...[...sent].filter((each) => !came.has(each)).map((each) => `never came: ${each}`),
      ...[...came].filter((each) => !sent.has(each)).map((each) => `is in no log: ${each}`),
    ],
  };
}
