import { z } from 'zod';
import { KEY_PREFIX, REQUESTS_A_MINUTE, TOKEN_TEXT } from '../../kernel/caller.ts';
import { DatabaseUrlError, parseDatabaseUrl } from '../../kernel/database-url.ts';
import { isNetwork } from '../../kernel/network.ts';
import { readSealingKeys } from '../../kernel/sealing.ts';
import { UPSTREAM_FAMILIES, type UpstreamFamily } from '../../kernel/upstream-family.ts';
import { KEPT, LEAST_DAYS, parseKeep } from '../retention/model.ts';

export const LOOPBACK = new Set(['127.0.0.1', 'localhost', '::1']);

/** The documented format of the values that a schema accepts. */
const formats = z.registry<{ format: string }>();

/** Writes a base URL as a browser does, without a slash at its end: `new URL` also accepts spaces around it, `\\` and `HTTPS:`. */
function normalizeBaseUrl(text: string): string {
  const { origin, pathname } = new URL(text);
  return `${origin}${pathname}`.replace(/\/+$/, '');
}

/** A URL to which paths are appended. */
const baseUrl = z
  .string()
  .refine(isBaseUrl, 'must be an http or https URL without user, query and fragment')
  .transform(normalizeBaseUrl)
  .register(formats, { format: 'http or https URL' });

/** The URL of the payments service. It must use TLS, because keys are sent there. */
const upstreamUrl = z
  .string()
  .refine(isBaseUrl, 'must be an https URL without user, query and fragment')
  .refine(
    (text) => !isBaseUrl(text) || new URL(text).protocol === 'https:' || LOOPBACK.has(hostOf(text)),
    'must begin with https://: http:// is for a service on this machine alone',
  )
  .transform((text) => normalizeBaseUrl(text).replace(/\/v1$/, '').replace(/\/+$/, ''))
  .register(formats, { format: 'https URL; http on this machine' });

const postgresUrl = z
  .string()
  .check(({ value, issues }) => {
    try {
      parseDatabaseUrl(value);
    } catch (error) {
      if (!(error instanceof DatabaseUrlError)) throw error;
      issues.push({ code: 'custom', message: error.message, input: value });
    }
  })
  .register(formats, { format: 'postgres:// URL' });

const key = (prefix: string) =>
  z
    .string()
    .regex(
      new RegExp(`^${prefix}[A-Za-z0-9_-]{16,200}$`),
      `must be ${prefix} and at least 16 of A-Z a-z 0-9 _ -`,
    )
    .register(formats, { format: `${prefix} and at least 16 characters` });

/** A key that the service issued: it only has to fit into a header. */
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

const dataKeys = z
  .string()
  .transform((text) => readSealingKeys(text))
  .refine(
    (keys) => keys !== null,
    'must be keys separated by commas, each of 32 bytes in base64, as openssl rand -base64 32 prints them',
  )
  .transform((keys) => keys ?? [])
  .register(formats, { format: 'keys of 32 bytes in base64, separated by commas' });

const keyIds = z
  .string()
  .transform((text) => text.split(',').map((each) => each.trim()))
  .refine(
    (all) => all.every((each) => /^key_[0-9a-f]{24}$/.test(each)),
    'must be ids separated by commas, each key_ and 24 hex digits, as the refused start has named them',
  )
  .register(formats, { format: 'key_…, separated by commas' });

const families = z
  .string()
  .transform((text) => text.split(',').map((each) => each.trim()))
  .refine(
    (all): all is UpstreamFamily[] =>
      all.every((each) => UPSTREAM_FAMILIES.some((family) => family === each)),
    `must be words separated by commas, each one of ${UPSTREAM_FAMILIES.join(', ')}`,
  )
  .register(formats, { format: 'families, separated by commas' });

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .refine((number) => number >= min && number <= max, `must lie from ${min} to ${max}`)
    .register(formats, { format: `${min} to ${max}` });

const paths = z
  .string()
  .transform((text) => text.split(',').map((each) => each.trim()))
  .refine((all) => all.every((each) => each !== ''), 'must be paths separated by commas, none of them empty')
  .register(formats, { format: 'paths, separated by commas' });

const trustedOnly = z
  .enum(['off', 'tokens', 'all'], 'must be off, tokens or all')
  .register(formats, { format: 'off, tokens or all' });

const keep = z
  .string()
  .refine(
    (text) => parseKeep(text) !== null,
    `must be forever, or parts separated by commas such as events:90d: ${KEPT.join(', ')}, each once, with days (events ${LEAST_DAYS.events}d at least) or forever`,
  )
  .transform((text) => parseKeep(text)!)
  .register(formats, { format: 'forever, or parts such as events:90d, separated by commas' });

const onOrOff = z
  .enum(['on', 'off', '1', '0', 'true', 'false'], 'must be on or off')
  .transform((text) => ['on', '1', 'true'].includes(text))
  .register(formats, { format: 'on or off' });

/** Trusted networks. A prefix of 0 is refused: every client could then choose the address that is counted. */
const networks = z
  .string()
  .transform((text) => text.split(',').map((each) => each.trim()))
  .refine(
    (all) => all.every(isNetwork),
    'must be addresses or networks such as 10.0.0.0/8, separated by commas',
  )
  .register(formats, { format: 'addresses and networks, separated by commas' });

/** `name=value` pairs, percent-encoded, as OpenTelemetry specifies them. */
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
const folder = z
  .string()
  .min(1, 'must not be empty')
  .refine(
    (text) => !/^(?:~(?:[/\\]|$)|\$)/.test(text),
    'must not begin with ~ or $, which only a shell replaces',
  )
  .register(formats, { format: 'a path, or memory' });
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
  /** The behavior of an unset variable, if the schema has no default for it. */
  unset?: string;
}

const documentation = z.registry<Documentation>();

export const environment = z.object({
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
    meaning:
      'a PostgreSQL, or several servers of one, separated by commas; instances may share it, and then share every limit',
    unset: 'PGlite in PSA_DATA_DIR',
  }),
  PSA_DATABASE_POOL: wholeNumber(2, 1_000).default(10).register(documentation, {
    group: 'Address and data',
    meaning:
      'the most connections of an instance to that PostgreSQL for requests and due work; it has two more',
  }),
  PSA_DATA_DIR: folder.optional().register(documentation, {
    group: 'Address and data',
    meaning: 'the folder of PGlite, for one process; memory keeps nothing',
    unset: '.data; .data-upstream in remote mode',
  }),
  PSA_DATA_KEY: dataKeys.optional().register(documentation, {
    group: 'Address and data',
    meaning:
      'encrypts the files of disputes; the first key encrypts, the others decrypt what they have encrypted. The same on each instance; not in remote mode',
    unset: 'PSA_DATA_DIR/data.key, made at the first start; with DATABASE_URL files are refused',
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
  PSA_KEEP: keep.optional().register(documentation, {
    group: 'Address and data',
    meaning:
      'for how many days events, ended webhook deliveries, the headers and answers of their attempts (bodies) and ended tokens are kept; what is left out is kept as by default',
    unset:
      'events:90d,deliveries:90d,bodies:14d,tokens:90d; forever on a database with events from before this variable',
  }),
  PSA_GRAPHQL_LIMIT: wholeNumber(1, 1_000_000).default(1200).register(documentation, {
    group: 'Clients',
    meaning: 'root fields a minute for an API key on /graphql',
  }),
  PSA_SUBSCRIPTION_LIMIT: wholeNumber(1, 1_000_000).default(20_000).register(documentation, {
    group: 'Clients',
    meaning:
      'open subscriptions of the keys and dashboards of an account and environment on an instance; half of it for a key, a 20th for a token. Its payers have half as many beside these, a 40th of it from one network and a 200th with one token',
  }),
  PSA_TRUSTED_DOCUMENTS: paths.default([]).register(documentation, {
    group: 'Clients',
    meaning: 'manifests of documents that clients of /graphql may name by their identifiers',
  }),
  PSA_TRUSTED_DOCUMENTS_ONLY: trustedOnly.default('off').register(documentation, {
    group: 'Clients',
    meaning:
      'callers that may run only the documents of those manifests and of our packages: none (off), all but API keys (tokens), or everybody (all)',
  }),
  PSA_TRUSTED_PROXIES: networks.default([]).register(documentation, {
    group: 'Clients',
    meaning:
      'proxies whose X-Forwarded-For is believed, such as 10.0.0.5,192.168.0.0/16; set it behind any proxy',
  }),
  PSA_DEMO: onOrOff.optional().register(documentation, {
    group: 'Clients',
    meaning: 'the shop, the gallery, the simulator and GraphiQL; in remote mode those of the real account',
    unset: 'on where HOST and PUBLIC_URL are loopback addresses; off in remote mode',
  }),
  PSA_CONSOLE: onOrOff.optional().register(documentation, {
    group: 'Clients',
    meaning: 'the merchant’s console at /console, which asks for an API key; off has none',
    unset: 'with the demo on loopback addresses, without a key; off elsewhere',
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
  PSA_UPSTREAM_ACCEPT_KEY: keyIds.optional().register(documentation, {
    group: 'Remote mode',
    meaning:
      'the ids of new keys of the same account, as the refused start names them: the key of another account would show what is this account’s',
    unset: 'a database that has had a key takes no other',
  }),
  PSA_UPSTREAM_WEBHOOK_SECRET: secrets.optional().register(documentation, {
    group: 'Remote mode',
    meaning: 'verifies the webhooks of the service; several while rotating',
    unset: 'webhooks are refused',
  }),
  PSA_UPSTREAM_TEST_WEBHOOK_SECRET: secrets.optional().register(documentation, {
    group: 'Remote mode',
    meaning: 'verifies those of the sandbox, and no others: who has it alone can report no sale as paid',
    unset: 'the one above verifies them too',
  }),
  PSA_UPSTREAM_FAMILIES: families.optional().register(documentation, {
    group: 'Remote mode',
    meaning: `the families whose creations and changes the service takes in the form of this project’s own service, as you have seen: ${UPSTREAM_FAMILIES.join(', ')}`,
    unset: 'none: they are NOT_OFFERED, and nothing is sent',
  }),
  PSA_UPSTREAM_LIMIT: wholeNumber(1, 100_000)
    .optional()
    .register(documentation, {
      group: 'Remote mode',
      meaning:
        'requests to the service in any 60 seconds, of all instances together; less where others use the account too',
      unset: String(REQUESTS_A_MINUTE),
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
  // OpenTelemetry's standard names, so that a machine's settings for other programs apply to this one too.
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

/** The documentation of a variable in the documents and in the help of `npm start`. */
interface DocumentedVariable {
  name: string;
  group: string;
  meaning: string;
  format: string;
  /** Empty if the variable has no default. */
  unset: string;
}

/** Describes every variable, in the order of the schema. @throws Error for one without documentation */
export function describeVariables(): DocumentedVariable[] {
  return Object.entries(environment.shape).map(([name, schema]) => {
    const described = documentation.get(schema);
    const format = formats.get(schema.unwrap())?.format;
    if (!described || !format) throw new Error(`${name} is not documented`);
    const defaults = schema instanceof z.ZodDefault ? [schema.parse(undefined)].flat() : [];
    const unset = defaults.filter((value) => typeof value !== 'object').join();
    return { name, format, unset, ...described };
  });
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

/** Whether a URL is of this machine. Undefined is: a server without PUBLIC_URL is not reached from elsewhere. */
export function isLoopback(url: string | undefined): boolean {
  return url === undefined || LOOPBACK.has(hostOf(url));
}

function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[|\]$/g, '');
}
