import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pnpm } from '../../../server/scripts/pnpm.mjs';
import { root, since } from '../../../server/scripts/progress.mjs';
import {
  clearStamp,
  fingerprint,
  readOrEmpty,
  readStamp,
  writeStamp,
} from '../../../server/scripts/stamp.mjs';

/** The workspace of the peers, which is not a part of the product's. */
const WORKSPACE = 'test/bench/peers';
/** The file that names the process that installs. */
const LOCK = join(root, 'node_modules/.psa/installing-a-peer');

/** Peers and load generators: each package of that workspace, and the package whose version is shown. */
const PEERS = {
  angular: { called: 'Angular SSR', is: '@angular/ssr' },
  apollo: { called: 'Apollo Server', is: '@apollo/server' },
  astro: { called: 'Astro', is: 'astro' },
  bundlers: { called: 'esbuild, Rollup, Vite, webpack, Rspack', is: '@rspack/core' },
  federation: { called: 'Apollo Gateway', is: '@apollo/gateway' },
  generators: { called: 'the code generators, GraphQL Code Generator', is: '@graphql-codegen/cli' },
  grafbase: { called: 'Grafbase', is: '@grafbase/cli-x86_64-unknown-linux-musl' },
  'hive-gateway': { called: 'Hive Gateway', is: '@graphql-hive/gateway-runtime' },
  lighthouse: { called: 'Lighthouse', is: 'lighthouse' },
  metro: { called: 'Metro', is: 'metro' },
  mercurius: { called: 'Mercurius', is: 'mercurius' },
  next: { called: 'Next.js', is: 'next' },
  nuxt: { called: 'Nuxt', is: 'nuxt' },
  openapi: { called: 'the generators from OpenAPI, openapi-typescript', is: 'openapi-typescript' },
  parcel: { called: 'Parcel', is: 'parcel' },
  'react-native': { called: 'React Native', is: 'react-native' },
  stryker: { called: 'Stryker', is: '@stryker-mutator/core' },
  sveltekit: { called: 'SvelteKit', is: '@sveltejs/kit' },
  widgets: { called: 'the checkouts of others, Adyen', is: '@adyen/adyen-web' },
  yoga: { called: 'graphql-ws with Yoga', is: 'graphql-yoga' },
};

export type PeerName = keyof typeof PEERS;

/**
 * Installs a peer from the lock file, unless it is installed. Returns its name with its version; null, and a
 * printed line, if it cannot be installed.
 */
export async function ensurePeer(name: PeerName): Promise<string | null> {
  const { called, is } = PEERS[name];
  const { dependencies } = JSON.parse(readFileSync(join(root, WORKSPACE, name, 'package.json'), 'utf8'));
  const peer = `${called} ${dependencies[is]}`;
  const lock = await takeLock();
  try {
    return (await isInstalled(name, peer)) ? peer : null;
  } finally {
    lock.release();
  }
}

async function isInstalled(name: PeerName, peer: string): Promise<boolean> {
  const stamp = `installed-${name}`;
  const wanted = fingerprint([`${WORKSPACE}/pnpm-lock.yaml`], [process.versions.node]);
  if (readStamp(stamp) === wanted && existsSync(join(root, WORKSPACE, name, 'node_modules'))) return true;
  clearStamp(stamp);

  console.log(`Installing ${peer}, which nothing else needs …`);
  const started = performance.now();
  const { ok } = await pnpm(
    ['install', '--frozen-lockfile', '--config.confirmModulesPurge=false', '--filter', `./${name}`],
    { cwd: join(root, WORKSPACE) },
  );
  if (!ok) {
    console.log(`✗ ${peer} could not be installed (see above): what is measured against it is left out`);
    return false;
  }
  writeStamp(stamp, wanted);
  console.log(`✓ ${peer} installed in ${since(started)}`);
  return true;
}

/** Waits while another process installs: all peers share one folder of packages. */
async function takeLock(): Promise<{ release(): void }> {
  mkdirSync(dirname(LOCK), { recursive: true });
  for (;;) {
    try {
      writeFileSync(LOCK, String(process.pid), { flag: 'wx' });
      return { release: () => rmSync(LOCK, { force: true }) };
    } catch {
      if (!isAlive(Number(readOrEmpty(LOCK).toString()))) rmSync(LOCK, { force: true });
      await wait(LOOK_MS);
    }
  }
}

const LOOK_MS = 100;

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
