// The entry of the server's bundle. Each module is evaluated at its first use.

/** Runs the server as the environment configures it. */
export function serve(): Promise<unknown> {
  return import('./main.ts');
}

/** The modules from which the programs of the tests and of the benchmark assemble a server of their own. */
export const modules = {
  'access/service': () => import('../access/service.ts'),
  'access/model': () => import('../access/model.ts'),
  'access/store': () => import('../access/store.ts'),
  app: () => import('./app.ts'),
  'card-payments/routes': () => import('../money-in/card-payments/routes.ts'),
  'commit/committer': () => import('../state/commit/committer.ts'),
  config: () => import('./config/config.ts'),
  'db/migrate': () => import('../state/db/migrate.ts'),
  'db/open': () => import('../state/db/open.ts'),
  'db/pglite-files': () => import('../state/db/pglite-files.ts'),
  'http/openapi': () => import('../api/http/openapi.ts'),
  'kernel/clock': () => import('../kernel/clock.ts'),
  'ledger/postings': () => import('../state/ledger/postings.ts'),
  'modes/embedded': () => import('./modes/embedded.ts'),
  'ops/log': () => import('./ops/log.ts'),
  'wallet/routes': () => import('../money-out/wallet/routes.ts'),
  // A program must use the bundle's own copies of these packages.
  kysely: () => import('kysely'),
  pg: () => import('pg'),
};
