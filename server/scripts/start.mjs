import { ensureParts, RUNNABLE } from './build.mjs';
import { ensureInstalled } from './install.mjs';
import { endWithNpm, fail, isMain } from './progress.mjs';

const USAGE = `Usage: npm start                       for example: PORT=4200 PSA_DATA_DIR=memory npm start
       npm start -- --upstream URL    in front of the service at URL; the same as PSA_UPSTREAM_URL

Installs and builds what is not up to date, then starts the server. Ctrl-C stops it.
Without any configuration it is a payments service of its own, on http://localhost:4000/graphql.

Environment variables
  PORT                         where it listens (4000)
  HOST                         on which address (127.0.0.1)
  PUBLIC_URL                   the address in its links (http://localhost:$PORT)
  DATABASE_URL                 a PostgreSQL; without it PGlite keeps the data in PSA_DATA_DIR
  PSA_DATA_DIR                 PGlite's folder (.data; .data-upstream in front of a service), or "memory" for none
  PSA_BOOTSTRAP_LIVE_KEY       the first account's keys on an empty database
  PSA_BOOTSTRAP_TEST_KEY       (generated and printed once)
  PSA_GRAPHQL_LIMIT            root fields a minute for an API key on /graphql (1200)
  PSA_SUBSCRIPTION_LIMIT       open subscriptions of an account and environment on an instance (20000); half for a key
  PSA_TRUSTED_PROXIES          proxies whose X-Forwarded-For is trusted: 10.0.0.5,192.168.0.0/16 (none)
  PSA_WEBHOOK_PRIVATE_ADDRESSES  webhooks may go to private addresses and over http, on or off (as PSA_DEMO)
  PSA_DEMO                     shop, dashboard, simulator and GraphiQL, on or off: on unless HOST is reached from elsewhere
  PSA_DRAIN_SECONDS            how long it serves after a SIGTERM, until its proxies have noticed (3)
  PSA_LOG_SLOW_MS              a request that takes as long gets a line in the log (1000); 0: each one
  OTEL_EXPORTER_OTLP_ENDPOINT  where traces go, over OTLP/HTTP: http://127.0.0.1:4318 (nowhere)

In front of a service
  PSA_UPSTREAM_URL             its address: https, or http on this machine
  PSA_UPSTREAM_LIVE_KEY        your account's API keys there; one is enough
  PSA_UPSTREAM_TEST_KEY
  PSA_UPSTREAM_WEBHOOK_SECRET  the secret of its webhooks; several, separated by commas, while rotating
  PSA_UPSTREAM_LIMIT           how many requests it may get in a minute (120)
`;

/**
 * The address of the service in `--upstream URL` or `--upstream=URL`. Ends the process at any other argument.
 *
 * @param {string[]} args @returns {string | undefined}
 */
function upstreamOf(args) {
  const [first, ...rest] = args;
  if (first === undefined) return undefined;
  const [, joined] = /^--upstream(?:=(.*))?$/s.exec(first) ?? fail(unknown(first));
  const [url, ...others] = joined === undefined ? rest : [joined, ...rest];
  if (!url || url.startsWith('-'))
    fail('--upstream needs the address of the service, as in npm start -- --upstream https://api.example');
  if (others[0] !== undefined) fail(unknown(others[0]));
  return url;
}

/** @param {string} argument */
function unknown(argument) {
  return `Unknown argument ${argument}: settings are environment variables, as in PORT=4200 npm start`;
}

if (isMain(import.meta.url)) {
  const args = process.argv.slice(2);
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(USAGE);
  } else {
    const upstream = upstreamOf(args);
    if (upstream !== undefined) process.env.PSA_UPSTREAM_URL = upstream;
    endWithNpm();
    await ensureInstalled();
    await ensureParts([...RUNNABLE]);
    // Outside production GraphQL and others check more and run slower.
    process.env.NODE_ENV ??= 'production';
    await import(new URL('../dist/main.js', import.meta.url).href);
  }
}
