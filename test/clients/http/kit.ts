import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { newWebhookSecret, signedHeaders } from '../../../server/src/webhooks/signing.ts';
import { FEATURES, type HttpClient } from './clients.ts';
import { startRelay } from './relay.ts';

/** The findings on one client. */
export interface Findings {
  client: string;
  version: string;
  passed: string[];
  failed: string[];
}

/** Runs the program of a client against a server; the key is an unrestricted one for tests. */
export async function tryClient(
  { name, run: [command, ...args], second }: HttpClient,
  { url, key }: { url: string; key: string },
): Promise<Findings> {
  const relay = await startRelay(url);
  const body = '{"event":"payment.paid","paymentId":"psa_1","metadata":"ação"}';
  // Two secrets, as during a rotation: the receiver has the older one.
  const secret = newWebhookSecret();
  const signed = signedHeaders({
    webhookId: 'wh_1',
    body,
    secrets: [newWebhookSecret(), secret],
    at: new Date(),
  });
  const child = spawn(command, args, {
    env: {
      ...process.env,
      PSA_URL: relay.url,
      PSA_KEY: key,
      PSA_UNIQUE: randomUUID(),
      WEBHOOK_BODY: body,
      WEBHOOK_SECRET: secret,
      WEBHOOK_ID: 'wh_1',
      WEBHOOK_TIMESTAMP: signed['webhook-timestamp'],
      WEBHOOK_SIGNATURE: signed['webhook-signature'],
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  await once(child, 'close');
  const connections = relay.connections;
  await relay.close();
  const linesOf = (word: string) =>
    said.split('\n').flatMap((line) => (line.startsWith(`${word} `) ? [line.slice(word.length + 1)] : []));
  const passed = linesOf('ok');
  if (connections === (second ? 2 : 1)) passed.push('keep-alive');
  const asked = [...FEATURES, ...(second ? [second] : [])];
  return {
    client: name,
    version: linesOf('version')[0] ?? 'unknown',
    passed: asked.filter((feature) => passed.includes(feature)),
    failed: asked.filter((feature) => !passed.includes(feature)),
  };
}
