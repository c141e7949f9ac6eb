import type { z } from 'zod';
import { REQUESTS_A_MINUTE } from '../../kernel/caller.ts';
import { completeDatabaseUrl } from '../../kernel/database-url.ts';
import type { Environment as TenantEnvironment } from '../../kernel/tenant.ts';
import type { UpstreamFamily } from '../../kernel/upstream-family.ts';
import type { Keep } from '../retention/model.ts';
import { findUnknownVariables } from './unknown-variables.ts';
import { environment, isLoopback, LOOPBACK } from './variables.ts';

/** The service that a server in remote mode stands in front of, and the merchant's account there. */
export interface UpstreamConfig {
  /** The base URL, without `/v1` and without a trailing slash: the document's paths are appended to it. */
  url: string;
  /** The merchant's keys at the service, one of them at least; they are this server's own keys too. */
  keys: { live?: string; sandbox?: string };
  /** The ids of keys that the operator takes for new ones of the same account, though the database does not know them. */
  acceptedKeys: readonly string[];
  /** Several during a rotation. Without any, every webhook of the environment is refused. */
  webhookSecrets: Readonly<Record<TenantEnvironment, readonly string[]>>;
  /** The families whose requests it takes in the form of this project's own service. */
  families: UpstreamFamily[];
  /** The limit of requests to the service in any 60 seconds, over both environments and all instances. */
  requestsPerMinute: number;
  /** The length of that window: 60 seconds, or less in a test. */
  windowMs: number;
}

/** The export of traces over OTLP/HTTP. */
export interface TracesConfig {
  /** The collector's address, without `/v1/traces` and without a trailing slash. */
  endpoint: string;
  headers: Record<string, string>;
  serviceName: string;
  /** The share, from 0 to 1, of the traces that begin here. A request with a traceparent follows its caller's decision. */
  share: number;
}

/** The configuration of the environment, checked and complete. */
export interface Config {
  /** Null in embedded mode. */
  upstream: UpstreamConfig | null;
  port: number;
  host: string;
  /** The base URL of links; null for `http://localhost` and the port. */
  publicUrl: string | null;
  databaseUrl: string | undefined;
  /** The most connections to the PostgreSQL for requests and due work. */
  poolSize: number;
  dataDir: string;
  /** The keys that encrypt files, the newest first; empty if none is configured. */
  dataKeys: readonly Buffer[];
  bootstrapKeys: { live: string | undefined; sandbox: string | undefined };
  /** The days for which rows that may be removed are kept; null means the default of the database. */
  keep: Keep | null;
  graphqlLimit: number;
  subscriptionLimit: number;
  /** Addresses and networks whose `X-Forwarded-For` is believed. */
  trustedProxies: string[];
  /** Trusted documents: the paths of their manifests, and the callers that may run no others. */
  trustedDocuments: { manifests: string[]; only: 'off' | 'tokens' | 'all' };
  demo: boolean;
  /** The entry to the merchant's console: closed, open to everybody who reaches the server, or by an API key. */
  console: 'off' | 'open' | 'key';
  /** Whether webhooks may go to private addresses, and without TLS. */
  webhookPrivateAddresses: boolean;
  /** Null if no traces are written. */
  traces: TracesConfig | null;
  /** The time to serve on after a SIGTERM while reporting that the server is not ready; 0 to stop at once. */
  drainMs: number;
  /** The duration from which a request is logged; 0 to log each one. */
  logSlowMs: number;
  /**
   * Whether repeated queries and the updates of subscriptions run compiled. The responses are the same without, so
   * switching it off shows whether a fault lies in the compiled code.
   */
  fastPath: boolean;
  /** Variables that begin with `PSA_`, are set and have no effect. */
  unknownVariables: readonly string[];
}

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** The folder in which the user typed the command, for relative paths: npm changes to the package's folder. */
export function invocationDir(env: NodeJS.ProcessEnv = process.env): string {
  return env.INIT_CWD || process.cwd();
}

/** The variables that are set: `VARIABLE=` in a shell or an .env file means that it is not. An editor may leave spaces, or a carriage return. */
function valuesOf(env: NodeJS.ProcessEnv): Record<string, string> {
  const trimmed = Object.entries(env).map(([name, value = '']) => [name, value.trim()]);
  return Object.fromEntries(trimmed.filter(([, value]) => value !== ''));
}

/** Reads the environment; nothing else does. @throws ConfigError naming each wrong variable, never its value */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const values = valuesOf(env);
  const { misspelt, unknown } = findUnknownVariables(values);
  if (misspelt.length > 0) throw new ConfigError(misspelt.join('; '));
  const quoted = findQuoted(values);
  if (quoted.length > 0) throw new ConfigError(quoted.join('; '));
  const { success, data, error } = environment.safeParse(values);
  if (!success)
    throw new ConfigError(
      firstPerVariable(error.issues)
        .map(({ path, message }) => `${path.join('.')} ${message}`)
        .join('; '),
    );
  const mistakes = findModeMistakes(data);
  if (mistakes.length > 0) throw new ConfigError(mistakes.join('; '));
  const isLocal = LOOPBACK.has(data.HOST);
  // The demo's pages give every visitor tokens of the merchant's real account.
  if (data.PSA_UPSTREAM_URL && data.PSA_DEMO && !(isLocal && isLoopback(data.PUBLIC_URL)))
    throw new ConfigError('PSA_DEMO must be off with PSA_UPSTREAM_URL where others reach this server');
  if (data.PSA_UPSTREAM_URL && data.PSA_DEMO && data.PSA_UPSTREAM_LIVE_KEY === undefined)
    throw new ConfigError(
      'PSA_DEMO must be off without PSA_UPSTREAM_LIVE_KEY: there are cards with a live key alone',
    );
  // A merchant chooses a webhook's URL, and could make the server send requests into its own network.
  if (data.PSA_WEBHOOK_PRIVATE_ADDRESSES && !isLocal)
    throw new ConfigError('PSA_WEBHOOK_PRIVATE_ADDRESSES must be off where HOST is no loopback address');
  if (data.PSA_CONSOLE && data.PUBLIC_URL?.startsWith('http:') && !isLoopback(data.PUBLIC_URL))
    throw new ConfigError(
      'PSA_CONSOLE must be off where PUBLIC_URL is not https: keys could be read on the way',
    );
  const upstream = toUpstreamConfig(data);
  // Behind a proxy HOST is a loopback address too, and PUBLIC_URL tells the two apart.
  const isReachedLocally = isLocal && isLoopback(data.PUBLIC_URL);
  const demo = data.PSA_DEMO ?? (isReachedLocally && !upstream);
  const openConsole = demo && isReachedLocally ? 'open' : 'off';
  return {
    upstream,
    port: data.PORT,
    host: data.HOST,
    publicUrl: data.PUBLIC_URL ?? null,
    databaseUrl: data.DATABASE_URL && completeDatabaseUrl(data.DATABASE_URL, env),
    poolSize: data.PSA_DATABASE_POOL,
    dataDir: data.PSA_DATA_DIR ?? (upstream ? '.data-upstream' : '.data'),
    dataKeys: data.PSA_DATA_KEY ?? [],
    bootstrapKeys: { live: data.PSA_BOOTSTRAP_LIVE_KEY, sandbox: data.PSA_BOOTSTRAP_TEST_KEY },
    keep: data.PSA_KEEP ?? null,
    graphqlLimit: data.PSA_GRAPHQL_LIMIT,
    subscriptionLimit: data.PSA_SUBSCRIPTION_LIMIT,
    trustedProxies: data.PSA_TRUSTED_PROXIES,
    trustedDocuments: { manifests: data.PSA_TRUSTED_DOCUMENTS, only: data.PSA_TRUSTED_DOCUMENTS_ONLY },
    demo,
    console: data.PSA_CONSOLE === undefined ? openConsole : data.PSA_CONSOLE ? 'key' : 'off',
    // A server with a public address, or in front of a service elsewhere, is not on a developer's machine.
    webhookPrivateAddresses:
      data.PSA_WEBHOOK_PRIVATE_ADDRESSES ??
      (isLocal && (upstream ? isLoopback(upstream.url) : demo) && isLoopback(data.PUBLIC_URL)),
    traces: data.OTEL_EXPORTER_OTLP_ENDPOINT
      ? {
          endpoint: data.OTEL_EXPORTER_OTLP_ENDPOINT,
          headers: data.OTEL_EXPORTER_OTLP_HEADERS,
          serviceName: data.OTEL_SERVICE_NAME,
          share: data.OTEL_TRACES_SAMPLER_ARG,
        }
      : null,
    drainMs: data.PSA_DRAIN_SECONDS * 1_000,
    logSlowMs: data.PSA_LOG_SLOW_MS,
    fastPath: data.PSA_FAST_PATH,
    unknownVariables: unknown,
  };
}

/**
 * Finds variables whose values stand in quotes, as `docker run --env-file` reads those of an .env file. A folder would have them in its
 * name, and a secret would verify nothing.
 */
function findQuoted(values: Readonly<Record<string, string>>): string[] {
  return Object.keys(environment.shape)
    .filter((name) => /^(["']).*\1$/s.test(values[name] ?? ''))
    .map((name) => `${name} is in quotes, which are not taken away here: write it without them`);
}

type Environment = z.output<typeof environment>;

/** Finds variables of the other mode: they would be ignored silently, and the user most likely means them. */
function findModeMistakes(data: Environment): string[] {
  if (data.PSA_UPSTREAM_URL === undefined)
    return UPSTREAM_ONLY.filter((name) => data[name] !== undefined).map(
      (name) => `${name} is for the remote mode: set PSA_UPSTREAM_URL as well, or unset it`,
    );
  const mistakes = EMBEDDED_ONLY.filter(([name]) => data[name] !== undefined).map(
    ([name, reason]) => `${name} must be unset with PSA_UPSTREAM_URL: ${reason}`,
  );
  if (data.PSA_UPSTREAM_LIVE_KEY === undefined && data.PSA_UPSTREAM_TEST_KEY === undefined)
    mistakes.push(
      'PSA_UPSTREAM_LIVE_KEY must be set with PSA_UPSTREAM_URL, or PSA_UPSTREAM_TEST_KEY for the sandbox, or both: your account’s API keys at the service',
    );
  return mistakes;
}

const UPSTREAM_ONLY = [
  'PSA_UPSTREAM_LIVE_KEY',
  'PSA_UPSTREAM_TEST_KEY',
  'PSA_UPSTREAM_ACCEPT_KEY',
  'PSA_UPSTREAM_WEBHOOK_SECRET',
  'PSA_UPSTREAM_TEST_WEBHOOK_SECRET',
  'PSA_UPSTREAM_FAMILIES',
  'PSA_UPSTREAM_LIMIT',
] as const;
const EMBEDDED_ONLY = [
  ['PSA_BOOTSTRAP_LIVE_KEY', 'the keys are those of the service'],
  ['PSA_BOOTSTRAP_TEST_KEY', 'the keys are those of the service'],
  ['PSA_DATA_KEY', 'files are stored by the service'],
] as const;

function toUpstreamConfig(data: Environment): UpstreamConfig | null {
  if (data.PSA_UPSTREAM_URL === undefined) return null;
  return {
    url: data.PSA_UPSTREAM_URL,
    keys: {
      ...(data.PSA_UPSTREAM_LIVE_KEY !== undefined && { live: data.PSA_UPSTREAM_LIVE_KEY }),
      ...(data.PSA_UPSTREAM_TEST_KEY !== undefined && { sandbox: data.PSA_UPSTREAM_TEST_KEY }),
    },
    acceptedKeys: data.PSA_UPSTREAM_ACCEPT_KEY ?? [],
    webhookSecrets: {
      live: data.PSA_UPSTREAM_WEBHOOK_SECRET ?? [],
      sandbox: data.PSA_UPSTREAM_TEST_WEBHOOK_SECRET ?? data.PSA_UPSTREAM_WEBHOOK_SECRET ?? [],
    },
    families: data.PSA_UPSTREAM_FAMILIES ?? [],
    requestsPerMinute: data.PSA_UPSTREAM_LIMIT ?? REQUESTS_A_MINUTE,
    windowMs: 60_000,
  };
}

/** Selects the first issue of each variable, which explains its others. */
function firstPerVariable<Issue extends { path: PropertyKey[] }>(issues: readonly Issue[]): Issue[] {
  return issues.filter((issue, index) => issues.findIndex(({ path }) => path[0] === issue.path[0]) === index);
}
