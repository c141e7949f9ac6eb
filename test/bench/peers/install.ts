import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, run, since } from '../../../server/scripts/progress.mjs';
import { clearStamp, fingerprint, readStamp, writeStamp } from '../../../server/scripts/stamp.mjs';

/** Peers and load generators, each in a folder of its own with its lock file, and the package whose version names it. */
const PEERS = {
  angular: { called: 'Angular SSR', is: '@angular/ssr' },
  apollo: { called: 'Apollo Server', is: '@apollo/server' },
  astro: { called: 'Astro', is: 'astro' },
  bundlers: { called: 'esbuild, Rollup, Vite, webpack, Rspack', is: '@rspack/core' },
  federation: { called: 'Apollo Gateway', is: '@apollo/gateway' },
  generators: { called: 'the code generators, GraphQL Code Generator', is: '@graphql-codegen/cli' },
  'hive-gateway': { called: 'Hive Gateway', is: '@graphql-hive/gateway-runtime' },
  lighthouse: { called: 'Lighthouse', is: 'lighthouse' },
  metro: { called: 'Metro', is: 'metro' },
  mercurius: { called: 'Mercurius', is: 'mercurius' },
  next: { called: 'Next.js', is: 'next' },
  nuxt: { called: 'Nuxt', is: 'nuxt' },
  parcel: { called: 'Parcel', is: 'parcel' },
  stryker: { called: 'Stryker', is: '@stryker-mutator/core' },
  sveltekit: { called: 'SvelteKit', is: '@sveltejs/kit' },
  widgets: { called: 'the checkouts of others, Adyen', is: '@adyen/adyen-web' },
  yoga: { called: 'graphql-ws with Yoga', is: 'graphql-yoga' },
};

export type PeerName = keyof typeof PEERS;

/**
 * Installs a peer, exactly as its lock file has it, unless it is there. Its name with its version; null, and a line that
 * says so, where it cannot be had.
 */
export async function ensurePeer(name: PeerName): Promise<string | null> {
  const { called, is } = PEERS[name];
  const folder = `test/bench/peers/${name}`;
  const stamp = `installed-${name}`;
  const { dependencies } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
  const peer = `${called} ${dependencies[is]}`;
  const wanted = fingerprint([`${folder}/package-lock.json`], [process.versions.node]);
  if (readStamp(stamp) === wanted && existsSync(join(root, folder, 'node_modules'))) return peer;
  clearStamp(stamp);

  console.log(`Installing ${peer}, which nothing else needs …`);
  const started = performance.now();
  const { ok } = await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: join(root, folder),
  });
  if (!ok) {
    console.log(`✗ ${peer} could not be installed (see above): what is measured against it is left out`);
    return null;
  }
  writeStamp(stamp, wanted);
  console.log(`✓ ${peer} installed in ${since(started)}`);
  return peer;
}
