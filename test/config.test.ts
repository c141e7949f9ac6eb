import { describe, expect, test } from 'vitest';
import { ConfigError, readConfig } from '../server/src/config.ts';

describe('the environment', () => {
  test('may be empty', () => {
    expect(readConfig({})).toEqual({
      port: 4000,
      host: '127.0.0.1',
      publicUrl: null,
      databaseUrl: undefined,
      dataDir: '.data',
      bootstrapKeys: { live: undefined, sandbox: undefined },
      graphqlLimit: 1200,
      trustedProxies: [],
      demo: true,
      webhookPrivateAddresses: true,
    });
  });

  test('says all of it', () => {
    const live = 'ps_live_0123456789abcdef';
    const sandbox = 'ps_test_0123456789abcdef';
    expect(
      readConfig({
        PORT: '0',
        HOST: '0.0.0.0',
        PUBLIC_URL: 'https://pay.example/base/',
        DATABASE_URL: 'postgresql://u:p@db.example/psa',
        PSA_DATA_DIR: 'memory',
        PSA_BOOTSTRAP_LIVE_KEY: live,
        PSA_BOOTSTRAP_TEST_KEY: sandbox,
        PSA_GRAPHQL_LIMIT: '50',
        PSA_TRUSTED_PROXIES: '10.0.0.5, 192.168.0.0/16,2001:db8::/32',
        PSA_DEMO: 'on',
      }),
    ).toEqual({
      port: 0,
      host: '0.0.0.0',
      publicUrl: 'https://pay.example/base',
      databaseUrl: 'postgresql://u:p@db.example/psa',
      dataDir: 'memory',
      bootstrapKeys: { live, sandbox },
      graphqlLimit: 50,
      trustedProxies: ['10.0.0.5', '192.168.0.0/16', '2001:db8::/32'],
      demo: true,
      webhookPrivateAddresses: false,
    });
  });

  test.each([
    'postgres://localhost/psa',
    'postgresql://u:p%40ss@db.example:5432/psa?sslmode=require',
    'postgres:///psa?host=/var/run/postgresql',
    'postgres://u:p@/psa?host=/var/run/postgresql',
  ])('may name a database by %s', (DATABASE_URL) => {
    expect(readConfig({ DATABASE_URL }).databaseUrl).toBe(DATABASE_URL);
  });

  test('takes an empty variable for one that is not set', () => {
    expect(readConfig({ PORT: '', PSA_UPSTREAM_URL: '', DATABASE_URL: '' })).toEqual(readConfig({}));
  });

  test.each([
    ['127.0.0.1', undefined, true],
    ['localhost', undefined, true],
    ['::1', undefined, true],
    ['0.0.0.0', undefined, false],
    ['::', undefined, false],
    ['192.168.1.5', undefined, false],
    ['0.0.0.0', 'on', true],
    ['127.0.0.1', 'off', false],
    ['127.0.0.1', '0', false],
    ['127.0.0.1', 'false', false],
  ])('on HOST %s with PSA_DEMO %s: the demo is there: %s', (HOST, PSA_DEMO, demo) => {
    expect(readConfig({ HOST, ...(PSA_DEMO ? { PSA_DEMO } : {}) }).demo).toBe(demo);
  });

  test.each([
    [{}, true],
    [{ PUBLIC_URL: 'http://localhost:8080' }, true],
    [{ PUBLIC_URL: 'http://[::1]:8080' }, true],
    // Behind a proxy, and nobody's own machine.
    [{ PUBLIC_URL: 'https://pay.example' }, false],
    [{ PSA_DEMO: 'off' }, false],
    [{ PSA_WEBHOOK_PRIVATE_ADDRESSES: 'off' }, false],
    [{ PSA_DEMO: 'off', PSA_WEBHOOK_PRIVATE_ADDRESSES: 'on' }, true],
    [{ PUBLIC_URL: 'https://pay.example', PSA_WEBHOOK_PRIVATE_ADDRESSES: 'on' }, true],
    [{ HOST: '0.0.0.0' }, false],
    [{ HOST: '0.0.0.0', PSA_DEMO: 'on' }, false],
    [{ HOST: '0.0.0.0', PSA_WEBHOOK_PRIVATE_ADDRESSES: 'off' }, false],
  ])('%j: webhooks may go to private addresses: %s', (given, allowed) => {
    expect(readConfig(given).webhookPrivateAddresses).toBe(allowed);
  });

  test('does not let a server that others can reach send webhooks to private addresses', () => {
    expect(refusal({ HOST: '0.0.0.0', PSA_WEBHOOK_PRIVATE_ADDRESSES: 'on' }).message).toMatch(
      /^PSA_WEBHOOK_PRIVATE_ADDRESSES must be off/,
    );
  });

  test.each([
    ['PORT', 'HIDDEN'],
    ['PORT', '-1'],
    ['PORT', '65536'],
    ['PORT', '80.5'],
    ['PORT', '0x50'],
    ['PORT', ' 80'],
    ['PUBLIC_URL', 'HIDDEN'],
    ['PUBLIC_URL', 'ftp://HIDDEN.example'],
    ['PUBLIC_URL', 'javascript:HIDDEN'],
    ['PUBLIC_URL', 'https://u:HIDDEN@pay.example'],
    ['PUBLIC_URL', 'https://pay.example/?a=HIDDEN'],
    ['DATABASE_URL', 'HIDDEN'],
    ['DATABASE_URL', 'mysql://u:HIDDEN@db/psa'],
    ['DATABASE_URL', 'postgres://u:HIDDEN@'],
    ['PSA_BOOTSTRAP_LIVE_KEY', 'ps_live_HIDDEN'],
    ['PSA_BOOTSTRAP_LIVE_KEY', 'ps_test_HIDDEN0123456789abcdef'],
    ['PSA_BOOTSTRAP_LIVE_KEY', 'ps_live_HIDDEN 0123456789abcdef'],
    ['PSA_BOOTSTRAP_TEST_KEY', 'ps_live_HIDDEN0123456789abcdef'],
    ['PSA_GRAPHQL_LIMIT', '0'],
    ['PSA_GRAPHQL_LIMIT', '1e3'],
    ['PSA_GRAPHQL_LIMIT', '1000001'],
    ['PSA_TRUSTED_PROXIES', 'HIDDEN'],
    ['PSA_TRUSTED_PROXIES', '10.0.0.1,HIDDEN.example'],
    ['PSA_TRUSTED_PROXIES', '10.0.0.1,'],
    ['PSA_TRUSTED_PROXIES', '10.0.0.1 10.0.0.2'],
    ['PSA_TRUSTED_PROXIES', '10.0.0.0/33'],
    ['PSA_TRUSTED_PROXIES', '2001:db8::/129'],
    ['PSA_TRUSTED_PROXIES', '10.0.0.0/8/8'],
    ['PSA_TRUSTED_PROXIES', '10.0.0.0/'],
    ['PSA_TRUSTED_PROXIES', '0.0.0.0/0'],
    ['PSA_TRUSTED_PROXIES', '::/0'],
    ['PSA_TRUSTED_PROXIES', '*'],
    ['PSA_DEMO', 'HIDDEN'],
    ['PSA_WEBHOOK_PRIVATE_ADDRESSES', 'HIDDEN'],
    ['PSA_UPSTREAM_URL', 'https://HIDDEN.example'],
    ['PSA_UPSTREAM_LIVE_KEY', 'ps_live_HIDDEN0123456789abcdef'],
    ['PSA_UPSTREAM_TEST_KEY', 'ps_test_HIDDEN0123456789abcdef'],
    ['PSA_UPSTREAM_WEBHOOK_SECRET', 'whsec_HIDDEN'],
  ])('with %s=%s is refused in one line that names it, and never says its value', (name, value) => {
    const error = refusal({ [name]: value });
    expect(error).toBeInstanceOf(ConfigError);
    expect(error.message).toMatch(new RegExp(`^${name} (must|is) [^\n]+$`));
    expect(error.message).not.toContain('HIDDEN');
    expect(error.message).not.toContain('Invalid input');
  });

  test('with several mistakes is refused in one line that names them all', () => {
    const { message } = refusal({ PORT: 'x', PSA_DEMO: 'x', PSA_UPSTREAM_URL: 'x' });
    for (const name of ['PORT', 'PSA_DEMO', 'PSA_UPSTREAM_URL']) expect(message).toContain(name);
    expect(message).not.toContain('\n');
  });

  test('says of the remote mode that it is not there', () => {
    expect(refusal({ PSA_UPSTREAM_URL: 'https://api.example' }).message).toContain('remote mode');
  });

  function refusal(environment: Record<string, string>): Error {
    try {
      readConfig(environment);
    } catch (error) {
      return error as Error;
    }
    throw new Error('it was taken');
  }
});
