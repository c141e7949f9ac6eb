// A page that each bundler builds for the browser alone: its settings, and the program that builds it.
import type { Project } from './project.ts';

/** The page's own script: an element with an object as a property, and a handler of its own. */
const MAIN = `
import '@psa/checkout/define';

const query = new URLSearchParams(location.search);
const element = document.createElement('psa-checkout');
element.textContent = 'Pagar R$ 49,90';
Object.assign(element, {
  endpoint: query.get('endpoint'),
  token: query.get('token'),
  methods: 'pix card',
  customer: { externalId: 'u-17' },
});
element.addEventListener('psa-paid', ({ detail }) => {
  const thanks = document.createElement('p');
  thanks.textContent = 'Obrigado! Pedido ' + (detail.payment.orderCode ?? detail.payment.paymentId);
  document.body.append(thanks);
});
document.body.append(element);
`;

const page = (script: string) =>
  `<!doctype html><html lang="pt-BR"><meta charset="utf-8"><title>Caneca</title><link rel="icon" href="data:,"><body>${script}</body></html>`;

/** A project whose build has these settings. */
function bundled(
  build: string,
  script = '<script type="module" src="main.js"></script>',
): Omit<Project, 'packages'> {
  return {
    files: { 'main.js': MAIN, 'out/index.html': page(script), 'build.mjs': build },
    build: [['build.mjs']],
    serve: { folder: 'out' },
  };
}

/** Webpack and Rspack take the same settings. */
const likeWebpack = (bundler: string) =>
  bundled(
    `
import { promisify } from 'node:util';
import bundler from '${bundler}';

const pack = bundler.rspack ?? bundler;
const stats = await promisify(pack)({
  mode: 'production',
  context: import.meta.dirname,
  entry: './main.js',
  output: { path: import.meta.dirname + '/out', filename: 'main.js', chunkFilename: '[name].[contenthash].js' },
});
const { errors, warnings } = stats.toJson();
if (errors.length + warnings.length > 0) throw new Error(JSON.stringify([errors, warnings]));
`,
    '<script src="main.js"></script>',
  );

export const BUNDLERS: Record<string, Project> = {
  esbuild: {
    packages: 'bundlers',
    ...bundled(`
import { build } from 'esbuild';
await build({ entryPoints: ['main.js'], outdir: 'out', bundle: true, splitting: true, format: 'esm', minify: true, logLevel: 'warning' });
`),
  },
  Rollup: {
    packages: 'bundlers',
    ...bundled(`
import resolve from '@rollup/plugin-node-resolve';
import { rollup } from 'rollup';

const onwarn = (warning) => {
  throw new Error(warning.message);
};
const bundle = await rollup({ input: 'main.js', plugins: [resolve({ browser: true })], onwarn });
await bundle.write({ dir: 'out', format: 'es' });
`),
  },
  Vite: {
    packages: 'bundlers',
    files: { 'main.js': MAIN, 'index.html': page('<script type="module" src="/main.js"></script>') },
    build: [['vite/bin/vite.js', 'build', '--outDir', 'out', '--logLevel', 'warn']],
    serve: { folder: 'out' },
  },
  webpack: { packages: 'bundlers', ...likeWebpack('webpack') },
  Rspack: { packages: 'bundlers', ...likeWebpack('@rspack/core') },
  Parcel: {
    packages: 'parcel',
    files: { 'main.js': MAIN, 'index.html': page('<script type="module" src="main.js"></script>') },
    build: [
      [
        'parcel/lib/bin.js',
        'build',
        'index.html',
        '--dist-dir',
        'out',
        '--no-cache',
        '--cache-dir',
        'cache',
        '--log-level',
        'warn',
      ],
    ],
    serve: { folder: 'out' },
    // Webpack keeps the promise of a failed import() for the life of the page.
    hasSecondTry: false,
  },
  Metro: {
    packages: 'metro',
    // A native application has one file without chunks, because it has no address to load a chunk from.
    ...bundled(
      `
import Metro from 'metro';

const peer = import.meta.dirname + '/../..';
const config = await Metro.loadConfig(
  { cwd: import.meta.dirname },
  // The workspace's packages are links into its folder.
  { watchFolders: [peer, peer + '/../node_modules'], resolver: { nodeModulesPaths: [peer + '/node_modules'] } },
);
await Metro.runBuild(config, { entry: 'main.js', out: 'out/main.js', platform: 'web', minify: true, dev: false });
`,
      '<script src="main.js"></script>',
    ),
    hasSecondTry: false,
  },
};
BUNDLERS.Metro!.files['babel.config.cjs'] = `module.exports = { presets: ['@react-native/babel-preset'] };`;
