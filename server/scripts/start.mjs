import { ensureBuilt } from './build.mjs';
import { ensureInstalled } from './install.mjs';
import { endWithNpm, fail, isMain } from './progress.mjs';

const USAGE = `Usage: npm start        for example: PORT=4200 PSA_DATA_DIR=memory npm start

Installs and builds what is not up to date, then starts the server. Ctrl-C stops it.
Without any configuration it is a payments service of its own, on http://localhost:4000/graphql.

Environment variables
  PORT                         where it listens (4000)
  HOST                         on which address (127.0.0.1)
  PUBLIC_URL                   what it puts into links (http://localhost:$PORT)
  DATABASE_URL                 a PostgreSQL; without it PGlite keeps the data in PSA_DATA_DIR
  PSA_DATA_DIR                 PGlite's folder (.data), or "memory" for none
  PSA_BOOTSTRAP_LIVE_KEY       the first account's keys on an empty database
  PSA_BOOTSTRAP_TEST_KEY       (generated and printed once)
  PSA_GRAPHQL_LIMIT            root fields a minute for an API key on /graphql (1200)
  PSA_TRUSTED_PROXIES          proxies whose X-Forwarded-For is believed: 10.0.0.5,192.168.0.0/16 (none)
  PSA_WEBHOOK_PRIVATE_ADDRESSES  webhooks may go to private addresses and over http, on or off (as PSA_DEMO)
  PSA_DEMO                     shop, dashboard, simulator and GraphiQL, on or off: on unless HOST is reached from elsewhere
`;

if (isMain(import.meta.url)) {
  if (process.argv.includes('--help') || process.argv.includes('-h')) {
    process.stdout.write(USAGE);
  } else if (process.argv.length > 2) {
    fail(
      `Unknown argument ${process.argv[2]}: settings are environment variables, as in PORT=4200 npm start`,
    );
  } else {
    endWithNpm();
    await ensureInstalled();
    await ensureBuilt();
    // GraphQL and others check more, and run slower, outside production.
    process.env.NODE_ENV ??= 'production';
    process.setSourceMapsEnabled(true);
    await import(new URL('../dist/main.js', import.meta.url).href);
  }
}
