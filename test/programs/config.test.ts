import { describe, expect, test } from 'vitest';
import { ConfigError, readConfig } from '../../server/src/programs/config/config.ts';

describe('the environment', () => {
  test('The environment may be empty', () => {
    expect(readConfig({})).toEqual({
      upstream: null,
      port: 4000,
      host: '127.0.0.1',
      publicUrl: null,
      databaseUrl: undefined,
      poolSize: 10,
      dataDir: '.data',
      dataKeys: [],
      bootstrapKeys: { live: undefined, sandbox: undefined },
      keep: null,
      graphqlLimit: 1200,
      subscriptionLimit: 20_000,
      trustedProxies: [],
      trustedDocuments: { manifests: [], only: 'off' },
      demo: true,
      console: 'open',
      webhookPrivateAddresses: true,
      traces: null,
      drainMs: 3_000,
      logSlowMs: 1_000,
      fastPath: true,
      unknownVariables: [],
    });
  });

  test.each([
    ['PSA_TRUSTED_DOCUMENT_ONLY', 'PSA_TRUSTED_DOCUMENTS_ONLY'],
    ['PSA_DMEO', 'PSA_DEMO'],
    ['psa_data_dir', 'PSA_DATA_DIR'],
    ['PSA_DATADIR', 'PSA_DATA_DIR'],
    ['PSA_UPSTREAM_WEBHOOK_SECRETS', 'PSA_UPSTREAM_WEBHOOK_SECRET'],
    ['PSA_UPSTREAM_TEST_KEYS', 'PSA_UPSTREAM_TEST_KEY'],
  ])('The misspelt %s is refused, and its value is not shown', (name, meant) => {
    expect(() => readConfig({ [name]: 'hidden' })).toThrow(
      new ConfigError(`${name} is not known: did you mean ${meant}?`),
    );
    expect(readConfig({ [name]: '' }).unknownVariables).toEqual([]);
  });

  test('Other unknown variables are found, but those that Kubernetes sets for a service', () => {
    const ofKubernetes = {
      PSA_SERVICE_HOST: '10.0.0.1',
      PSA_SERVICE_PORT_HTTP: '4000',
      PSA_PORT: 'tcp://10.0.0.1:4000',
      PSA_PORT_4000_TCP_ADDR: '10.0.0.1',
      PSA_DEMO_SERVICE_HOST: '10.0.0.1',
    };
    const config = readConfig({ ...ofKubernetes, PSA_LOG_LEVEL: 'debug', NODE_ENV: 'test', PSA_COLOR: '1' });
    expect(config.unknownVariables).toEqual(['PSA_LOG_LEVEL', 'PSA_COLOR']);
    expect(readConfig({ PSA_PORT: '4200' }).unknownVariables).toEqual(['PSA_PORT']);
  });

  test.each(['DATABASE_URI', 'DATABASE_URLS', 'DATABSE_URL', 'PUBLIC_URI'])(
    'The misspelt %s is found, because a server without the meant one would start with its default',
    (name) => {
      expect(readConfig({ [name]: 'hidden' }).unknownVariables).toEqual([name]);
      const meant = name.startsWith('PUBLIC')
        ? { PUBLIC_URL: 'http://localhost' }
        : { DATABASE_URL: 'postgres://a/b' };
      expect(readConfig({ [name]: 'hidden', ...meant }).unknownVariables).toEqual([]);
    },
  );

  test('The variables of the environment set the configuration', () => {
    const live = 'ps_live_0123456789abcdef';
    const sandbox = 'ps_test_0123456789abcdef';
    expect(
      readConfig({
        PORT: '0',
        HOST: '0.0.0.0',
        PUBLIC_URL: 'https://pay.example/base/',
        DATABASE_URL: 'postgresql://u:p@db.example/psa',
        PSA_DATABASE_POOL: '30',
        PSA_DATA_DIR: 'memory',
        PSA_BOOTSTRAP_LIVE_KEY: live,
        PSA_BOOTSTRAP_TEST_KEY: sandbox,
        PSA_KEEP: 'events:180d,tokens:forever',
        PSA_GRAPHQL_LIMIT: '50',
        PSA_SUBSCRIPTION_LIMIT: '70',
        PSA_TRUSTED_DOCUMENTS: 'shop.json, /etc/psa/app.json',
        PSA_TRUSTED_DOCUMENTS_ONLY: 'tokens',
        PSA_TRUSTED_PROXIES: '10.0.0.5, 192.168.0.0/16,2001:db8::/32',
        PSA_DEMO: 'on',
        PSA_CONSOLE: 'on',
        PSA_DRAIN_SECONDS: '20',
        PSA_LOG_SLOW_MS: '0',
        PSA_FAST_PATH: 'off',
        OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example/otlp/',
        OTEL_EXPORTER_OTLP_HEADERS: 'X-Key=a%20b%2Cc, x-tenant = 7',
        OTEL_SERVICE_NAME: 'pay',
        OTEL_TRACES_SAMPLER_ARG: '0.25',
      }),
    ).toEqual({
      upstream: null,
      port: 0,
      host: '0.0.0.0',
      publicUrl: 'https://pay.example/base',
      databaseUrl: 'postgresql://u:p@db.example/psa',
      poolSize: 30,
      dataDir: 'memory',
      dataKeys: [],
      bootstrapKeys: { live, sandbox },
      keep: { events: 180, deliveries: 90, bodies: 14, tokens: null },
      graphqlLimit: 50,
      subscriptionLimit: 70,
      trustedDocuments: { manifests: ['shop.json', '/etc/psa/app.json'], only: 'tokens' },
      trustedProxies: ['10.0.0.5', '192.168.0.0/16', '2001:db8::/32'],
      demo: true,
      console: 'key',
      webhookPrivateAddresses: false,
      drainMs: 20_000,
      logSlowMs: 0,
      fastPath: false,
      unknownVariables: [],
      traces: {
        endpoint: 'https://collector.example/otlp',
        headers: { 'x-key': 'a b,c', 'x-tenant': '7' },
        serviceName: 'pay',
        share: 0.25,
      },
    });
  });

  test('A server without a collector writes no traces, whatever the other variables say', () => {
    expect(readConfig({ OTEL_SERVICE_NAME: 'pay', OTEL_EXPORTER_OTLP_HEADERS: 'a=b' }).traces).toBeNull();
  });

  test.each([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'https://user:hidden@collector.example'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'authorization'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=%zz'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=b%0d%0ac: hidden'],
    ['OTEL_TRACES_SAMPLER_ARG', '2'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
    ['PSA_LOG_SLOW_MS', '-1'],
    ['PSA_FAST_PATH', 'slow'],
    ['PSA_DRAIN_SECONDS', '301'],
  ])('The configuration refuses %s, which is %s, and names it without its value', (name, value) => {
    expect(() => readConfig({ [name]: value })).toThrow(new RegExp(`^${name} must [^\\n]*$`));
    expect(() => readConfig({ [name]: value })).not.toThrow(/hidden/);
  });

  test.each([
    'postgres://localhost/psa',
    'postgresql://u:p%40ss@db.example:5432/psa?sslmode=require',
    'postgres:///psa?host=/var/run/postgresql',
    'postgres://u:p@/psa?host=/var/run/postgresql',
    'postgres://u@h1:5432,h2:5433/psa?target_session_attrs=read-write',
    'host=h1,h2 port=5432,5433 dbname=psa user=u',
  ])('DATABASE_URL may be %s', (DATABASE_URL) => {
    expect(readConfig({ DATABASE_URL }).databaseUrl).toBe(DATABASE_URL);
  });

  test.each([
    ['https://pay.example ', 'https://pay.example'],
    ['\thttps://pay.example/base/\n', 'https://pay.example/base'],
    ['HTTPS://Pay.Example:443/', 'https://pay.example'],
    ['https:pay.example', 'https://pay.example'],
    ['https:\\\\pay.example\\base', 'https://pay.example/base'],
  ])('PUBLIC_URL %j is read as a browser reads it', (PUBLIC_URL, publicUrl) => {
    expect(readConfig({ PUBLIC_URL }).publicUrl).toBe(publicUrl);
    const { traces } = readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: PUBLIC_URL });
    expect(traces?.endpoint).toBe(publicUrl);
  });

  test('An empty variable counts as one that is not set', () => {
    expect(readConfig({ PORT: '', PSA_UPSTREAM_URL: '', PSA_UPSTREAM_LIMIT: '', DATABASE_URL: '' })).toEqual(
      readConfig({}),
    );
  });

  test('The spaces around a value, and the carriage return of an editor, do not count', () => {
    const spaced = {
      PORT: ' 80',
      DATABASE_URL: 'postgres://localhost/psa\r',
      PSA_DEMO: 'off ',
      PUBLIC_URL: ' \r',
    };
    const { port, databaseUrl, demo, publicUrl } = readConfig(spaced);
    expect({ port, databaseUrl, demo, publicUrl }).toEqual({
      port: 80,
      databaseUrl: 'postgres://localhost/psa',
      demo: false,
      publicUrl: null,
    });
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
  ])('A server on HOST %s with PSA_DEMO %s has the demo: %s', (HOST, PSA_DEMO, demo) => {
    expect(readConfig({ HOST, ...(PSA_DEMO ? { PSA_DEMO } : {}) }).demo).toBe(demo);
  });

  test.each([
    ['http://localhost:8080', undefined, true],
    ['https://pay.example', undefined, false],
    ['https://pay.example', 'on', true],
  ])('A server at PUBLIC_URL %s with PSA_DEMO %s has the demo: %s', (PUBLIC_URL, PSA_DEMO, demo) => {
    expect(readConfig({ PUBLIC_URL, ...(PSA_DEMO ? { PSA_DEMO } : {}) }).demo).toBe(demo);
  });

  test.each([
    [{}, 'open'],
    [{ PSA_DEMO: 'off' }, 'off'],
    [{ PSA_CONSOLE: 'on' }, 'key'],
    [{ PSA_CONSOLE: 'off' }, 'off'],
    // The demo is open to others there, and the console is not.
    [{ HOST: '0.0.0.0', PSA_DEMO: 'on' }, 'off'],
    [{ PUBLIC_URL: 'https://pay.example', PSA_DEMO: 'on' }, 'off'],
    [{ HOST: '0.0.0.0', PSA_CONSOLE: 'on' }, 'key'],
    [{ PUBLIC_URL: 'https://pay.example', PSA_CONSOLE: 'on' }, 'key'],
  ])('With %j the console is %s', (given, entry) => {
    expect(readConfig(given).console).toBe(entry);
  });

  test('A console that others reach asks for no key over http', () => {
    expect(refusal({ PUBLIC_URL: 'http://pay.example', PSA_CONSOLE: 'on' }).message).toMatch(
      /^PSA_CONSOLE must be off/,
    );
    expect(readConfig({ PUBLIC_URL: 'http://localhost:8080', PSA_CONSOLE: 'on' }).console).toBe('key');
  });

  test.each([
    [{}, true],
    [{ PUBLIC_URL: 'http://localhost:8080' }, true],
    [{ PUBLIC_URL: 'http://[::1]:8080' }, true],
    // This server is behind a proxy, so it is not a developer's machine.
    [{ PUBLIC_URL: 'https://pay.example' }, false],
    [{ PSA_DEMO: 'off' }, false],
    [{ PSA_WEBHOOK_PRIVATE_ADDRESSES: 'off' }, false],
    [{ PSA_DEMO: 'off', PSA_WEBHOOK_PRIVATE_ADDRESSES: 'on' }, true],
    [{ PUBLIC_URL: 'https://pay.example', PSA_WEBHOOK_PRIVATE_ADDRESSES: 'on' }, true],
    [{ HOST: '0.0.0.0' }, false],
    [{ HOST: '0.0.0.0', PSA_DEMO: 'on' }, false],
    [{ HOST: '0.0.0.0', PSA_WEBHOOK_PRIVATE_ADDRESSES: 'off' }, false],
  ])('With %j webhooks may go to private addresses: %s', (given, allowed) => {
    expect(readConfig(given).webhookPrivateAddresses).toBe(allowed);
  });

  test('A server that others can reach may not send webhooks to private addresses', () => {
    expect(refusal({ HOST: '0.0.0.0', PSA_WEBHOOK_PRIVATE_ADDRESSES: 'on' }).message).toMatch(
      /^PSA_WEBHOOK_PRIVATE_ADDRESSES must be off/,
    );
  });

  test.each([
    ['PORT', 'HIDDEN'],
    ['PORT', '-1'],
    ['PORT', '65536'],
    ['PORT', '80.5'],
    ['PORT', '"80"'],
    ['PSA_DATA_DIR', '"/var/lib/HIDDEN"'],
    ['PSA_DATA_DIR', "'HIDDEN'"],
    ['PSA_DATA_DIR', '~/HIDDEN'],
    ['PSA_DATA_DIR', '$HOME/HIDDEN'],
    ['PSA_UPSTREAM_WEBHOOK_SECRET', '"whsec_HIDDEN"'],
    ['PORT', '0x50'],
    ['PUBLIC_URL', 'HIDDEN'],
    ['DATABASE_URL', 'postgres://u@db.example/psa?port=HIDDEN'],
    ['DATABASE_URL', 'postgres://u@h1,h2:HIDDEN/psa'],
    ['DATABASE_URL', 'postgres://u@h1,h2/psa?target_session_attrs=HIDDEN'],
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
    ['PSA_KEEP', 'events:90d,HIDDEN:90d'],
    ['PSA_KEEP', 'events:29d'],
    ['PSA_DEMO', 'HIDDEN'],
    ['PSA_WEBHOOK_PRIVATE_ADDRESSES', 'HIDDEN'],
    ['PSA_UPSTREAM_URL', 'HIDDEN'],
    ['PSA_UPSTREAM_URL', 'http://HIDDEN.example'],
    ['PSA_UPSTREAM_URL', 'http://10.0.0.5/HIDDEN'],
    ['PSA_UPSTREAM_URL', 'ftp://HIDDEN.example'],
    ['PSA_UPSTREAM_URL', 'https://u:HIDDEN@api.example'],
    ['PSA_UPSTREAM_URL', 'https://api.example/v1?a=HIDDEN'],
    ['PSA_UPSTREAM_URL', 'https://api.example/#HIDDEN'],
    // These variables need PSA_UPSTREAM_URL.
    ['PSA_UPSTREAM_LIVE_KEY', 'ps_live_HIDDEN0123456789abcdef'],
    ['PSA_UPSTREAM_TEST_KEY', 'ps_test_HIDDEN0123456789abcdef'],
    ['PSA_UPSTREAM_WEBHOOK_SECRET', 'whsec_HIDDEN'],
    ['PSA_UPSTREAM_LIMIT', '60'],
    ['PSA_UPSTREAM_FAMILIES', 'payments'],
    ['PSA_UPSTREAM_ACCEPT_KEY', 'key_0123456789abcdef01234567'],
  ])(
    'An environment with %s=%s is refused in one line that names the variable, and never shows its value',
    (name, value) => {
      const error = refusal({ [name]: value });
      expect(error).toBeInstanceOf(ConfigError);
      expect(error.message).toMatch(new RegExp(`^${name} (must|is) [^\n]+$`));
      expect(error.message).not.toContain('HIDDEN');
      expect(error.message).not.toContain('Invalid input');
    },
  );

  test('An environment with several mistakes is refused in one line that names them all', () => {
    const { message } = refusal({ PORT: 'x', PSA_DEMO: 'x', PSA_UPSTREAM_URL: 'x' });
    for (const name of ['PORT', 'PSA_DEMO', 'PSA_UPSTREAM_URL']) expect(message).toContain(name);
    expect(message).not.toContain('\n');
  });
});

describe('in front of a service', () => {
  const live = 'ps_live_0123456789abcdef';
  const sandbox = 'ps_test_0123456789abcdef';
  const remote = { PSA_UPSTREAM_URL: 'https://api.example', PSA_UPSTREAM_LIVE_KEY: live };

  test('One key is enough in front of a service', () => {
    const { upstream, dataDir, demo, webhookPrivateAddresses } = readConfig(remote);
    expect(upstream).toEqual({
      url: 'https://api.example',
      keys: { live },
      acceptedKeys: [],
      webhookSecrets: { live: [], sandbox: [] },
      families: [],
      requestsPerMinute: 120,
      windowMs: 60_000,
    });
    // A folder holds the data of one mode; demo and simulator need the embedded service.
    expect({ dataDir, demo, webhookPrivateAddresses }).toEqual({
      dataDir: '.data-upstream',
      demo: false,
      webhookPrivateAddresses: false,
    });
    const withTestKey = {
      PSA_UPSTREAM_URL: remote.PSA_UPSTREAM_URL,
      PSA_UPSTREAM_TEST_KEY: sandbox,
    };
    expect(readConfig(withTestKey).upstream?.keys).toEqual({ sandbox });
  });

  test('The sandbox may have secrets of its own for its webhooks', () => {
    const secretsWith = (variables: Record<string, string>) =>
      readConfig({ ...remote, ...variables }).upstream?.webhookSecrets;
    expect(
      secretsWith({ PSA_UPSTREAM_WEBHOOK_SECRET: 'one', PSA_UPSTREAM_TEST_WEBHOOK_SECRET: 'two, three' }),
    ).toEqual({ live: ['one'], sandbox: ['two', 'three'] });
    expect(secretsWith({ PSA_UPSTREAM_TEST_WEBHOOK_SECRET: 'two' })).toEqual({ live: [], sandbox: ['two'] });
  });

  test('The variables of the environment set the configuration in front of a service', () => {
    const { upstream, dataDir, demo } = readConfig({
      ...remote,
      PSA_UPSTREAM_TEST_KEY: sandbox,
      PSA_UPSTREAM_ACCEPT_KEY: ' key_0123456789abcdef01234567',
      PSA_UPSTREAM_WEBHOOK_SECRET: ' whsec_old= , new secret ',
      PSA_UPSTREAM_FAMILIES: ' payments , store,refunds',
      PSA_UPSTREAM_LIMIT: '60',
      PSA_DATA_DIR: 'memory',
      PSA_DEMO: 'on',
    });
    expect(upstream).toEqual({
      url: 'https://api.example',
      keys: { live, sandbox },
      acceptedKeys: ['key_0123456789abcdef01234567'],
      webhookSecrets: { live: ['whsec_old=', 'new secret'], sandbox: ['whsec_old=', 'new secret'] },
      families: ['payments', 'store', 'refunds'],
      requestsPerMinute: 60,
      windowMs: 60_000,
    });
    expect({ dataDir, demo }).toEqual({ dataDir: 'memory', demo: true });
  });

  test.each([
    ['https://api.example/', 'https://api.example'],
    ['https://api.example/v1', 'https://api.example'],
    ['https://api.example/v1/', 'https://api.example'],
    ['https://API.example:443//v1//', 'https://api.example'],
    ['https://api.example/payments/v1', 'https://api.example/payments'],
    ['https://api.example/v10', 'https://api.example/v10'],
    ['http://localhost:4000', 'http://localhost:4000'],
    ['http://127.0.0.1:4000/v1', 'http://127.0.0.1:4000'],
    ['http://[::1]:4000', 'http://[::1]:4000'],
  ])('the address %s is %s', (PSA_UPSTREAM_URL, url) => {
    expect(readConfig({ ...remote, PSA_UPSTREAM_URL }).upstream?.url).toBe(url);
  });

  test.each(['ps_live_a', 'ps_live_a.b~c+d/e-f_g==', `ps_live_${'x'.repeat(248)}`])(
    'a key of the service is taken as it is: %s',
    (PSA_UPSTREAM_LIVE_KEY) => {
      expect(readConfig({ ...remote, PSA_UPSTREAM_LIVE_KEY }).upstream?.keys.live).toBe(
        PSA_UPSTREAM_LIVE_KEY,
      );
    },
  );

  test('webhooks may go to private addresses where service and pages are on this machine', () => {
    const own = { ...remote, PSA_UPSTREAM_URL: 'http://localhost:4000' };
    expect(readConfig(own).webhookPrivateAddresses).toBe(true);
    expect(readConfig({ ...own, PUBLIC_URL: 'https://pay.example' }).webhookPrivateAddresses).toBe(false);
    expect(readConfig({ ...own, HOST: '0.0.0.0' }).webhookPrivateAddresses).toBe(false);
    expect(readConfig({ ...remote, PSA_DEMO: 'on' }).webhookPrivateAddresses).toBe(false);
  });

  test.each([
    ['PSA_UPSTREAM_LIVE_KEY', 'ps_live_'],
    ['PSA_UPSTREAM_LIVE_KEY', 'ps_live_HIDDEN key'],
    ['PSA_UPSTREAM_LIVE_KEY', 'ps_live_HIDDEN…'],
    ['PSA_UPSTREAM_LIVE_KEY', `ps_live_HIDDEN${'x'.repeat(250)}`],
    ['PSA_UPSTREAM_LIVE_KEY', 'ps_test_HIDDEN0123456789abcdef'],
    ['PSA_UPSTREAM_TEST_KEY', 'ps_live_HIDDEN0123456789abcdef'],
    ['PSA_UPSTREAM_WEBHOOK_SECRET', 'whsec_HIDDEN,'],
    ['PSA_UPSTREAM_LIMIT', '0'],
    ['PSA_UPSTREAM_LIMIT', '100001'],
    ['PSA_UPSTREAM_LIMIT', 'HIDDEN'],
    ['PSA_UPSTREAM_FAMILIES', 'HIDDEN'],
    ['PSA_UPSTREAM_ACCEPT_KEY', 'ps_live_HIDDEN'],
    ['PSA_UPSTREAM_FAMILIES', 'payments,HIDDEN'],
    ['PSA_UPSTREAM_FAMILIES', 'payments,'],
    ['PSA_UPSTREAM_FAMILIES', 'Payments'],
    ['PSA_BOOTSTRAP_LIVE_KEY', 'ps_live_HIDDEN0123456789abcdef'],
    ['PSA_BOOTSTRAP_TEST_KEY', 'ps_test_HIDDEN0123456789abcdef'],
  ])('%s=%s is refused in one line that names it, and never says its value', (name, value) => {
    const { message } = refusal({ ...remote, [name]: value });
    expect(message).toMatch(new RegExp(`^${name} must [^\n]+$`));
    expect(message).not.toContain('HIDDEN');
  });

  test.each([{ HOST: '0.0.0.0' }, { PUBLIC_URL: 'https://pay.example' }])(
    'the demo, which reads and sells for the account, is not for others: %j',
    (reached) => {
      expect(refusal({ ...remote, ...reached, PSA_DEMO: 'on' }).message).toMatch(/^PSA_DEMO must be off/);
      expect(readConfig({ ...remote, ...reached }).demo).toBe(false);
    },
  );

  test('The demo sells by card, and so needs a live key', () => {
    const { PSA_UPSTREAM_URL } = remote;
    expect(refusal({ PSA_UPSTREAM_URL, PSA_UPSTREAM_TEST_KEY: sandbox, PSA_DEMO: 'on' }).message).toMatch(
      /^PSA_DEMO must be off without PSA_UPSTREAM_LIVE_KEY/,
    );
  });

  test('An environment without a key is refused with the variables that hold one', () => {
    const { message } = refusal({ PSA_UPSTREAM_URL: 'https://api.example' });
    expect(message).toMatch(/^PSA_UPSTREAM_LIVE_KEY must be set [^\n]*PSA_UPSTREAM_TEST_KEY[^\n]*$/);
  });
});

function refusal(environment: Record<string, string>): Error {
  try {
    readConfig(environment);
  } catch (error) {
    return error as Error;
  }
  throw new Error('it was taken');
}
