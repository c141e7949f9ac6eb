import { z } from 'zod';
import { KEY_PREFIX, TOKEN_TEXT } from './access/model.ts';
import { isNetwork } from './kernel/network.ts';

/** The service that a server in remote mode stands in front of, and the merchant's account there. */
export interface UpstreamConfig {
  /** Without `/v1` and without a slash at its end: a path of the document's can be put behind it. */
  url: string;
  /** The merchant's keys at the service, one of them at least; they are this server's own keys too. */
  keys: { live?: string; sandbox?: string };
  /** Several while rotating. None: no webhook is believed. */
  webhookSecrets: string[];
  /** The limit of requests to the service in any 60 seconds, over both environments and all instances. */
  requestsPerMinute: number;
  /** Those 60 seconds; a test takes fewer. */
  windowMs: number;
}

/** Where traces go, over OTLP/HTTP. */
export interface TracesConfig {
  /** The collector's address, without `/v1/traces` and without a slash at its end. */
  endpoint: string;
  headers: Record<string, string>;
  serviceName: string;
  /** The share, from 0 to 1, of the traces that begin here; a caller that sends a traceparent has decided already. */
  share: number;
}

/** The configuration of the environment, checked and complete. */
export interface Config {
  /** Null: embedded mode, the service itself. */
  upstream: UpstreamConfig | null;
  port: number;
  host: string;
  /** The origin of links; null: `http://localhost` and the port. */
  publicUrl: string | null;
  databaseUrl: string | undefined;
  dataDir: string;
  bootstrapKeys: { live: string | undefined; sandbox: string | undefined };
  graphqlLimit: number;
  subscriptionLimit: number;
  /** Addresses and networks whose `X-Forwarded-For` is believed. */
  trustedProxies: string[];
  demo: boolean;
  /** Whether webhooks may go to private addresses, and without TLS. */
  webhookPrivateAddresses: boolean;
  /** Null: none are written. */
  traces: TracesConfig | null;
  /** How long it serves on after a SIGTERM, while it says that it is not ready; 0: it stops at once. */
  drainMs: number;
  /** An answer that took this many milliseconds gets a line in the log; 0: each one does. */
  logSlowMs: number;
}

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

const LOOPBACK = new Set(['127.0.0.1', 'localhost', '::1']);

/** Links are made by putting a path behind it. */
const baseUrl = z.string().refine(isBaseUrl, 'must be an http or https URL without user, query and fragment');

/** Keys and money go there. */
const upstreamUrl = z
  .string()
  .refine(isBaseUrl, 'must be an https URL without user, query and fragment')
  .refine(
    (text) => !isBaseUrl(text) || new URL(text).protocol === 'https:' || LOOPBACK.has(hostOf(text)),
    'must begin with https://: http:// is for a service on this machine alone',
  )
  .transform((text) => {
    const { origin, pathname } = new URL(text);
    return `${origin}${pathname}`.replace(/\/+$/, '').replace(/\/v1$/, '').replace(/\/+$/, '');
  });

const postgresUrl = z
  .string()
  .regex(/^postgres(ql)?:\/\//, 'must begin with postgres:// or postgresql://')
  // An empty host behind a user means a Unix socket, which only PostgreSQL's own URLs know.
  .refine((text) => URL.canParse(text.replace('@/', '@localhost/')), 'must be a PostgreSQL URL');

const key = (prefix: string) =>
  z
    .string()
    .regex(
      new RegExp(`^${prefix}[A-Za-z0-9_-]{16,200}$`),
      `must be ${prefix} and at least 16 of A-Z a-z 0-9 _ -`,
    );

/** The service made it, so nothing is asked of it but that it can stand in a header. */
const upstreamKey = (prefix: string) =>
  z
    .string()
    .regex(
      new RegExp(`^${prefix}${TOKEN_TEXT}$`),
      `must be ${prefix} and what follows it in the service’s key`,
    )
    .max(256, 'must be at most 256 characters');

const secrets = z
  .string()
  .transform((text) => text.split(',').map((each) => each.trim()))
  .refine(
    (all) => all.every((each) => each !== ''),
    'must be secrets separated by commas, none of them empty',
  );

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .refine((number) => number >= min && number <= max, `must lie from ${min} to ${max}`);

const onOrOff = z
  .enum(['on', 'off', '1', '0', 'true', 'false'], 'must be on or off')
  .transform((text) => ['on', '1', 'true'].includes(text));

/** A prefix of 0 would be everyone: then anyone chooses what address is counted. */
const networks = z
  .string()
  .transform((text) => text.split(',').map((each) => each.trim()))
  .refine(
    (all) => all.every(isNetwork),
    'must be addresses or networks such as 10.0.0.0/8, separated by commas',
  );

/** `name=value` pairs, percent-encoded, as OpenTelemetry's specification has them. */
const otlpHeaders = z
  .string()
  .transform((text) => text.split(',').map((pair) => /^\s*([^=]+?)\s*=\s*(.*?)\s*$/.exec(pair)))
  .refine(
    (pairs) => pairs.every((pair) => pair && isHeader(pair[1]!, pair[2]!)),
    'must be name=value pairs separated by commas, the values percent-encoded',
  )
  .transform((pairs) =>
    Object.fromEntries(pairs.map((pair) => [pair![1]!.toLowerCase(), decodeURIComponent(pair![2]!)])),
  );

const share = z
  .string()
  .regex(/^(0(\.\d+)?|1(\.0+)?)$/, 'must be a number from 0 to 1')
  .transform(Number);

const environment = z.object({
  PORT: wholeNumber(0, 65_535).default(4000),
  HOST: z.string().min(1, 'must not be empty').default('127.0.0.1'),
  PUBLIC_URL: baseUrl.optional(),
  DATABASE_URL: postgresUrl.optional(),
  PSA_DATA_DIR: z.string().min(1, 'must not be empty').optional(),
  PSA_BOOTSTRAP_LIVE_KEY: key(KEY_PREFIX.live).optional(),
  PSA_BOOTSTRAP_TEST_KEY: key(KEY_PREFIX.sandbox).optional(),
  PSA_GRAPHQL_LIMIT: wholeNumber(1, 1_000_000).default(1200),
  PSA_SUBSCRIPTION_LIMIT: wholeNumber(1, 1_000_000).default(20_000),
  PSA_TRUSTED_PROXIES: networks.default([]),
  PSA_UPSTREAM_URL: upstreamUrl.optional(),
  PSA_UPSTREAM_LIVE_KEY: upstreamKey(KEY_PREFIX.live).optional(),
  PSA_UPSTREAM_TEST_KEY: upstreamKey(KEY_PREFIX.sandbox).optional(),
  PSA_UPSTREAM_WEBHOOK_SECRET: secrets.optional(),
  PSA_UPSTREAM_LIMIT: wholeNumber(1, 100_000).optional(),
  PSA_DEMO: onOrOff.optional(),
  PSA_WEBHOOK_PRIVATE_ADDRESSES: onOrOff.optional(),
  PSA_DRAIN_SECONDS: wholeNumber(0, 300).default(3),
  PSA_LOG_SLOW_MS: wholeNumber(0, 3_600_000).default(1_000),
  // OpenTelemetry's own names, so that what is set for other programs of a machine holds for this one.
  OTEL_EXPORTER_OTLP_ENDPOINT: baseUrl.optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: z
    .enum(
      ['http/json', 'http/protobuf'],
      'must be http/json: traces go over HTTP, to port 4318 of most collectors',
    )
    .optional(),
  OTEL_EXPORTER_OTLP_HEADERS: otlpHeaders.default({}),
  OTEL_SERVICE_NAME: z.string().max(100, 'must be at most 100 characters').default('psa'),
  OTEL_TRACES_SAMPLER_ARG: share.default(1),
});

/** Where the command was typed, and what names in it are relative to: npm itself goes to the package's folder. */
export function invocationDir(env: NodeJS.ProcessEnv = process.env): string {
  return env.INIT_CWD || process.cwd();
}

/** The only reader of the environment. @throws ConfigError naming each variable that is wrong, never its value */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  // `VARIABLE=` in a shell or an .env file means that it is not set.
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const { success, data, error } = environment.safeParse(given);
  if (!success)
    throw new ConfigError(
      firstOfEach(error.issues)
        .map(({ path, message }) => `${path.join('.')} ${message}`)
        .join('; '),
    );
  const mistakes = modeMistakes(data);
  if (mistakes.length > 0) throw new ConfigError(mistakes.join('; '));
  const isLocal = LOOPBACK.has(data.HOST);
  // Its pages hand out tokens of the merchant's real account to every visitor.
  if (data.PSA_UPSTREAM_URL && data.PSA_DEMO && !(isLocal && isLoopback(data.PUBLIC_URL)))
    throw new ConfigError('PSA_DEMO must be off with PSA_UPSTREAM_URL where others reach this server');
  if (data.PSA_UPSTREAM_URL && data.PSA_DEMO && data.PSA_UPSTREAM_LIVE_KEY === undefined)
    throw new ConfigError(
      'PSA_DEMO must be off without PSA_UPSTREAM_LIVE_KEY: there are cards with a live key alone',
    );
  // A merchant names a webhook's URL, and could make such a server call into its own network.
  if (data.PSA_WEBHOOK_PRIVATE_ADDRESSES && !isLocal)
    throw new ConfigError('PSA_WEBHOOK_PRIVATE_ADDRESSES must be off where HOST is no loopback address');
  const upstream = upstreamOf(data);
  const demo = data.PSA_DEMO ?? (isLocal && !upstream);
  return {
    upstream,
    port: data.PORT,
    host: data.HOST,
    publicUrl: data.PUBLIC_URL?.replace(/\/+$/, '') ?? null,
    databaseUrl: data.DATABASE_URL,
    dataDir: data.PSA_DATA_DIR ?? (upstream ? '.data-upstream' : '.data'),
    bootstrapKeys: { live: data.PSA_BOOTSTRAP_LIVE_KEY, sandbox: data.PSA_BOOTSTRAP_TEST_KEY },
    graphqlLimit: data.PSA_GRAPHQL_LIMIT,
    subscriptionLimit: data.PSA_SUBSCRIPTION_LIMIT,
    trustedProxies: data.PSA_TRUSTED_PROXIES,
    demo,
    // With a public address of its own, or a service elsewhere, it is nobody's own machine.
    webhookPrivateAddresses:
      data.PSA_WEBHOOK_PRIVATE_ADDRESSES ??
      (isLocal && (upstream ? isLoopback(upstream.url) : demo) && isLoopback(data.PUBLIC_URL)),
    traces: data.OTEL_EXPORTER_OTLP_ENDPOINT
      ? {
          endpoint: data.OTEL_EXPORTER_OTLP_ENDPOINT.replace(/\/+$/, ''),
          headers: data.OTEL_EXPORTER_OTLP_HEADERS,
          serviceName: data.OTEL_SERVICE_NAME,
          share: data.OTEL_TRACES_SAMPLER_ARG,
        }
      : null,
    drainMs: data.PSA_DRAIN_SECONDS * 1_000,
    logSlowMs: data.PSA_LOG_SLOW_MS,
  };
}

type Environment = z.output<typeof environment>;

/** Refuses variables of the one mode in the other: they would be ignored silently, and are most likely meant. */
function modeMistakes(data: Environment): string[] {
  if (data.PSA_UPSTREAM_URL === undefined)
    return UPSTREAM_ONLY.filter((name) => data[name] !== undefined).map(
      (name) => `${name} is for the remote mode: set PSA_UPSTREAM_URL as well, or unset it`,
    );
  const mistakes = EMBEDDED_ONLY.filter((name) => data[name] !== undefined).map(
    (name) => `${name} must be unset with PSA_UPSTREAM_URL: the keys are those of the service`,
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
  'PSA_UPSTREAM_WEBHOOK_SECRET',
  'PSA_UPSTREAM_LIMIT',
] as const;
const EMBEDDED_ONLY = ['PSA_BOOTSTRAP_LIVE_KEY', 'PSA_BOOTSTRAP_TEST_KEY'] as const;

/** The document's section 8. */
const REQUESTS_PER_MINUTE = 120;

function upstreamOf(data: Environment): UpstreamConfig | null {
  if (data.PSA_UPSTREAM_URL === undefined) return null;
  return {
    url: data.PSA_UPSTREAM_URL,
    keys: {
      ...(data.PSA_UPSTREAM_LIVE_KEY !== undefined && { live: data.PSA_UPSTREAM_LIVE_KEY }),
      ...(data.PSA_UPSTREAM_TEST_KEY !== undefined && { sandbox: data.PSA_UPSTREAM_TEST_KEY }),
    },
    webhookSecrets: data.PSA_UPSTREAM_WEBHOOK_SECRET ?? [],
    requestsPerMinute: data.PSA_UPSTREAM_LIMIT ?? REQUESTS_PER_MINUTE,
    windowMs: 60_000,
  };
}

function isBaseUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && !username && !password && !/[?#]/.test(text);
}

function isHeader(name: string, value: string): boolean {
  try {
    return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) && /^[\t -~]*$/.test(decodeURIComponent(value));
  } catch {
    return false;
  }
}

/** So is a server whose address is not said. */
export function isLoopback(url: string | undefined): boolean {
  return url === undefined || LOOPBACK.has(hostOf(url));
}

function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[|\]$/g, '');
}

/** The first that is wrong of each variable explains the others. */
function firstOfEach<Issue extends { path: PropertyKey[] }>(issues: readonly Issue[]): Issue[] {
  return issues.filter((issue, index) => issues.findIndex(({ path }) => path[0] === issue.path[0]) === index);
}
