import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createPostgresDatabase, inThisRun } from '../support/database.ts';
import { createClient } from '../support/graphql.ts';
import { startReceiver } from '../support/receiver.ts';
import { scale } from '../support/scale.ts';
import { type ChildServer, ServerDied, spawnServer } from './child.ts';
import { CONFIGURE } from './documents.ts';
import { chosenSeed, createRandom, shuffled } from './random.ts';

const RESENT = scale('RESENT');
const KILLS = scale('RESEND_KILLS');
const LIVE_KEY = 'ps_live_resent0123456789';
/** The time between two processes: leases have ended. */
const BETWEEN_LIVES_MS = 45_000;
/** The pause behind a page of a redelivery. */
const PAGE_MS = 5_000;
/** The attempts of a tenant that are under way at once. */
const SLOTS = 64;

const REDELIVER = `mutation ($most: Int!) {
  redeliverWebhooks(input: { filter: { status: [EXHAUSTED] }, most: $most, idempotencyKey: "resent" }) { __typename } }`;
const SEED = `
  insert into webhook_delivery (webhook_id, account_id, environment, event_version, event, resource, resource_id, url, body,
      status, response_status, created_at)
    select 'whd_' || lpad(to_hex(nth), 24, '0'), account_id, environment, 1000000 + nth, 'payment.paid', 'payment', 'psa_' || nth,
      webhook_endpoint.url, '{}', 'exhausted', 503, now()
    from webhook_endpoint, generate_series(1, ${RESENT}) nth where webhook_endpoint.url is not null order by nth`;
const PROGRESS = 'select done::int, finished_at is not null as finished from webhook_redelivery';

const engines = {
  async PGlite() {
    const folder = mkdtempSync(join(tmpdir(), 'psa-resent-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    return { PSA_DATA_DIR: folder };
  },
  PostgreSQL: async () => ({ DATABASE_URL: await createPostgresDatabase('template1') }),
};

test.each(inThisRun(engines))(
  `On %s a redelivery of ${RESENT} webhooks that is killed at each of its places sends each again once`,
  { timeout: 600_000 },
  async (_, prepare) => {
    const environment = {
      ...(await prepare()),
      PSA_BOOTSTRAP_LIVE_KEY: LIVE_KEY,
    };
    const seed = chosenSeed();
    const receiver = await startReceiver();
    let aheadMs = 0;
    let server: ChildServer;
    onTestFinished(() => server.kill());

    async function begin(dieAt: string | null): Promise<string> {
      aheadMs += BETWEEN_LIVES_MS;
      server = spawnServer();
      const started = await server.ask('start', {
        ...{ environment, clockAheadMs: aheadMs, watched: { dieAt }, brief: true },
      });
      // A process may die before it is ready.
      await Promise.race([
        expect.poll(async () => (await fetch(`${started.url}/readyz`)).status).toBe(200),
        server.death.then(() => {
          throw new ServerDied();
        }),
      ]);
      return started.url;
    }
    async function pass(ms: number): Promise<void> {
      aheadMs += ms;
      await server.ask('pass', { ms });
    }
    async function progress() {
      const [[row]] = (await server.ask('query', [PROGRESS])) as [[{ done: number; finished: boolean }]];
      return row;
    }

    const client = createClient(`${await begin(null)}/graphql`, LIVE_KEY);
    await client.request(CONFIGURE, { input: { url: receiver.url } });
    await server!.ask('query', [SEED]);
    await server!.ask('passed', null);
    await client.request(REDELIVER, { most: RESENT });
    await server!.ask('settle', null);
    await pass(PAGE_MS);
    // A watch at the end of a request to the receiver, and each commit.
    const places = await server!.ask('passed', null);
    server!.kill();
    await server!.death;
    expect(places.some((place) => place.includes('webhook.redeliver'))).toBe(true);
    expect(places.some((place) => place.startsWith('webhook attempt'))).toBe(true);

    let [lives, deaths] = [1, 1];
    for (const place of shuffled(
      places.filter((place) => place.includes('webhook')),
      createRandom(seed),
    ).slice(0, KILLS)) {
      lives += 1;
      try {
        await begin(place);
        for (let page = 0; page < 3; page += 1) await pass(PAGE_MS);
        server!.kill();
      } catch (error) {
        if (!(error instanceof ServerDied)) throw error;
        deaths += 1;
      }
      await server!.death;
    }
    expect(deaths, `PSA_FAULTS_SEED=${seed}`).toBeGreaterThan(lives / 2);

    await begin(null);
    while (!(await progress()).finished) await pass(PAGE_MS);
    await pass(BETWEEN_LIVES_MS);
    expect(await progress(), `PSA_FAULTS_SEED=${seed}`).toEqual({ done: RESENT, finished: true });
    const [log] = (await server!.ask('query', [
      'select status, attempts::int, count(*)::int from webhook_delivery group by status, attempts',
    ])) as [object[]];
    expect(log, `PSA_FAULTS_SEED=${seed}`).toEqual([{ status: 'delivered', attempts: 1, count: RESENT }]);
    const ids = receiver.received.map(({ headers }) => headers['x-webhook-id']);
    expect(new Set(ids).size).toBe(RESENT);
    // Only an attempt whose answer was not recorded is repeated, under its id.
    expect(ids.length - RESENT).toBeLessThanOrEqual(deaths * SLOTS);
    expect(server!.faults).toEqual([]);
    process.stdout.write(
      `${RESENT} webhooks in ${ids.length} requests, killed ${deaths} times; PSA_FAULTS_SEED=${seed}\n`,
    );
  },
);
