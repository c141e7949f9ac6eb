import { z } from 'zod';
import { KEY_PREFIX } from './access/model.ts';
import { isNetwork } from './kernel/network.ts';

/** What the environment says, checked and complete. */
export interface Config {
  port: number;
  host: string;
  /** What is put into links; null: `http://localhost` and the port. */
  publicUrl: string | null;
  databaseUrl: string | undefined;
  dataDir: string;
  bootstrapKeys: { live: string | undefined; sandbox: string | undefined };
  graphqlLimit: number;
  /** Addresses and networks whose `X-Forwarded-For` is believed. */
  trustedProxies: string[];
  demo: boolean;
  /** Whether webhooks may go to private addresses, and without TLS. */
  webhookPrivateAddresses: boolean;
}

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

const LOOPBACK = new Set(['127.0.0.1', 'localhost', '::1']);

/** Links are made by putting a path behind it. */
const baseUrl = z.string().refine((text) => {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && !username && !password && !/[?#]/.test(text);
}, 'must be an http or https URL without user, query and fragment');

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

const notYet = z.undefined('is for the remote mode, which this version does not have: unset it').optional();

const environment = z.object({
  PORT: wholeNumber(0, 65_535).default(4000),
  HOST: z.string().min(1, 'must not be empty').default('127.0.0.1'),
  PUBLIC_URL: baseUrl.optional(),
  DATABASE_URL: postgresUrl.optional(),
  PSA_DATA_DIR: z.string().min(1, 'must not be empty').default('.data'),
  PSA_BOOTSTRAP_LIVE_KEY: key(KEY_PREFIX.live).optional(),
  PSA_BOOTSTRAP_TEST_KEY: key(KEY_PREFIX.sandbox).optional(),
  PSA_GRAPHQL_LIMIT: wholeNumber(1, 1_000_000).default(1200),
  PSA_TRUSTED_PROXIES: networks.default([]),
  // Not built yet. Ignored, they would leave a merchant with a service of its own in place of the one it named.
  PSA_UPSTREAM_URL: notYet,
  PSA_UPSTREAM_LIVE_KEY: notYet,
  PSA_UPSTREAM_TEST_KEY: notYet,
  PSA_UPSTREAM_WEBHOOK_SECRET: notYet,
  PSA_DEMO: onOrOff.optional(),
  PSA_WEBHOOK_PRIVATE_ADDRESSES: onOrOff.optional(),
});

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
  const isLocal = LOOPBACK.has(data.HOST);
  // Whoever may name a webhook's URL could have such a server call into its own network.
  if (data.PSA_WEBHOOK_PRIVATE_ADDRESSES && !isLocal)
    throw new ConfigError('PSA_WEBHOOK_PRIVATE_ADDRESSES must be off where HOST is no loopback address');
  const demo = data.PSA_DEMO ?? isLocal;
  return {
    port: data.PORT,
    host: data.HOST,
    publicUrl: data.PUBLIC_URL?.replace(/\/+$/, '') ?? null,
    databaseUrl: data.DATABASE_URL,
    dataDir: data.PSA_DATA_DIR,
    bootstrapKeys: { live: data.PSA_BOOTSTRAP_LIVE_KEY, sandbox: data.PSA_BOOTSTRAP_TEST_KEY },
    graphqlLimit: data.PSA_GRAPHQL_LIMIT,
    trustedProxies: data.PSA_TRUSTED_PROXIES,
    demo,
    // With a public address of its own it stands behind a proxy, and is nobody's own machine.
    webhookPrivateAddresses:
      data.PSA_WEBHOOK_PRIVATE_ADDRESSES ??
      (isLocal && demo && (data.PUBLIC_URL === undefined || LOOPBACK.has(hostOf(data.PUBLIC_URL)))),
  };
}

function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[|\]$/g, '');
}

/** The first that is wrong of each variable explains the others. */
function firstOfEach<Issue extends { path: PropertyKey[] }>(issues: readonly Issue[]): Issue[] {
  return issues.filter((issue, index) => issues.findIndex(({ path }) => path[0] === issue.path[0]) === index);
}
