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
  /**
   * Whether queries that were answered before, and the updates of subscriptions, run compiled. The responses are the same
   * without: it shows whether a fault lies in the compiled ones.
   */
  fastPath: boolean;
}

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

const LOOPBACK = new Set(['127.0.0.1', 'localhost', '::1']);

/** The document's section 8. */
const REQUESTS_PER_MINUTE = 120;

/** The values that a schema accepts, in words. */
const formats = z.registry<{ format: string }>();

/** Links are made by putting a path behind it. */
const baseUrl = z
  .string()
  .refine(isBaseUrl, 'must be an http or https URL without user, query and fragment')
  .register(formats, { format: 'http or https URL' });

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
  })
  .register(formats, { format: 'https URL; http on this machine' });

const postgresUrl = z
  .string()
  .regex(/^postgres(ql)?:\/\//, 'must begin with postgres:// or postgresql://')
  // An empty host behind a user means a Unix socket, which only PostgreSQL's own URLs know.
  .refine((text) => URL.canParse(text.replace('@/', '@localhost/')), 'must be a PostgreSQL URL')
  .register(formats, { format: 'postgres:// URL' });

const key = (prefix: string) =>
  z
    .string()
    .regex(
      new RegExp(`^${prefix}[A-Za-z0-9_-]{16,200}$`),
      `must be ${prefix} and at least 16 of A-Z a-z 0-9 _ -`,
    )
    .register(formats, { format: `${prefix} and at least 16 characters` });

/** The service made it, so nothing is asked of it but that it can stand in a header. */
const upstreamKey = (prefix: string) =>
  z
    .string()
    .regex(
      new RegExp(`^${prefix}${TOKEN_TEXT}$`),
      `must be ${prefix} and what follows it in the service’s key`,
    )
    .max(256, 'must be at most 256 characters')
    .register(formats, { format: `${prefix}…` });

const secrets = z
  .string()
  .transform((text) => text.split(',').map((each) => each.trim()))
  .refine(
    (all) => all.every((each) => each !== ''),
    'must be secrets separated by commas, none of them empty',
  )
  .register(formats, { format: 'secrets, separated by commas' });

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .refine((number) => number >= min && number <= max, `must lie from ${min} to ${max}`)
    .register(formats, { format: `${min} to ${max}` });

const onOrOff = z
  .enum(['on', 'off', '1', '0', 'true', 'false'], 'must be on or off')
  .transform((text) => ['on', '1', 'true'].includes(text))
  .register(formats, { format: 'on or off' });

/** A prefix of 0 would be everyone: then anyone chooses what address is counted. */
const networks = z
  .string()
  .transform((text) => text.split(',').map((each) => each.trim()))
  .refine(
    (all) => all.every(isNetwork),
    'must be addresses or networks such as 10.0.0.0/8, separated by commas',
  )
  .register(formats, { format: 'addresses and networks, separated by commas' });

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
  )
  .register(formats, { format: 'name=value pairs, separated by commas, percent-encoded' });

const share = z
  .string()
  .regex(/^(0(\.\d+)?|1(\.0+)?)$/, 'must be a number from 0 to 1')
  .transform(Number)
  .register(formats, { format: 'a number from 0 to 1' });

const text = z.string().register(formats, { format: 'text' });
const address = z
  .string()
  .min(1, 'must not be empty')
  .register(formats, { format: 'an address or a host name' });
const folder = z.string().min(1, 'must not be empty').register(formats, { format: 'a path, or memory' });
const otlpProtocol = z
  .enum(
    ['http/json', 'http/protobuf'],
    'must be http/json: traces go over HTTP, to port 4318 of most collectors',
  )
  .register(formats, { format: 'http/json or http/protobuf' });

/** The documentation of a variable, from which `npm run regenerate` writes its table and the help of `npm start`. */
interface Documentation {
  group: 'Address and data' | 'Clients' | 'Remote mode' | 'Logs and traces';
  meaning: string;
  /** The value where the variable is not set, for a default that the schema does not have. */
  unset?: string;
}

const documentation = z.registry<Documentation>();

const environment = z.object({
  PORT: wholeNumber(0, 65_535).default(4000).register(documentation, {
    group: 'Address and data',
    meaning: 'the port to listen on; 0 takes any free one',
  }),
  HOST: address.default('127.0.0.1').register(documentation, {
    group: 'Address and data',
    meaning: 'the address to listen on; 0.0.0.0 for all of this machine',
  }),
  PUBLIC_URL: baseUrl.optional().register(documentation, {
    group: 'Address and data',
    meaning: 'the address of this server in links, and for the webhooks of a service behind it',
    unset: 'http://localhost:$PORT',
  }),
  DATABASE_URL: postgresUrl.optional().register(documentation, {
    group: 'Address and data',
    meaning: 'a PostgreSQL; several instances may share it, and then share every limit',
    unset: 'PGlite in PSA_DATA_DIR',
  }),
  PSA_DATA_DIR: folder.optional().register(documentation, {
    group: 'Address and data',
    meaning: 'the folder of PGlite, for one process; memory keeps nothing',
    unset: '.data; .data-upstream in remote mode',
  }),
  PSA_BOOTSTRAP_LIVE_KEY: key(KEY_PREFIX.live).optional().register(documentation, {
    group: 'Address and data',
    meaning: 'the live key of the first account, on an empty database; not in remote mode',
    unset: 'generated, printed once',
  }),
  PSA_BOOTSTRAP_TEST_KEY: key(KEY_PREFIX.sandbox).optional().register(documentation, {
    group: 'Address and data',
    meaning: 'its test key',
    unset: 'generated, printed once',
  }),
  PSA_GRAPHQL_LIMIT: wholeNumber(1, 1_000_000).default(1200).register(documentation, {
    group: 'Clients',
    meaning: 'root fields a minute for an API key on /graphql',
  }),
  PSA_SUBSCRIPTION_LIMIT: wholeNumber(1, 1_000_000).default(20_000).register(documentation, {
    group: 'Clients',
    meaning:
      'open subscriptions of an account and environment on an instance; half of it for a key, a 20th for a token',
  }),
  PSA_TRUSTED_PROXIES: networks.default([]).register(documentation, {
    group: 'Clients',
    meaning:
      'proxies whose X-Forwarded-For is believed, such as 10.0.0.5,192.168.0.0/16; set it behind any proxy',
  }),
  PSA_DEMO: onOrOff.optional().register(documentation, {
    group: 'Clients',
    meaning: 'the shop, the dashboard, the simulator and GraphiQL; in remote mode those of the real account',
    unset: 'on where HOST is a loopback address; off in remote mode',
  }),
  PSA_WEBHOOK_PRIVATE_ADDRESSES: onOrOff.optional().register(documentation, {
    group: 'Clients',
    meaning:
      'whether webhooks may go to private addresses and over http; only where HOST is a loopback address',
    unset: 'on where HOST and PUBLIC_URL are local, with the demo or a local service behind',
  }),
  PSA_DRAIN_SECONDS: wholeNumber(0, 300).default(3).register(documentation, {
    group: 'Clients',
    meaning: 'seconds to serve on after a SIGTERM, while /readyz answers 503; 0 stops at once',
  }),
  PSA_UPSTREAM_URL: upstreamUrl.optional().register(documentation, {
    group: 'Remote mode',
    meaning:
      'the payments service, with or without /v1: the server is a facade in front of it; --upstream URL sets it too',
    unset: 'the embedded service',
  }),
  PSA_UPSTREAM_LIVE_KEY: upstreamKey(KEY_PREFIX.live).optional().register(documentation, {
    group: 'Remote mode',
    meaning: 'the live key of the account at the service; callers of this server use the same',
  }),
  PSA_UPSTREAM_TEST_KEY: upstreamKey(KEY_PREFIX.sandbox).optional().register(documentation, {
    group: 'Remote mode',
    meaning: 'its test key; one of the two is enough',
  }),
  PSA_UPSTREAM_WEBHOOK_SECRET: secrets.optional().register(documentation, {
    group: 'Remote mode',
    meaning: 'verifies the webhooks of the service; several while rotating, and for live and sandbox',
    unset: 'webhooks are refused',
  }),
  PSA_UPSTREAM_LIMIT: wholeNumber(1, 100_000)
    .optional()
    .register(documentation, {
      group: 'Remote mode',
      meaning:
        'requests to the service in any 60 seconds, of all instances together; less where others use the account too',
      unset: String(REQUESTS_PER_MINUTE),
    }),
  PSA_LOG_SLOW_MS: wholeNumber(0, 3_600_000).default(1_000).register(documentation, {
    group: 'Logs and traces',
    meaning: 'milliseconds after which a request is logged; 0 logs each one',
  }),
  PSA_FAST_PATH: onOrOff.default(true).register(documentation, {
    group: 'Logs and traces',
    meaning:
      'compiled answers to repeated queries; off gives the same responses without them, to find the place of a fault',
    unset: 'on',
  }),
  // OpenTelemetry's own names, so that what is set for other programs of a machine holds for this one.
  OTEL_EXPORTER_OTLP_ENDPOINT: baseUrl.optional().register(documentation, {
    group: 'Logs and traces',
    meaning: 'the collector of traces over OTLP/HTTP, such as http://127.0.0.1:4318',
    unset: 'no traces',
  }),
  OTEL_EXPORTER_OTLP_PROTOCOL: otlpProtocol.optional().register(documentation, {
    group: 'Logs and traces',
    meaning: 'traces are sent over HTTP as JSON with either value; grpc is refused',
    unset: 'http/json',
  }),
  OTEL_EXPORTER_OTLP_HEADERS: otlpHeaders.default({}).register(documentation, {
    group: 'Logs and traces',
    meaning: 'headers of each request to the collector',
  }),
  OTEL_SERVICE_NAME: text.max(100, 'must be at most 100 characters').default('psa').register(documentation, {
    group: 'Logs and traces',
    meaning: 'the name of this service in the traces, at most 100 characters',
  }),
  OTEL_TRACES_SAMPLER_ARG: share.default(1).register(documentation, {
    group: 'Logs and traces',
    meaning: 'the share of traces that is written, of those that begin here',
  }),
});

/** A variable as the documents and the help of `npm start` show it. */
interface DocumentedVariable {
  name: string;
  group: string;
  meaning: string;
  format: string;
  /** Empty where the variable has no value unless it is set. */
  unset: string;
}

/** Describes every variable, in the order of the schema. @throws Error for one without documentation */
export function describeVariables(): DocumentedVariable[] {
  return Object.entries(environment.shape).map(([name, schema]) => {
    const described = documentation.get(schema);
    const format = formats.get(schema.unwrap())?.format;
    if (!described || !format) throw new Error(`${name} is not documented`);
    const byDefault = schema instanceof z.ZodDefault ? [schema.parse(undefined)].flat() : [];
    const given = byDefault.filter((value) => typeof value !== 'object').join();
    return { name, format, unset: given, ...described };
  });
}

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
    fastPath: data.PSA_FAST_PATH,
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
