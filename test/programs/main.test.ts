import { expect, test } from 'vitest';
import { createPostgresDatabase } from '../support/database.ts';
import { runInTest } from '../support/test-program.ts';

test('A server prints its address, prints new keys once, and stops cleanly on SIGINT', async () => {
  const DATABASE_URL = await createPostgresDatabase();
  // Slow requests are logged; here none is slow.
  const first = runInTest({ DATABASE_URL, PSA_LOG_SLOW_MS: '600000' });
  const url = await first.started;
  const [, key] = /live\s+(ps_live_\S+)/.exec(first.output.stdout)!;
  const answer = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ viewer { environment } }' }),
  });
  expect(await answer.json()).toEqual({ data: { viewer: { environment: 'LIVE' } } });
  const docs = /REST\s+(\S+)/.exec(first.output.stdout)![1]!;
  expect(await (await fetch(docs)).text()).toContain('REST interface');
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  first.child.kill('SIGINT');
  expect(await first.exited).toBe(0);
  expect(first.output.stderr).toBe('');

  // The server starts as `npm run dev` starts it.
  const second = runInTest({ DATABASE_URL, HOST: '127.0.0.1', PSA_DEMO: 'off' }, 'sources');
  await second.started;
  expect(second.output.stdout).not.toContain('ps_live_');
  second.child.kill('SIGTERM');
  expect(await second.exited).toBe(0);
});

test('A server whose output nobody reads any more stops cleanly', async () => {
  const { child, started, exited } = runInTest({ DATABASE_URL: await createPostgresDatabase() });
  await started;
  child.stdout!.destroy();
  child.kill('SIGINT');
  expect(await exited).toBe(0);
});

test('A server in front of a service prints its address, and shows no key', async () => {
  const key = 'ps_live_0123456789hidden';
  const { child, output, started, exited } = runInTest({
    DATABASE_URL: await createPostgresDatabase(),
    PSA_UPSTREAM_URL: 'https://api.example/v1',
    PSA_UPSTREAM_LIVE_KEY: key,
    PSA_COLOR: 'hidden',
    PSA_LOG_LEVEL: 'debug',
  });
  const url = await started;
  expect(output.stdout.match(/^Warning: variables .*$/gm)).toEqual([
    'Warning: variables that are not known have no effect: PSA_COLOR, PSA_LOG_LEVEL',
  ]);
  expect(output.stdout).toContain(`PSA is running at ${url}, in front of https://api.example\n`);
  expect(output.stdout).toContain(`  Webhooks    ${url}/webhooks/psa: the service`);
  expect(output.stdout).toContain('without PSA_UPSTREAM_WEBHOOK_SECRET webhooks are refused');
  expect(output.stdout).not.toMatch(/hidden|simulator|demo/i);
  child.kill('SIGTERM');
  expect(await exited).toBe(0);
  expect(output.stderr).toBe('');
});
