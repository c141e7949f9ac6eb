import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createPostgresDatabase, inThisRun } from '../support/database.ts';
import { scale } from '../support/scale.ts';
import { type ChildServer, ServerDied, spawnServer } from './child.ts';
import { chosenSeed, createRandom, shuffled } from './random.ts';

const KILLS = scale('RESEND_KILLS');
const LIVE_KEY = 'ps_live_batch00123456789';
const HOUR_MS = 3_600_000;
/** The time between two processes: leases have ended. */
const BETWEEN_LIVES_MS = 45_000;
/** Ten for each life. */
const ROWS = Array.from({ length: 10 * (KILLS + 2) }, (_, nth) => ({
  ...{ method: 'pix', amountCents: 10_000 + nth, destination: 'ana@psa.example', externalId: `row-${nth}` },
}));

const engines = {
  async PGlite() {
    const folder = mkdtempSync(join(tmpdir(), 'psa-batch-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    return { PSA_DATA_DIR: folder };
  },
  PostgreSQL: async () => ({ DATABASE_URL: await createPostgresDatabase('template1') }),
};

test.each(inThisRun(engines))(
  'On %s a batch of payouts whose server is killed at each of its places pays each row once',
  { timeout: 600_000 },
  async (_, prepare) => {
    const environment = { ...(await prepare()), PSA_BOOTSTRAP_LIVE_KEY: LIVE_KEY, PSA_CONSOLE: 'on' };
    const seed = chosenSeed();
    let aheadMs = 0;
    let server: ChildServer;
    onTestFinished(() => server.kill());

    async function begin(dieAt: string | null): Promise<string> {
      aheadMs += BETWEEN_LIVES_MS;
      server = spawnServer();
      const started = await server.ask('start', {
        ...{ environment, clockAheadMs: aheadMs, watched: { dieAt }, brief: true },
      });
      return started.url;
    }
    async function pass(ms: number): Promise<void> {
      aheadMs += ms;
      await server.ask('pass', { ms });
    }
    async function paid() {
      const [rows] = await server.ask('query', ['select external_id from payout order by number']);
      return rows!.map((row) => (row as { external_id: string }).external_id);
    }

    const url = await begin(null);
    await server!.ask('credit', { name: 'batch', cents: 100_000_000, litoshi: 1 });
    async function post(path: string, input: object, cookie = '') {
      const response = await fetch(`${url}/console/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: url, cookie },
        body: JSON.stringify(input),
      });
      expect(response.status).toBe(201);
      return response.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    }
    const cookie = await post('sign-in', { key: LIVE_KEY });
    await server!.ask('passed', null);
    await post('payouts/batches', { rows: ROWS, idempotencyKey: 'batch', key: LIVE_KEY }, cookie);
    await server!.ask('settle', null);
    const places = (await server!.ask('passed', null)).filter((place) => /payout|idempotency/.test(place));
    server!.kill();
    await server!.death;
    expect(places.some((place) => place.includes('payout_batch'))).toBe(true);

    let deaths = 1;
    for (const place of shuffled([...new Set(places)], createRandom(seed)).slice(0, KILLS)) {
      try {
        await begin(place);
        await pass(HOUR_MS);
        server!.kill();
      } catch (error) {
        if (!(error instanceof ServerDied)) throw error;
        deaths += 1;
      }
      await server!.death;
    }

    await begin(null);
    for (let hour = 0; hour < KILLS + 2; hour += 1) await pass(HOUR_MS);
    expect(deaths, `PSA_FAULTS_SEED=${seed}`).toBeGreaterThan(1);
    expect(await paid(), `PSA_FAULTS_SEED=${seed}`).toEqual(ROWS.map(({ externalId }) => externalId));
    const [[batch]] = (await server!.ask('query', [
      `select finished_at is not null as finished, jsonb_array_length(jsonb_path_query_array(payout_rows, '$[*].outcome.payoutId'))::int as paid
        from payout_batch`,
    ])) as [[object]];
    expect(batch, `PSA_FAULTS_SEED=${seed}`).toEqual({ finished: true, paid: ROWS.length });
    expect(server!.faults).toEqual([]);
    process.stdout.write(`${ROWS.length} payouts, killed ${deaths} times; PSA_FAULTS_SEED=${seed}\n`);
  },
);
